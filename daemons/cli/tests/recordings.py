# SPDX-License-Identifier: Apache-2.0
"""Recordings of real JVMs for the tests of the command line, and what the JDK's reader says of them."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[3]
SUPPORT = TREE / "tests/support"
CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
INSTALL = "run deploy/dependencies/install test"


class Recordings:
    """Recordings made once, and what the JDK's own reader says of them."""

    def __init__(self, directory):
        self.directory = directory
        arch = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "unknown")
        self.profiler = CACHE / f"async-profiler/linux-{arch}/libasyncProfiler.so"
        self.javas = {release: CACHE / f"jdk/{release}/bin/java" for release in (11, 17, 21, 25)}

    def missing(self, *releases):
        """Returns a missing program that tests on those JDKs need, or None; the JDKs 17 and 21 are always needed."""
        if not shutil.which("javac"):
            return "javac"
        for path in (self.profiler, *(self.javas[release] for release in {17, 21, *releases})):
            if not path.exists():
                return str(path)
        return None

    def make(self, kind, release):
        # async-profiler looks once a second whether a chunk is full.
        seconds = "4" if kind == "async-chunks" else "1.5"
        out = self.directory / f"{kind}-{release}"
        command = [SUPPORT / "recordings/make.sh", out, kind, self.javas[release]]
        if kind.startswith("async"):
            command.append(self.profiler)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, HOTSTACK_RECORD_SECONDS=seconds))
        return out / "recording.jfr"

    def truth(self, recording):
        classes = self.directory / "truth"
        if not classes.exists():
            subprocess.run(["javac", "--release", "11", "-encoding", "UTF-8", "-d", classes,
                            SUPPORT / "jfr-truth/JfrTruth.java"], check=True)
        text = subprocess.run([self.javas[21], "-cp", classes, "JfrTruth", recording], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return {name: row for name, row in json.loads(text)["types"].items() if row["events"] > 0}


def run_tests(tests):
    """Runs the methods test_* of an object and prints TAP. A test that returns a text was skipped, and says why. Ends the
    program, with status 1 if one failed."""
    methods = [m for m in dir(tests) if m.startswith("test_")]
    print(f"1..{len(methods)}")
    failed = 0
    for number, method in enumerate(methods, 1):
        label = method.removeprefix("test_").replace("_", " ")
        try:
            skipped = getattr(tests, method)()
            print(f"ok {number} - {label}" + (f" # SKIP {skipped}" if skipped else ""), flush=True)
        except (AssertionError, KeyError, ValueError, TypeError, OSError, subprocess.CalledProcessError) as error:
            failed += 1
            print(f"not ok {number} - {label}\n# " + f"{type(error).__name__}: {error}"[:3000].replace("\n", "\n# "), flush=True)
    sys.exit(1 if failed else 0)
