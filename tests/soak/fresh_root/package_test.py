#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package that `pip install .` made, with no other package beside it: pages, pictures, formats, tables. Prints TAP.

usage: package_test.py OUT
  OUT  a folder for what the caller looks at: notebook.html
Run by pip.sh.
"""

import pathlib
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TREE / "bindings/python/tests"), str(TREE / "tests/support")]
import flamegraph_page  # noqa: E402
import tap  # noqa: E402

import hotstack

OUT = pathlib.Path(sys.argv[1])
EXAMPLE = TREE / "tests/data/jfr/async-profiler-4.5-jdk17.jfr.gz"


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        OUT.mkdir(exist_ok=True)
        cls.recording = hotstack.open(EXAMPLE)

    def test_it_is_the_installed_one(self):
        self.assertFalse(pathlib.Path(hotstack.__file__).is_relative_to(TREE))

    def test_a_flame_graph_is_saved_in_every_format(self):
        graph = self.recording.flamegraph("cpu", "alloc_bytes")
        for ending in ("html", "json", "collapsed"):
            graph.save(OUT / f"graph.{ending}")
            self.assertGreater((OUT / f"graph.{ending}").stat().st_size, 100)
        page = flamegraph_page.of_page((OUT / "graph.html").read_text(encoding="utf-8"))
        self.assertEqual([profile["type"] for profile in page["profiles"]], graph.types)

    def test_a_notebook_shows_all_of_it(self):
        shown = (self.recording.flamegraph("cpu"), self.recording.diff(self.recording, "cpu"), self.recording.samples(), self.recording.top())
        text = "".join(one._repr_html_() for one in shown)
        (OUT / "notebook.html").write_text(f"<!doctype html><h1>Notebook</h1>{text}", encoding="utf-8")
        self.recording.diff(self.recording).save(OUT / "diff.html")

    def test_tables_are_read_without_another_package(self):
        self.assertEqual(sum(self.recording.samples(["cpu"])["value"]), self.recording.totals()["cpu"].value)
        for name, row in self.recording.event_types().items():
            self.assertEqual(len(self.recording.events(name)), row.events, name)

    def test_profiling_names_the_program_that_is_missing(self):
        with self.assertRaisesRegex(hotstack.ProgramError, "install"):
            hotstack.profile(1, 1)


if __name__ == "__main__":
    tap.main(Package)
