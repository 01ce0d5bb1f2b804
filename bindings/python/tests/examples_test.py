#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/python over the recordings of the tree. Prints TAP.

Runs in the cache's venv of Python packages; the environment holds PYTHONPATH (the package that was built) and HOTSTACK_DATADIR.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap
from support import EXAMPLE, RECORDINGS, TREE

import hotstack

FOLDER = TREE / "examples/python"


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_example(self, name, *arguments, status=0):
        # Keeps matplotlib's list of fonts out of this user's home.
        environment = dict(os.environ, MPLCONFIGDIR=str(self.folder), PYTHONIOENCODING="utf-8")
        command = [sys.executable, str(FOLDER / name), *map(str, arguments)]
        done = subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_all_are_listed(self):
        listed = re.findall(r"\]\((\w+\.py)\)", (FOLDER / "README.md").read_text())
        self.assertEqual(sorted(listed), sorted(path.name for path in FOLDER.glob("*.py")))

    def test_top_allocators_of_a_folder(self):
        for path in (EXAMPLE, RECORDINGS[-1]):
            shutil.copy(path, self.folder)
        (self.folder / "torn.jfr").write_bytes(b"")  # the example skips it
        printed = self.run_example("top_allocators.py", self.folder)
        heaviest = hotstack.open(EXAMPLE).top("alloc_bytes", limit=1)[0]
        self.assertIn(heaviest.name, printed)
        (self.folder / "empty").mkdir()
        self.run_example("top_allocators.py", self.folder / "empty", status=2)

    def test_before_and_after_with_a_plot(self):
        before, after = [path for path in RECORDINGS if path.name.startswith("jdk")]
        plot, page = self.folder / "plot.png", self.folder / "page.html"
        printed = self.run_example("before_after.py", before, after, "--type", "alloc_bytes", "--plot", plot, "--page", page)
        greatest = hotstack.open(before).diff(hotstack.open(after), "alloc_bytes").changes(limit=1)[0]
        self.assertIn(greatest.name, printed.splitlines()[0])
        self.assertEqual(plot.read_bytes()[:4], b"\x89PNG")
        self.assertIn(b"<html", page.read_bytes()[:500])
        self.run_example("before_after.py", before, before, "--fail-on", "5", "--plot", plot)

    def test_lock_waits_joined_with_threads(self):
        printed = self.run_example("lock_waits.py", EXAMPLE, "--limit", "1000")
        total = hotstack.open(EXAMPLE).totals()["lock_delay"].value / 1e6
        header, *rows = [line.split() for line in printed.splitlines()]
        column = header.index("waited_ms") - len(header)
        self.assertAlmostEqual(sum(float(row[column]) for row in rows), total, delta=0.06 * len(rows))
        self.assertIn("monitor", printed)
        self.assertIn("cpu_ms", header)


if __name__ == "__main__":
    tap.main(Examples)
