#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack diff --fail-on as a gate: recordings of the same load pass it, a planted method with a tenth of all is named.

usage: diff_gate_test.py HOTSTACK TESTS LOAD PAIRS SECONDS
  HOTSTACK  the program
  TESTS     daemons/cli/tests, whose recordings.py says where the JDKs are
  LOAD      cpu: nine methods that compute, one recording after the other, the JDK's CPU samples
            alloc: nine that allocate now and then, all recordings at once, the JDK's allocation samples: cheap
  PAIRS     pairs of each kind
  SECONDS   in each recording: cpu of CPU time, alloc of wall time
Prints TAP. Skips, naming the command that helps, where javac or a JDK is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[2])
from recordings import INSTALL, Recordings, run_tests  # noqa: E402

LIMIT = "+5% self"
# The load's class, its profile type, how many recordings are made at the same time, and the JVM's options.
LOADS = {
    "cpu": ("GateLoad", "cpu", 1, []),
    "alloc": ("GateAllocations", "alloc_bytes", 8, ["-Xmx64m", "-XX:TLABSize=4k", "-XX:-ResizeTLAB", "-XX:MinTLABSize=2k"]),
}


class Tests:
    def __init__(self, program, load, pairs, seconds, directory, java):
        self.program, self.pairs, self.seconds, self.directory, self.java = program, pairs, seconds, directory, java
        self.load, self.type, self.at_once, self.options = LOADS[load]
        subprocess.run(["javac", "--release", "11", "-d", directory, pathlib.Path(__file__).with_name(f"{self.load}.java")], check=True)
        names = [f"plain{i}" for i in range(pairs + 1)] + [f"planted{i}" for i in range(pairs)]
        for at in range(0, len(names), self.at_once):
            self.record(names[at:at + self.at_once])

    def file(self, name):
        return self.directory / f"{name}.jfr"

    def record(self, names):
        running = [subprocess.Popen([self.java, *self.options, "-cp", self.directory, self.load, self.file(name), str(self.seconds),
                                     name.rstrip("0123456789")]) for name in names]
        codes = [one.wait() for one in running]
        assert codes == [0] * len(names), codes

    def failures(self, before, after):
        """The gate's exit status, the methods that it names, and whether all had an interval."""
        out = self.directory / "diff.json"
        done = subprocess.run([self.program, "diff", self.file(before), self.file(after), "-t", self.type, "--fail-on", LIMIT, "-o", out],
                              stderr=subprocess.PIPE)
        table = json.loads(out.read_text())["types"][0]
        assert all("interval" in row for row in table["changes"]), "too few windows"
        return done.returncode, [row["method"] for row in table["failures"]]

    def test_the_same_load_passes(self):
        for i in range(self.pairs):
            assert self.failures(f"plain{i}", f"plain{i + 1}") == (0, []), i

    def test_a_planted_method_is_named(self):
        for i in range(self.pairs):
            assert self.failures(f"plain{i}", f"planted{i}") == (4, ["planted"]), i


def main():
    program, load, pairs, seconds = pathlib.Path(sys.argv[1]).resolve(), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    with tempfile.TemporaryDirectory() as name:
        recordings = Recordings(pathlib.Path(name))
        if missing := recordings.missing():
            print(f"1..0 # SKIP {missing} is missing: {INSTALL}")
            return
        run_tests(Tests(program, load, pairs, seconds, pathlib.Path(name), recordings.javas[17]))


main()
