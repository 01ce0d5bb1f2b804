# SPDX-License-Identifier: Apache-2.0
"""Where things are: the tree, the cache, the installed program, the JDKs."""

import functools
import os
import pathlib
import shutil
import subprocess

from .measure import BenchError

TREE = pathlib.Path(__file__).resolve().parents[3]
HERE = TREE / "tests" / "bench"
CACHE = pathlib.Path(
    os.environ.get("HOTSTACK_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack"
)
BENCH_CACHE = CACHE / "bench"
BUILD = pathlib.Path(os.environ.get("HOTSTACK_BENCH_BUILD", TREE / "build-bench"))
STAGE = BUILD / "stage"
PROFILER = CACHE / "async-profiler" / f"linux-{'arm64' if os.uname().machine == 'aarch64' else 'x64'}" / "libasyncProfiler.so"
CONVERTER = CACHE / "async-profiler" / "jfr-converter.jar"
PEERS = BENCH_CACHE / "peers"


def java(release):
    program = CACHE / "jdk" / str(release) / "bin" / "java"
    if not program.exists():
        raise BenchError(f"JDK {release} is missing: deploy/dependencies/install bench")
    return program


@functools.cache
def installed_environment():
    """The environment in which the installed programs find the installed libraries."""
    libraries = sorted({str(file.parent) for file in STAGE.rglob("libjfr.so*")})
    return dict(os.environ, LD_LIBRARY_PATH=":".join(libraries), LC_ALL="C")


def installed(name):
    program = STAGE / "bin" / name
    if not program.exists():
        raise BenchError(f"{program} is missing: ./dev bench builds and installs it")
    return program


def compile_java(out, sources, *options):
    """Compiles into a folder that is there when all of it is."""
    work = out.with_suffix(".new")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    done = subprocess.run(
        ["javac", *options, "-d", str(work), *map(str, sources)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchError(f"javac: {done.stderr[-2000:]}")
    work.rename(out)
    return out
