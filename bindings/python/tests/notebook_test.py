#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flame graphs and comparisons inside a notebook's page, in Chromium. Prints TAP.

usage: notebook_test.py NODE BUILD.SH
  BUILD.SH  ui/build.sh, which knows where the npm packages are
The environment holds PYTHONPATH (the package that was built) and HOTSTACK_DATADIR.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tap
from support import EXAMPLE, INSTALL

import hotstack

CHROMIUM = pathlib.Path(os.environ.get("HOTSTACK_CHROMIUM") or "/usr/bin/chromium")


class Notebook(unittest.TestCase):
    def test_pages_work_inside_of_another_page(self):
        if not CHROMIUM.exists():
            self.skipTest(f"{CHROMIUM} is missing: {INSTALL}")
        recording = hotstack.open(EXAMPLE)
        graph = recording.flamegraph("cpu", "wall")
        outputs = [graph._repr_html_(), recording.diff(recording, "cpu")._repr_html_()]
        node, build = sys.argv[1:3]
        environment = dict(os.environ, NODE=node)
        packages = subprocess.run([build, "packages"], env=environment, capture_output=True, text=True, check=True).stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            notebook = pathlib.Path(folder) / "notebook.html"
            notebook.write_text(f"<!doctype html><h1>Notebook</h1>{''.join(outputs)}", encoding="utf-8")
            script = pathlib.Path(__file__).with_name("notebook.mjs")
            done = subprocess.run([node, script, packages, notebook, "burnCpu"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        shown = json.loads(done.stdout)
        self.assertEqual(shown["complaints"], [])
        self.assertEqual(shown["frames"][0]["nodes"], sum(1 for _ in graph.root.walk()))
        self.assertEqual([frame["matched"] for frame in shown["frames"]], ["70.0 % matched"] * 2)


if __name__ == "__main__":
    tap.main(Notebook)
