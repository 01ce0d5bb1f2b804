#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Totals, samples, top tables and comparisons against the command line. Prints TAP.

The environment holds PYTHONPATH (the package that was built), HOTSTACK_PROGRAM and HOTSTACK_DATADIR.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import tap
import written
from support import EXAMPLE, FIXTURE_FILES, HEADER, RECORDINGS, TREE, hotstack as program, sums, totals_of_program, unpacked

import hotstack
from written import START

sys.path.insert(0, str(TREE / "tests/support"))
import flamegraph_page  # noqa: E402


class Totals(unittest.TestCase):
    """C, the command line and Python say the same."""

    def test_totals_are_those_of_the_command_line(self):
        for path in RECORDINGS:
            with self.subTest(path.name):
                ours = {name: row._asdict() for name, row in hotstack.open(path).totals().items()}
                self.assertEqual(ours, totals_of_program(path))

    def test_loss_is_that_of_the_command_line(self):
        for path in FIXTURE_FILES:
            command = [os.environ["HOTSTACK_PROGRAM"], "jfr", "totals", path]
            status = subprocess.run(command, capture_output=True, check=False).returncode
            if status in (0, 3):
                with self.subTest(path.name):
                    self.assertEqual(hotstack.open(path).loss().is_whole, status == 0)

    def test_a_loss_is_warned_of_once_and_stays_in_the_repr(self):
        data = unpacked(EXAMPLE)
        for read in (
            lambda recording: recording.totals(),
            lambda recording: recording.samples(),
            lambda recording: recording.events("jdk.ExecutionSample"),
        ):
            cut = hotstack.open(data[: len(data) * 2 // 3])
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                read(cut)
                first = len(told)
                read(cut)
            self.assertGreater(first, 0)
            self.assertEqual(len(told), first)
            self.assertEqual({one.category for one in told}, {hotstack.LossWarning})
            self.assertIn("not whole", repr(cut))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            hotstack.open(data).totals()

    def test_a_type_that_was_lost_with_its_chunk_is_told_as_lost(self):
        kept = written.chunk({"test.Kept": [START]}, [("test.Kept", [1])])
        lost = bytearray(written.chunk({"test.Lost": [START]}, [("test.Lost", [1])]))
        at = lost.index(b"test.Lost") - 2
        lost[at] = 0x7F  # its metadata cannot be read
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            recording = hotstack.open(kept + bytes(lost))
            with self.assertRaisesRegex(hotstack.UsageError, "no event type 'test.Lost'.* 1 of its chunks could not be read: the type may"):
                recording.events("test.Lost")
            with self.assertRaisesRegex(hotstack.UsageError, "no samples of cpu: it has no samples at all. They may have been lost: 1 chunks"):
                recording.top("cpu")
        self.assertIn("1 chunks could not be read", str(told[0].message))
        with self.assertRaises(hotstack.UsageError) as caught:
            hotstack.open(kept).events("test.Lost")
        self.assertNotIn("could not be read", str(caught.exception))

    def test_events_that_are_lost_within_a_chunk_are_warned_of_when_they_are_read(self):
        chunks = [written.chunk({"test.Kept": [START]}, [("test.Kept", [1])] * count) for count in (1, 2, 9)]
        second = HEADER.size + len(chunks[1]) - len(chunks[0])
        broken = bytearray(chunks[2])
        broken[second : second + 4] = b"\xff\xff\xff\x7f"  # its size
        for read in (list, len, lambda table: table["startTime"], lambda table: table.head(100)):
            table = hotstack.open(broken).events("test.Kept")
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                read(table)
            self.assertIn("read only in part", "".join(str(one.message) for one in told))

    def test_samples_add_up_to_the_totals(self):
        for path in RECORDINGS:
            with self.subTest(path.name):
                recording = hotstack.open(path)
                rows = list(recording.samples(columns=["type", "value", "raw_value"]))
                totals = recording.totals()
                self.assertEqual(sums(rows), {name: row.value for name, row in totals.items()})
                counts = collections.Counter(row["type"] for row in rows)
                self.assertEqual(counts, {name: row.events for name, row in totals.items()})
                raw = collections.Counter()
                for row in rows:
                    raw[row["type"]] += row["raw_value"]
                self.assertEqual(raw, {name: row.raw_value for name, row in totals.items()})

    def test_distinct_stack_ids_of_samples_are_the_totals_stacks(self):
        for path in RECORDINGS[:4]:
            with self.subTest(path.name):
                recording = hotstack.open(path)
                ids = collections.defaultdict(set)
                for row in recording.samples(columns=["type", "stack_id"]):
                    ids[row["type"]].add(row["stack_id"])
                ours = {name: len(found) for name, found in ids.items()}
                self.assertEqual(ours, {name: row.stacks for name, row in recording.totals().items()})

    def test_several_inputs_add_up(self):
        first, second = RECORDINGS[0], RECORDINGS[1]
        both = hotstack.open(first, unpacked(second)).totals()
        parts = [hotstack.open(first).totals(), hotstack.open(second).totals()]
        for name in both:
            self.assertEqual(both[name].value, sum(part[name].value for part in parts if name in part))

    def test_shards_are_the_whole_byte_for_byte(self):
        data = unpacked(EXAMPLE)
        outputs = collections.defaultdict(set)
        with tempfile.TemporaryDirectory() as folder:
            for shards in (1, 2, 64):
                paths = [pathlib.Path(folder) / f"{shards}-{at}.jfr" for at in range(shards)]
                for path in paths:
                    path.write_bytes(data * (64 // shards))
                recording = hotstack.open(*paths)
                outputs["totals"].add(str(recording.totals()))
                for name in recording.totals():
                    ours = recording.flamegraph(name).to_collapsed()
                    outputs[name] |= {ours, program("convert", *paths, "-f", "collapsed", "-t", name, "-o", "-")}
                documents = (json.loads(recording.flamegraph().to_json()),
                             json.loads(program("convert", *paths, "-f", "json", "--max-nodes", "0", "-o", "-")))
                outputs["trees"] |= {json.dumps([document["strings"], document["profiles"]]) for document in documents}
        self.assertEqual({name: len(texts) for name, texts in outputs.items()}, dict.fromkeys(outputs, 1))
        self.assertEqual(outputs["totals"], {str(hotstack.open(data * 64).totals())})

    def test_bytes_and_paths_say_the_same(self):
        data = unpacked(EXAMPLE)
        for source in (data, bytearray(data), memoryview(data), EXAMPLE.read_bytes(), str(EXAMPLE)):
            self.assertEqual(hotstack.open(source).totals(), hotstack.open(EXAMPLE).totals())

    def test_top_is_that_of_the_command_line(self):
        for path in RECORDINGS[:4]:
            there = json.loads(program("convert", path, "-f", "top", "-o", "-"))["types"]
            recording = hotstack.open(path)
            for row in there:
                ours = [
                    {"class": top.class_name, "method": top.method, "kind": top.kind, "self": top.self, "total": top.total}
                    for top in recording.top(row["type"], limit=None)
                ]
                self.assertEqual(ours, row["rows"])
                self.assertEqual(recording.top(row["type"], limit=3), recording.top(row["type"], limit=None)[:3])

    def test_collapsed_stacks_and_json_are_those_of_the_command_line(self):
        for path in RECORDINGS[:4]:
            recording = hotstack.open(path)
            for name in recording.totals():
                there = program("convert", path, "-f", "collapsed", "-t", name, "--lines", "-o", "-")
                self.assertEqual(recording.flamegraph(name, lines=True).to_collapsed(), there)
            ours = json.loads(recording.flamegraph().to_json())
            there = json.loads(program("convert", path, "-f", "json", "--max-nodes", "0", "-o", "-"))
            self.assertEqual(ours["profiles"], there["profiles"])

    def test_diff_is_that_of_the_command_line(self):
        paths = [path for path in RECORDINGS if path.name.startswith("jdk")]
        before, after = (hotstack.open(path) for path in paths)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "diff.json"
            program("diff", *paths, "-o", out)
            there = json.loads(out.read_text())
        diff = before.diff(after)
        self.assertEqual(diff.types, [row["type"] for row in there["types"]])
        for row in there["types"]:
            for ours, theirs in zip(diff.changes(row["type"], limit=1000), row["changes"], strict=True):
                self.assertEqual((ours.class_name, ours.method), (theirs["class"], theirs["method"]))
                self.assertEqual((ours.before, ours.after), (theirs["before_self"], theirs["after_self"]))
                interval = theirs.get("interval", [None, None])
                self.assertEqual([ours.low, ours.high], [None if x is None else x / 1e9 for x in interval])


class LeftOut(unittest.TestCase):
    """Events that look like samples and are in no profile are named with their count wherever totals are."""

    STACK, THREAD = "jdk.types.StackTrace", "java.lang.Thread"
    STRUCTS = {STACK: [("truncated", "int")], THREAD: [("osName", "java.lang.String")]}

    def unread(self, data):
        """{event type: count}, as the command line and Python tell it everywhere."""
        with tempfile.TemporaryDirectory() as folder:
            path, page = (os.path.join(folder, name) for name in ("x.jfr", "x.html"))
            pathlib.Path(path).write_bytes(data)
            command = [os.environ["HOTSTACK_PROGRAM"], "jfr", "totals", path, "--json"]
            totals = subprocess.run(command, capture_output=True, text=True, check=True)
            told = json.loads(totals.stdout)["unread_events"]
            program("convert", path, "-o", page)
            metas = [flamegraph_page.of_page(pathlib.Path(page).read_text(encoding="utf-8"))["meta"]]
        recording = hotstack.open(data)
        with self.assertWarns(hotstack.LossWarning) as warned:
            metas.append(json.loads(recording.flamegraph().to_json())["meta"])
        with self.assertWarns(hotstack.LossWarning):
            hotstack.open(data).samples()
        self.assertEqual(recording.unread_events(), told)
        for name, count in told.items():
            note = f"{count} events of {name} have a stack as samples do"
            texts = [totals.stderr, "".join(str(one.message) for one in warned.warnings), "".join(json.loads(totals.stdout)["notes"])]
            for text in [*texts, *("".join(meta["notes"]) for meta in metas)]:
                self.assertIn(note, text)
        self.assertEqual([meta["unread_events"] for meta in metas], [told] * 2)
        return told

    def written(self, name, fields, values, count=3):
        """A recording with one sample that counts, and events of another type."""
        types = {**self.STRUCTS, "datadog.ObjectSample": [START, ("weight", "double"), ("size", "long")], name: [START, *fields]}
        return written.chunk(types, [("datadog.ObjectSample", [1, 1.0, 64])] + [(name, [1, *values])] * count)

    def test_whatever_their_fields_are_called_and_however_they_are_stored(self):
        stack, thread = ("stackTrace", self.STACK, True), ("eventThread", self.THREAD, True)
        for fields, values in (
            ([thread, stack], [0, 0]),
            ([("sampledThread", self.THREAD, True), stack], [0, 0]),
            ([("worker", self.THREAD, True), ("where", self.STACK, True)], [0, 0]),
            ([("eventThread", self.THREAD), stack], [[("java.lang.String", "a")], 0]),
            ([thread, ("stackTrace", self.STACK)], [0, [("int", 0)]]),
            ([stack, ("other", self.STACK, True), thread], [0, 0, 0]),
            ([stack], [0]),
        ):
            with self.subTest(fields):
                self.assertEqual(self.unread(self.written("acme.Odd", fields, values)), {"acme.Odd": 3})

    def test_of_the_jdks_own_those_called_samples(self):
        fields = [("eventThread", self.THREAD, True), ("stackTrace", self.STACK, True)]
        self.assertEqual(self.unread(self.written("jdk.StrangeSample", fields, [0, 0])), {"jdk.StrangeSample": 3})
        self.assertEqual(self.unread(self.written("jdk.StrangeSample", fields[1:], [0])), {"jdk.StrangeSample": 3})
        with warnings.catch_warnings(action="error"):
            self.assertEqual(hotstack.open(self.written("jdk.FileRead", fields, [0, 0])).unread_events(), {})

    def test_of_any_number_of_types(self):
        fields = [("eventThread", self.THREAD, True), ("stackTrace", self.STACK, True)]
        data = b"".join(self.written(f"acme.Odd{i}", fields, [0, 0], i + 1) for i in range(100))
        self.assertEqual(self.unread(data), {f"acme.Odd{i}": i + 1 for i in range(100)})
        names = [f"acme.Odd{i}" for i in range(100)]
        types = {**self.STRUCTS, **{name: [START, *fields] for name in names}}
        with warnings.catch_warnings(action="ignore"):
            told = hotstack.open(written.chunk(types, [(name, [1, 0, 0]) for name in names])).unread_events()
        self.assertEqual(told, dict.fromkeys(names, 1))

    def told_everywhere(self, note, data):
        """The types that count, where the command line, the page and Python all say the note."""
        with tempfile.TemporaryDirectory() as folder:
            path, page = (os.path.join(folder, name) for name in ("x.jfr", "x.html"))
            pathlib.Path(path).write_bytes(data)
            command = [os.environ["HOTSTACK_PROGRAM"], "jfr", "totals", path]
            self.assertIn(f"note: {note}\n", subprocess.run(command, capture_output=True, text=True, check=True).stderr)
            made = subprocess.run([command[0], "convert", path, "-o", page], capture_output=True, text=True)
            if made.returncode == 0:
                self.assertIn(note, flamegraph_page.of_page(pathlib.Path(page).read_text(encoding="utf-8"))["meta"]["notes"])
        with self.assertWarnsRegex(hotstack.LossWarning, note):
            return list(hotstack.open(data).totals())

    def test_samples_without_an_interval_are_told(self):
        data = written.chunk({"jdk.ExecutionSample": [START, ("state", "long")]}, [("jdk.ExecutionSample", [1, 1])] * 3)
        why = "the setting that tells their interval is not in the recording"
        self.assertEqual(self.told_everywhere(f"3 events of jdk.ExecutionSample were left out: {why}", data), [])

    def test_samples_left_out_by_design_are_told_without_a_warning(self):
        long = [START, ("weight", "long")]
        types = {
            "jdk.ObjectAllocationInNewTLAB": [START, ("tlabSize", "long")],
            "jdk.ObjectAllocationSample": long,
            "jdk.NativeMethodSample": long,
            "jdk.ThreadPark": [START, ("duration", "long")],
            "jdk.JavaMonitorWait": [START, ("duration", "long")],
        }
        times = dict(zip(types, range(1, 6)))
        data = written.chunk(types, [(name, [1, 64]) for name, count in times.items() for _ in range(count)])
        sentences = [
            "2 jdk.ObjectAllocationSample (a better event counts the same)",
            "5 jdk.JavaMonitorWait (idle waits)",
            "4 jdk.ThreadPark (idle waits)",
            "3 jdk.NativeMethodSample (in native code, mostly waiting)",
        ]
        with tempfile.TemporaryDirectory() as folder:
            path, page = (os.path.join(folder, name) for name in ("x.jfr", "x.html"))
            pathlib.Path(path).write_bytes(data)
            command = [os.environ["HOTSTACK_PROGRAM"], "jfr", "totals", path]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
            self.assertEqual(text, f"hotstack jfr totals: note: not counted by design: {', '.join(sentences)}\n")
            answer = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
            program("convert", path, "-o", page)
            meta = flamegraph_page.of_page(pathlib.Path(page).read_text(encoding="utf-8"))["meta"]
        with warnings.catch_warnings(action="error"):
            recording = hotstack.open(data)
            self.assertEqual(list(recording.totals()), ["alloc_bytes", "alloc_objects"])
            ours = json.loads(recording.flamegraph().to_json())["meta"]
            self.assertEqual(recording.not_counted(), sentences)
        for told in (answer, meta, ours):
            self.assertEqual((told["notes"], told["not_counted"]), ([], sentences))


if __name__ == "__main__":
    tap.main(Totals, LeftOut)
