#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages and the files that flame graphs are saved into. Prints TAP.

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
from support import EXAMPLE, TREE, unpacked

import hotstack

sys.path.insert(0, str(TREE / "tests/support"))
import flamegraph_page  # noqa: E402


class Pages(unittest.TestCase):
    def test_pages_hold_the_template_and_the_document(self):
        recording = hotstack.open(EXAMPLE)
        graph = recording.flamegraph("cpu")
        page = graph.to_html()
        self.assertIn("burnCpu", flamegraph_page.of_page(page.decode())["strings"])
        self.assertEqual(flamegraph_page.of_page(page.decode()), flamegraph_page.read(graph.to_json()))
        self.assertNotIn(b"/*HOTSTACK_DATA*/", page)
        self.assertTrue(graph._repr_html_().startswith("<iframe "))
        self.assertNotIn("<script", graph._repr_html_())
        diff = recording.diff(recording, "cpu")
        self.assertIn("before", flamegraph_page.of_page(diff.to_html().decode())["profiles"][0]["nodes"])
        self.assertTrue(diff._repr_html_().startswith("<iframe "))

    def test_the_page_of_a_diff_tells_what_is_missing_of_each_side(self):
        whole, cut = hotstack.open(EXAMPLE), hotstack.open(unpacked(EXAMPLE)[:-1000])
        with self.assertWarns(hotstack.LossWarning):
            page = cut.diff(whole, "cpu").to_html()
        notes = flamegraph_page.of_page(page.decode())["meta"]["notes"]
        self.assertTrue(notes)
        self.assertEqual([note for note in notes if not note.startswith("before: ")], [])

    def test_files_are_written_by_their_ending(self):
        graph = hotstack.open(EXAMPLE).flamegraph("cpu")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            graph.save(folder / "a.html")
            graph.save(folder / "a.json")
            graph.save(str(folder / "a.collapsed"))
            self.assertEqual((folder / "a.html").read_bytes(), graph.to_html())
            self.assertEqual((folder / "a.collapsed").read_text(), graph.to_collapsed())
            self.assertEqual(json.loads((folder / "a.json").read_bytes())["version"], 2)
            with self.assertRaisesRegex(hotstack.UsageError, "ends with"):
                graph.save(folder / "a.png")

    def test_a_missing_template_is_named(self):
        code = (
            "import hotstack\n"
            f"graph = hotstack.open({str(EXAMPLE)!r}).flamegraph('cpu')\n"
            "try: graph.to_html()\n"
            "except hotstack.UsageError as error: print(error)\n"
        )
        with tempfile.TemporaryDirectory() as empty:
            environment = dict(os.environ, HOTSTACK_DATADIR=empty)
            done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        self.assertIn("flamegraph.html is in none of", done.stdout)
        self.assertIn("pip install .", done.stdout)


if __name__ == "__main__":
    tap.main(Pages)
