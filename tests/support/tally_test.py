# SPDX-License-Identifier: Apache-2.0
"""Tests the summary at the end of ./dev test: counts, failures, skips."""

import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tally


def entry(name, result="OK", stdout=""):
    return {"name": f"suite - hotstack:{name}", "result": result, "stdout": stdout}


class Tally(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.results = pathlib.Path(directory.name)
        self.allowed = self.results / "allowed.txt"

    def lane(self, name, *entries, status="0"):
        (self.results / f"{name}.json").write_text("".join(json.dumps(e) + "\n" for e in entries))
        (self.results / f"{name}.status").write_text(status)
        (self.results / f"{name}.seconds").write_text("7\n")

    def run_tally(self, *lanes, ci=""):
        """Returns the exit status and the last line."""
        status, lines = self.report(*lanes, ci=ci)
        return status, lines[-1]

    def report(self, *lanes, ci=""):
        """Returns the exit status and all lines."""
        out = io.StringIO()
        arguments = ["tally.py", "--allowed-skips", str(self.allowed), str(self.results), *lanes]
        with mock.patch.object(sys, "argv", arguments), mock.patch.dict(os.environ, CI=ci), redirect_stdout(out):
            status = tally.main()
        return status, out.getvalue().splitlines()

    def test_counts_points_of_tap_and_plain_tests(self):
        self.lane("unit", entry("a", stdout="1..2\nok 1 - x\nok 2 - y\n"), entry("b", stdout="fine"))
        self.assertEqual(self.run_tally("unit"), (0, "3 passed, 0 failed"))

    def test_counts_the_tests_of_vitest(self):
        output = "\x1b[2m      Tests \x1b[22m 1 failed | \x1b[32m12 passed\x1b[39m | 2 skipped (15)\n"
        self.lane("ui", entry("a", "FAIL", output), status="1")
        self.assertEqual(self.run_tally("ui"), (1, "12 passed, 1 failed, 2 skipped"))

    def test_adds_lanes(self):
        self.lane("one", entry("a"))
        self.lane("two", entry("a"), entry("b", "FAIL"), status="1")
        self.assertEqual(self.run_tally("one", "two"), (1, "2 passed, 1 failed"))

    def test_failed_point(self):
        self.lane("unit", entry("a", "FAIL", "1..2\nok 1 - x\nnot ok 2 - y\n"), status="1")
        self.assertEqual(self.run_tally("unit"), (1, "1 passed, 1 failed"))
        self.assertIn("    unit/a: 2 - y", self.report("unit")[1])

    def test_a_failed_point_says_why(self):
        noise = "".join(f"ok {n} - x\n# noise {n}\n" for n in range(1, 90))
        self.lane("unit", entry("a", "FAIL", f"1..90\n{noise}not ok 90 - y\n# 3 is not 4\n"), status="1")
        lines = self.report("unit")[1]
        said = lines[lines.index("  what failed said:") : lines.index("  failed:")]
        self.assertIn("      not ok 90 - y", said)
        self.assertIn("      # 3 is not 4", said)
        self.assertFalse(any("noise" in line for line in said))

    def test_a_crash_says_its_last_words(self):
        crash = entry("a", "ERROR", "".join(f"line {n}\n" for n in range(99))) | {"stderr": "ASan: bad\n"}
        self.lane("unit", crash, status="1")
        lines = self.report("unit")[1]
        self.assertIn("      line 98", lines)
        self.assertNotIn("      line 1", lines)
        self.assertIn("      ASan: bad", lines)

    def test_a_lane_says_how_long_it_took(self):
        self.lane("unit", entry("a"))
        self.assertTrue(any(line.split() == ["unit", "1", "0", "0", "7"] for line in self.report("unit")[1]))

    def test_crash_after_good_points(self):
        self.lane("unit", entry("a", "ERROR", "1..2\nok 1 - x\nok 2 - y\n"), status="1")
        self.assertEqual(self.run_tally("unit"), (1, "2 passed, 1 failed"))

    def test_timeout(self):
        self.lane("unit", entry("a", "TIMEOUT"), status="1")
        self.assertEqual(self.run_tally("unit"), (1, "0 passed, 1 failed"))

    def test_runner_failed_though_no_test_did(self):
        self.lane("unit", entry("a"), status="2")
        self.assertEqual(self.run_tally("unit"), (1, "1 passed, 1 failed"))

    def test_lane_without_tests(self):
        self.lane("unit")
        self.assertEqual(self.run_tally("unit"), (1, "0 passed, 1 failed"))

    def test_lane_that_did_not_build(self):
        (self.results / "unit.error").write_text("the build failed")
        self.assertEqual(self.run_tally("unit"), (1, "0 passed, 1 failed"))

    def test_skips_are_counted_and_forgiven_outside_ci(self):
        self.lane("unit", entry("a", "SKIP", "no JVM"), entry("b", stdout="1..2\nok 1 - x # SKIP no\nok 2 - y\n"))
        self.assertEqual(self.run_tally("unit"), (0, "1 passed, 0 failed, 2 skipped"))

    def test_skips_fail_in_ci(self):
        self.lane("unit", entry("a", "SKIP", "no JVM"), entry("b"))
        self.assertEqual(self.run_tally("unit", ci="true"), (1, "1 passed, 1 failed"))

    def test_allowed_skips_pass_in_ci(self):
        self.allowed.write_text("unit/a  # only where a JVM is\n")
        self.lane("unit", entry("a", "SKIP", "no JVM"), entry("b"))
        self.assertEqual(self.run_tally("unit", ci="true"), (0, "1 passed, 0 failed, 1 skipped"))

    def test_last_line_stands_alone(self):
        self.lane("unit", entry("a"))
        self.assertTrue(re.fullmatch(r"\d+ passed, \d+ failed(, \d+ skipped)?", self.run_tally("unit")[1]))


if __name__ == "__main__":
    unittest.main()
