#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables, rows and recordings as Python's own containers. Prints TAP.

The environment holds PYTHONPATH (the package that was built).
"""

import collections
import datetime
import gc
import json
import os
import pickle
import tempfile
import unittest
import warnings

import tap
import written
from support import EXAMPLE, FIXTURE_FILES, RECORDINGS, sums, unpacked

import hotstack
from written import START


class Tables(unittest.TestCase):
    """A table behaves as one; a recording as something that is open."""

    def setUp(self):
        self.recording = hotstack.open(EXAMPLE)

    def test_length_columns_and_head(self):
        for table in (self.recording.samples(), self.recording.samples(["cpu"]), self.recording.events("JavaMonitorEnter")):
            rows = list(table)
            self.assertEqual(len(table), len(rows))
            self.assertTrue(table)
            for name in table.columns:
                self.assertEqual(table[name], [row[name] for row in rows])
            self.assertEqual(list(table.head(3)), rows[:3])
            some = list(table.columns)[1::-1]
            self.assertEqual(list(table[some]), [{name: row[name] for name in some} for row in rows])
            self.assertEqual((list(table.schema), list(table.dtypes)), (list(table.columns),) * 2)
        with self.assertRaisesRegex(KeyError, "lead: the table has time, type"):
            self.recording.samples()["lead"]
        self.assertFalse(self.recording.samples(["cpu"], end="2000-01-01T00:00:00Z"))

    def test_head_reads_no_more_than_it_needs(self):
        done = []
        recording = hotstack.open(*[unpacked(EXAMPLE) * 200] * 2, progress=lambda now, total: done.append((now, total)))
        self.assertEqual(len(recording.samples().head(2)), 2)
        self.assertTrue(all(now < total for now, total in done))

    def test_rows_print_as_tables(self):
        top = self.recording.top("cpu", limit=1)
        self.assertEqual(repr(top).splitlines()[:2], ["name              kind    self   total", "Workload.burnCpu  java  700 ms  700 ms"])
        self.assertIn("<td>700 ms</td>", top._repr_html_())
        for rows in (self.recording.top("cpu", limit=20), self.recording.threads("cpu")):
            self.assertEqual(len(repr(rows).splitlines()), 1 + len(rows))
        timeline = self.recording.timeline(bucket=0.001)
        self.assertIn(f"... {len(timeline) - 30} more", repr(timeline))
        for rows in (timeline, self.recording.chunks(), self.recording.settings(), self.recording.diff(self.recording).changes()):
            self.assertIn("<th>", rows._repr_html_())
        table = self.recording.events("jdk.ActiveSetting")
        shown = table._repr_html_()
        self.assertEqual(shown.count("<tr>"), 11)
        self.assertIn("<th>startTime</th>", shown)

    def test_hostile_names_show_as_text(self):
        data = written.chunk({"test.X": [START, ("<b>", "java.lang.String")]}, [("test.X", [1, "<script>\n\x1b[2J"])])
        table = hotstack.open(data).events("test.X")
        self.assertIn("&lt;script&gt;??[2J", table._repr_html_())
        self.assertNotIn("<b>", table._repr_html_())
        self.assertNotIn("\x1b", repr(table.head()))

    def test_start_end_and_duration(self):
        chunk = self.recording.chunks()[0]
        moment = lambda ns: datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=ns // 1000)
        self.assertEqual(self.recording.start, moment(chunk.start_ns))
        self.assertEqual(self.recording.end, moment(chunk.start_ns + chunk.duration_ns))
        self.assertEqual(self.recording.duration, self.recording.end - self.recording.start)
        live = hotstack.open(next(path for path in FIXTURE_FILES if path.name == "open-middle.jfr"))
        with warnings.catch_warnings(action="ignore"):
            self.assertGreater(live.end, live.start)

    def test_a_with_closes(self):
        data = bytearray(unpacked(EXAMPLE))
        with hotstack.open(data) as recording:
            totals = recording.totals()
            table = recording.samples()
            graph = recording.flamegraph("cpu")
        self.assertIn("closed", repr(recording))
        for read in (recording.totals, recording.samples, recording.info, lambda: recording.start):
            with self.assertRaisesRegex(hotstack.UsageError, "closed: open it again"):
                read()
        self.assertEqual(sums(table), {name: row.value for name, row in totals.items()})
        self.assertIn("burnCpu", graph.to_collapsed())
        self.assertEqual(json.loads(graph.to_json())["meta"]["notes"], [])
        del table, graph
        gc.collect()
        data.clear()

    def test_a_recording_is_pickled_by_its_path(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(EXAMPLE, os.path.join(folder, "x.jfr.gz"))
            before = os.getcwd()
            os.chdir(folder)
            try:
                pickled = pickle.dumps(hotstack.open("x.jfr.gz"))
            finally:
                os.chdir(before)
            self.assertLess(len(pickled), 1000)
            self.assertEqual(pickle.loads(pickled).totals(), self.recording.totals())
        with self.assertRaisesRegex(TypeError, "not opened by path"):
            pickle.dumps(hotstack.open(unpacked(EXAMPLE)))

    def test_rows_of_several_recordings_name_theirs(self):
        other = RECORDINGS[1]
        both = hotstack.open(EXAMPLE, other, unpacked(EXAMPLE))
        alone = [hotstack.open(path) for path in (EXAMPLE, other, EXAMPLE)]
        names = [str(EXAMPLE), str(other), "memory 2"]
        wanted = {name: len(one.samples()) for name, one in zip(names, alone, strict=True)}
        self.assertEqual(dict(collections.Counter(both.samples()["input"])), wanted)
        wanted = {name: len(one.events("ActiveSetting")) for name, one in zip(names, alone, strict=True)}
        self.assertEqual(dict(collections.Counter(both.events("ActiveSetting")["input"])), wanted)
        self.assertNotIn("input", alone[0].samples().columns)
        self.assertNotIn("input", both.events("ActiveSetting", ["name"]).columns)
        self.assertEqual(set(alone[0].events("ActiveSetting", ["name", "input"])["input"]), {str(EXAMPLE)})
        own = written.chunk({"test.Own": [START, ("input", "int")]}, [("test.Own", [1, 7])])
        self.assertEqual(hotstack.open(own, own).events("test.Own")["input"], [7, 7])


if __name__ == "__main__":
    tap.main(Tables)
