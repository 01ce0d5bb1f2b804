#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack diff --fail-on as a gate: recordings of the same load pass it, a planted method of a tenth of the CPU is named.

usage: diff_gate_test.py HOTSTACK TESTS PAIRS [SECONDS]
  HOTSTACK  the program
  TESTS     daemons/cli/tests, whose recordings.py says where the JDKs are
  PAIRS     pairs of each kind
  SECONDS   of CPU time in each recording (20)
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


class Tests:
    def __init__(self, program, pairs, seconds, directory, java):
        self.program, self.pairs, self.seconds, self.directory, self.java = program, pairs, seconds, directory, java
        subprocess.run(["javac", "--release", "11", "-d", directory, pathlib.Path(__file__).with_name("GateLoad.java")], check=True)
        self.plain = [self.record(f"plain{i}", "plain") for i in range(pairs + 1)]

    def record(self, name, kind):
        out = self.directory / f"{name}.jfr"
        subprocess.run([self.java, "-cp", self.directory, "GateLoad", out, str(self.seconds), kind], check=True)
        return out

    def failures(self, before, after):
        """Methods that the gate names, and its exit status."""
        out = self.directory / "diff.json"
        done = subprocess.run([self.program, "diff", before, after, "-t", "cpu", "--fail-on", LIMIT, "-o", out])
        return done.returncode, [row["method"] for row in json.loads(out.read_text())["types"][0]["failures"]]

    def test_the_same_load_passes(self):
        for before, after in zip(self.plain, self.plain[1:]):
            assert self.failures(before, after) == (0, []), before.name

    def test_a_planted_method_is_named(self):
        for i in range(self.pairs):
            assert self.failures(self.plain[i], self.record(f"planted{i}", "planted")) == (4, ["planted"]), i


def main():
    program, pairs = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[3])
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    with tempfile.TemporaryDirectory() as name:
        recordings = Recordings(pathlib.Path(name))
        if missing := recordings.missing():
            print(f"1..0 # SKIP {missing} is missing: {INSTALL}")
            return
        run_tests(Tests(program, pairs, seconds, pathlib.Path(name), recordings.javas[17]))


main()
