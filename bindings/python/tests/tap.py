# SPDX-License-Identifier: Apache-2.0
"""Runs unittest cases and prints TAP."""

import sys
import unittest


class TapResult(unittest.TestResult):
    """Prints each test's outcome as it is known."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def point(self, test, good, text="", directive=""):
        self.count += 1
        name = test.id().rpartition(".")[2].removeprefix("test_").replace("_", " ")
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{directive}", flush=True)
        for line in text[-4000:].splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        self.point(test, True)

    def addSkip(self, test, reason):
        self.point(test, True, directive=f" # SKIP {reason}")

    def addError(self, test, error):
        super().addError(test, error)
        self.point(test, False, self.errors[-1][1])

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.point(test, False, self.failures[-1][1])

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.point(subtest, False, self._exc_info_to_string(error, test))


def main(*cases, extra=()):
    """Runs the cases' tests, and what `extra` holds, and ends the program."""
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite([*(loader.loadTestsFromTestCase(case) for case in cases), *extra])
    print(f"1..{suite.countTestCases()}", flush=True)
    result = TapResult()
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
