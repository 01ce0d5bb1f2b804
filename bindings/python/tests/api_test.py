#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package against the command line and against naive references. Prints TAP.

The environment holds PYTHONPATH (the package that was built), HOTSTACK_PROGRAM and HOTSTACK_DATADIR.
"""

import collections
import datetime
import gc
import gzip
import json
import os
import pathlib
import pickle
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
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


class Events(unittest.TestCase):
    def test_counts_are_those_of_the_command_line(self):
        for path in RECORDINGS[:3]:
            recording = hotstack.open(path)
            there = {row["name"]: row["count"] for row in json.loads(program("jfr", "summary", path, "--json"))["events"]}
            ours = {name: row.events for name, row in recording.event_types().items()}
            self.assertEqual(ours, {name: there[name] for name in ours})
            for name, count in ours.items():
                if count:
                    self.assertEqual(sum(len(batch) for batch in recording.events(name).batches()), count, name)

    def test_units_are_those_of_the_values(self):
        path = next(path for path in RECORDINGS if path.name.startswith("jdk25"))
        units = {field.name: field.unit for field in hotstack.open(path).event_types()["jdk.ThreadPark"].fields}
        self.assertEqual([units[name] for name in ("startTime", "duration", "timeout", "parkedClass")], ["NANOSECONDS"] * 3 + [None])

    def test_values_are_those_of_jfr_print(self):
        path = next(path for path in RECORDINGS if path.name.startswith("jdk25"))
        printed = json.loads(program("jfr", "print", "--json", "--stack-depth", "1000", "--events", "jdk.ThreadPark", path))
        there = [event["values"] for event in printed["recording"]["events"]]
        ours = list(hotstack.open(path).events("jdk.ThreadPark"))
        key = lambda row: (row["startTime"], row["eventThread.javaThreadId"])
        self.assertEqual(len(ours), len(there))
        self.assertGreater(len(ours), 0)
        for mine, theirs in zip(sorted(ours, key=key), sorted(there, key=lambda v: (v["startTime"], v["eventThread"]["javaThreadId"]))):
            start = datetime.datetime.fromtimestamp(mine["startTime"] // 1000 / 1e6, datetime.UTC)
            self.assertEqual(start.strftime("%H:%M:%S"), datetime.datetime.fromisoformat(theirs["startTime"][:19] + "+00:00").strftime("%H:%M:%S"))
            self.assertEqual(mine["eventThread"], theirs["eventThread"]["javaName"])
            self.assertEqual(mine["eventThread.osThreadId"], theirs["eventThread"]["osThreadId"])
            self.assertEqual(mine["parkedClass"], theirs["parkedClass"]["name"].replace("/", ".") if theirs["parkedClass"] else None)
            frames = [
                f"{frame['method']['type']['name'].replace('/', '.')}.{frame['method']['name']}"
                for frame in theirs["stackTrace"]["frames"]
            ]
            self.assertEqual(mine["stackTrace"], ";".join(reversed(frames)))

    def test_columns_are_chosen_by_path(self):
        recording = hotstack.open(EXAMPLE)
        table = recording.events("JavaMonitorEnter", ["eventThread.javaName", "duration", "monitorClass.name"])
        self.assertEqual(list(table.columns), ["eventThread.javaName", "duration", "monitorClass.name"])
        row = next(iter(table))
        self.assertIsInstance(row["duration"], int)
        whole = next(iter(recording.events("JavaMonitorEnter")))
        self.assertEqual(row["eventThread.javaName"], whole["eventThread"])

    def test_structs_and_arrays_show_as_json(self):
        path = next(path for path in RECORDINGS if path.name.startswith("jdk25"))
        columns = ["stackTrace.frames", "eventThread.group", "eventThread.group.name"]
        row = next(iter(hotstack.open(path).events("JavaMonitorEnter", columns)))
        frames = json.loads(row["stackTrace.frames"])
        self.assertGreater(len(frames), 1)
        self.assertIn("method", frames[0])
        self.assertEqual(json.loads(row["eventThread.group"])["name"], row["eventThread.group.name"])

    def test_time_bounds_leave_out_the_rest(self):
        recording = hotstack.open(EXAMPLE)
        times = sorted(row["time"] for row in recording.samples(["wall"], ["time"]))
        middle = times[len(times) // 2]
        early = list(recording.samples(["wall"], ["time"], end=middle))
        late = list(recording.samples(["wall"], ["time"], start=middle))
        self.assertEqual(sorted(row["time"] for row in early + late), times)
        self.assertTrue(all(row["time"] >= middle for row in late) and early and late)
        events = list(recording.events("WallClockSample", ["startTime"], start=middle))
        self.assertEqual(len(events), len(late))
        self.assertEqual(list(recording.events("WallClockSample", end=datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC))), [])
        self.assertEqual(list(recording.events("WallClockSample", end="2000-01-01T01:00:00+01:00")), [])

    def test_a_time_is_told_in_any_of_its_forms(self):
        recording = hotstack.open(EXAMPLE)
        second = (recording.chunks()[0].start_ns // 10**9 + 1) * 10**9

        class Index:
            def __index__(self):
                return second

        moment = datetime.datetime.fromtimestamp(second // 10**9, datetime.UTC)
        forms = (second, float(second // 10**9), moment, moment.isoformat(), moment.strftime("%Y-%m-%dT%H:%M:%SZ"), Index())
        sums = [recording.select(start=form).totals()["wall"].value for form in forms]
        self.assertEqual(sums, sums[:1] * len(forms))
        self.assertTrue(0 < sums[0] < recording.totals()["wall"].value)


class Packed(unittest.TestCase):
    """A packed recording is unpacked when it is opened, and not again."""

    def all_of(self, recording):
        return [list(recording.events(name)) for name in recording.event_types()] + [recording.totals(), list(recording.samples())]

    def test_it_is_unpacked_once(self):
        there = self.all_of(hotstack.open(EXAMPLE))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.jfr.gz"
            path.write_bytes(EXAMPLE.read_bytes())
            recording = hotstack.open(path)
            path.unlink()
            self.assertEqual(self.all_of(recording), there)
        data = bytearray(EXAMPLE.read_bytes())
        recording = hotstack.open(data)
        data[:] = bytes(len(data))
        self.assertEqual(self.all_of(recording), there)

    def test_what_is_kept_has_a_bound(self):
        data = EXAMPLE.read_bytes()
        size = len(unpacked(EXAMPLE))
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("a", "b")]
            for path in paths:
                pathlib.Path(path).write_bytes(data)
            inputs = hotstack._native.Inputs(paths, keep_bytes=size * 2 - 1)
            inputs.check()
            both = inputs.census(True)
            self.assertEqual(len(both["chunks"]), 2)
            os.unlink(paths[0])
            self.assertEqual(inputs.census(True), both)
            os.unlink(paths[1])  # was too much: it is unpacked for each reading
            with self.assertRaises(hotstack.IoError):
                inputs.census(True)

    def test_members_damage_and_cuts(self):
        whole = unpacked(EXAMPLE)
        members = gzip.compress(whole[:20000]) + gzip.compress(whole[20000:])
        self.assertEqual(hotstack.open(members).totals(), hotstack.open(whole).totals())
        for packed in (members[:-30], members + b"more", gzip.compress(whole)[:-4]):
            with warnings.catch_warnings(action="ignore"):
                self.assertIn("damaged gzip", [row.reason for row in hotstack.open(packed).loss().stretches])


class AnyType(unittest.TestCase):
    """Every event type of every readable recording is a table by default."""

    def test_every_type_of_every_recording(self):
        for path in RECORDINGS + FIXTURE_FILES:
            try:
                recording = hotstack.open(path)
                types = recording.event_types()
            except hotstack.HotstackError:
                continue
            with warnings.catch_warnings(action="ignore"):
                for name, row in types.items():
                    rows = sum(len(batch) for batch in recording.events(name).batches())
                    self.assertEqual(rows, row.events, f"{path.name}: {name}")

    def test_names_with_dots(self):
        fields = [START, ("cpu.user", "long"), ("cpu", "test.Cpu"), ("size", "int")]
        types = {"test.Cpu": [("user", "int"), ("user.name", "java.lang.String")], "test.Dots": fields}
        cpu = [("int", 5), ("java.lang.String", "root")]
        table = hotstack.open(written.chunk(types, [("test.Dots", [7, 3, cpu, 9])])).events("test.Dots")
        # Of `cpu` all is hidden that begins with the longer name.
        self.assertEqual(table.columns, {"startTime": "int64", "cpu.user": "int64", "size": "int64"})
        self.assertEqual(list(table), [{"startTime": 7, "cpu.user": 3, "size": 9}])

    def test_a_thread_that_has_no_numbers(self):
        types = {"java.lang.Thread": [("osName", "java.lang.String")], "test.Bare": [START, ("who", "java.lang.Thread")]}
        bare = written.chunk(types, [("test.Bare", [1, [("java.lang.String", "main")]])])
        table = hotstack.open(bare).events("Bare")
        self.assertEqual(list(table), [{"startTime": 1, "who": "main"}])
        with self.assertRaisesRegex(hotstack.UsageError, "no field 'who.osThreadId'"):
            hotstack.open(bare).events("Bare", ["who.osThreadId"]).columns
        types["java.lang.Thread"] = [("osThreadId", "long"), *types["java.lang.Thread"]]
        full = written.chunk(types, [("test.Bare", [2, [("long", 77), ("java.lang.String", "main")]])])
        rows = list(hotstack.open(bare, full).events("Bare"))
        self.assertEqual([row["who.osThreadId"] for row in rows], [None, 77])

    def test_names_that_no_path_can_have(self):
        odd = ["", "a[0]", ".a", "a.", "a..b", "x" * 2000, "a\0b"]
        types = {"test.Odd": [START, *((name, "int") for name in odd), ("last", "int")]}
        data = written.chunk(types, [("test.Odd", range(len(odd) + 2))])
        other = written.chunk({"test.Odd": [START, ("a", "int")]}, [("test.Odd", [4, 5])])
        rows = list(hotstack.open(data, other).events("test.Odd"))
        inputs = ({"input": "memory 0"}, {"input": "memory 1"})
        self.assertEqual(rows, [{"startTime": 0, "last": 8, "a": None, **inputs[0]}, {"startTime": 4, "last": None, "a": 5, **inputs[1]}])

    def test_wide_types(self):
        wide = [(f"f{at}", "int") for at in range(3000)]
        types = {"test.Wide": wide, "test.Many": [START, *wide], "test.Two": [START, ("a", "test.Wide", True), ("b", "test.Wide", True)]}
        types["test.TooWide"] = [START, *((f"f{at}", "int") for at in range(5000))]
        recording = hotstack.open(written.chunk(types, [("test.Many", range(3001))]))
        self.assertEqual(list(recording.events("test.Many"))[0]["f2999"], 3000)
        # Two wide structs do not fit: they stay whole.
        self.assertEqual(list(recording.events("test.Two").columns), ["startTime", "a", "b"])
        with self.assertRaisesRegex(hotstack.LimitError, "name the columns"):
            recording.events("test.TooWide").columns
        self.assertEqual(list(recording.events("test.TooWide", ["f7"]).columns), ["f7"])

    def test_structs_that_would_never_end(self):
        nested = {f"test.S{at}": [(f"f{i}", f"test.S{at + 1}", True) for i in range(500)] for at in range(4)}
        types = {**nested, "test.S4": [], "test.Deep": [START, ("top", "test.S0", True)]}
        self.assertEqual(list(hotstack.open(written.chunk(types)).events("test.Deep").columns)[0], "startTime")

    def test_types_without_fields(self):
        data = written.chunk({"event.Bare": []}, [("event.Bare", [])] * 3)
        table = hotstack.open(data).events("event.Bare")
        self.assertEqual(table.columns, {})
        self.assertEqual(list(table), [{}, {}, {}])


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
        self.assertIn("closed", repr(recording))
        for read in (recording.totals, recording.samples, recording.info, lambda: recording.start):
            with self.assertRaisesRegex(hotstack.UsageError, "closed: open it again"):
                read()
        self.assertEqual(sums(table), {name: row.value for name, row in totals.items()})
        del table
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


class Offsets(unittest.TestCase):
    def test_offsets_count_from_the_start_or_before_the_end(self):
        recording = hotstack.open(EXAMPLE)
        chunk = recording.chunks()[0]
        start, end = chunk.start_ns, chunk.start_ns + chunk.duration_ns
        times = [row["time"] for row in recording.samples(["wall"], ["time"])]

        def kept(first, last):
            return sum(first <= time < last for time in times)

        span = datetime.timedelta
        for form, ns in (("+250ms", start + 250_000_000), (span(milliseconds=250), start + 250_000_000), ("+0.5", start + 500_000_000),
                         ("-0.25s", end - 250_000_000), (span(milliseconds=-250), end - 250_000_000), ("+0.005m", start + 300_000_000),
                         ("-0.0001h", end - 360_000_000), ("+0.000005d", start + 432_000_000)):
            with self.subTest(form=form):
                self.assertTrue(0 < kept(ns, end + 1) < len(times))
                self.assertEqual(len(recording.samples(["wall"], start=form)), kept(ns, 2**63))
                self.assertEqual(len(recording.events("WallClockSample", end=form)), kept(0, ns))
                self.assertEqual(recording.select(start=form).totals()["wall"].events, kept(ns, 2**63))
        self.assertEqual(len(recording.samples(["wall"], start="+9999999d")), 0)


class Parts(unittest.TestCase):
    """Selections, threads and times equal what the table of samples says."""

    def setUp(self):
        self.recording = hotstack.open(EXAMPLE)
        self.rows = list(self.recording.samples(columns=["time", "type", "value", "thread", "state"]))

    def test_select_by_thread(self):
        names = {row["thread"] for row in self.rows}
        for pattern, wanted in ((re.compile(r"^burner"), lambda n: n.startswith("burner")), (lambda n: "er-" in n, lambda n: "er-" in n)):
            part = self.recording.select(thread=pattern)
            there = sums(row for row in self.rows if wanted(row["thread"]))
            self.assertTrue(there)
            self.assertEqual({name: row.value for name, row in part.totals().items()}, there)
        self.assertGreater(len(names), 3)
        for name in names:
            there = sums(row for row in self.rows if row["thread"] == name)
            self.assertEqual({type: row.value for type, row in self.recording.select(thread=name).totals().items()}, there)
        self.assertEqual(self.recording.select(thread="burner").totals(), {})  # not burner-1, say

    def test_select_by_time_and_state(self):
        times = sorted(row["time"] for row in self.rows)
        start, end = times[100], times[300]
        for states in ((), ("sleeping",), ("unknown", "runnable")):
            part = self.recording.select(start=start, end=end, states=states)
            there = sums(row for row in self.rows if start <= row["time"] < end and (not states or row["state"] in states))
            self.assertEqual({name: row.value for name, row in part.totals().items()}, there)

    def test_an_exception_of_the_filter_comes_out(self):
        with self.assertRaises(ZeroDivisionError):
            self.recording.select(thread=lambda name: 1 / 0).totals()

    def test_threads_add_up(self):
        for name, total in self.recording.totals().items():
            there = collections.Counter()
            for row in self.rows:
                if row["type"] == name:
                    there[row["thread"]] += row["value"]
            ours = collections.Counter()
            for row in self.recording.threads(name):
                ours[row.thread] += row.value
            self.assertEqual(ours, there)
            self.assertEqual(sum(ours.values()), total.value)

    def test_the_timeline_equals_counting(self):
        width = 50_000_000
        there = collections.Counter()
        first = self.recording.chunks()[0].start_ns // width
        for row in self.rows:
            there[row["type"], max(row["time"] // width, first) * width] += row["value"]
        ours = {(row.type, row.time): row.value for row in self.recording.timeline(bucket=0.05)}
        last = max(time for _, time in ours)
        self.assertEqual(
            {key: value for key, value in ours.items() if key[1] < last},
            {key: value for key, value in there.items() if key[1] < last},
        )
        self.assertEqual(sum(ours.values()), sum(there.values()))
        pools = self.recording.timeline("cpu", bucket=0.05, by_pool=True)
        self.assertIn("burner-#", {row.pool for row in pools})
        self.assertEqual(sum(row.value for row in pools), self.recording.totals()["cpu"].value)

    def test_the_tree_is_that_of_the_collapsed_stacks(self):
        for inverted in (False, True):
            graph = self.recording.flamegraph("wall", inverted=inverted)
            there = collections.Counter()
            for line in graph.to_collapsed().splitlines():
                stack, value = line.rsplit(" ", 1)
                there[tuple(reversed(stack.split(";")) if inverted else stack.split(";"))] += int(value)
            path, ours = [], collections.Counter()
            for node in list(graph.root.walk())[1:]:
                path[node.depth - 1 :] = [node.name]
                if node.self:
                    ours[tuple(path)] += node.self
            self.assertEqual(ours, there)

    def test_nodes_know_their_children_and_all_below(self):
        nodes = list(self.recording.flamegraph("wall").root.walk())
        below = collections.defaultdict(list)
        children = collections.defaultdict(list)
        path = []
        for node in nodes:
            del path[node.depth :]
            for caller in path:
                below[caller].append(node)
            children[path[-1] if path else None].append(node)
            path.append(node)
        self.assertGreater(len(nodes), 100)
        for node in nodes:
            self.assertEqual(node.children, children[node])
            self.assertEqual(list(node.walk()), [node, *below[node]])

    def test_cut_trees_say_what_they_omit(self):
        whole = self.recording.flamegraph("wall").root
        cut = self.recording.flamegraph("wall", max_nodes=10).root
        nodes = list(cut.walk())
        self.assertLessEqual(len(nodes), 10)
        self.assertEqual(sum(node.self + node.omitted for node in nodes), whole.total)
        for node in self.recording.flamegraph("wall", min_share=0.05).root.walk():
            self.assertGreaterEqual(node.share, 0.05)

    def test_damaged_gzip_is_read_and_told(self):
        packed = EXAMPLE.read_bytes()
        for damaged in (packed[:-1] + b"~", packed + b"stray"):
            recording = hotstack.open(damaged)
            self.assertEqual(recording.totals(), hotstack.open(packed).totals())
            self.assertFalse(recording.loss().is_whole)
            self.assertEqual([item.reason for item in recording.loss().stretches], ["damaged gzip"])

    def test_a_least_share_cuts_what_the_command_line_cuts(self):
        """To the unit, also where the least value is no whole number."""
        recording = hotstack.open(EXAMPLE)
        root = recording.flamegraph("lock_count").root
        for value in {node.total for node in root.walk() if node.total < root.total}:
            share = round((value + 0.5) / root.total, 9)
            graph = recording.flamegraph("lock_count", min_share=share)
            self.assertTrue(all(node.total > value for node in graph.root.walk()), value)
            theirs = program("convert", EXAMPLE, "-t", "lock_count", "-f", "json", "-o", "-", "--min-width", f"{share:.9%}"[:-1])
            self.assertEqual(json.loads(graph.to_json())["profiles"], json.loads(theirs)["profiles"], value)


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


class Errors(unittest.TestCase):
    def test_exceptions_have_code_and_offset(self):
        with self.assertRaises(hotstack.FormatError) as caught:
            hotstack.open(b"no recording at all, but long enough to hold a chunk's header, that is 68 bytes")
        self.assertEqual((caught.exception.code, caught.exception.offset), ("format", 0))
        self.assertIsInstance(caught.exception, (hotstack.HotstackError, ValueError))
        with self.assertRaises(FileNotFoundError):
            hotstack.open("/does/not/exist.jfr")
        with self.assertRaises(IsADirectoryError):
            hotstack.open("/")
        with self.assertRaises(TypeError):
            hotstack.open(17)

    def test_the_input_that_is_to_blame_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "bad.jfr"
            bad.write_bytes(b"x" * 100)
            with self.assertRaisesRegex(hotstack.FormatError, "bad.jfr: at byte 0"):
                hotstack.open(EXAMPLE, bad)

    def test_a_cut_recording_is_read_as_far_as_it_goes(self):
        data = unpacked(EXAMPLE)
        recording = hotstack.open(data + data[:-1000])
        loss = recording.loss()
        self.assertEqual((loss.chunks_whole, loss.chunks_partial, loss.is_whole), (1, 1, False))
        once, all_of_it = hotstack.open(data).totals(), recording.totals()
        self.assertLess(once["cpu"].events, all_of_it["cpu"].events)
        self.assertLessEqual(all_of_it["cpu"].events, 2 * once["cpu"].events)

    def test_chunks_that_are_not_finished_can_be_left_alone(self):
        data = unpacked(EXAMPLE)
        recording = hotstack.open(data + data[:-1000], unfinished=False)
        loss = recording.loss()
        self.assertEqual((loss.chunks_whole, loss.chunks_lost, loss.is_whole), (1, 1, False))
        self.assertEqual(loss.stretches[0].reason, "truncated")
        self.assertEqual(loss.stretches[0].chunk, len(data))
        self.assertEqual(recording.totals(), hotstack.open(data).totals())

    def test_wrong_arguments_say_what_is_there(self):
        recording = hotstack.open(EXAMPLE)
        for call, says in (
            (lambda: recording.top("live_bytes"), "it has cpu, alloc_bytes"),
            (lambda: recording.top("heap"), "no samples of heap"),
            (lambda: recording.events("NoSuchEvent"), r"no event type 'NoSuchEvent': use one of event_types\(\)"),
            (lambda: recording.events("jdk.CpuLoad"), "no event type 'jdk.CpuLoad': use jdk.CPULoad,"),
            (lambda: recording.events("CPULoad", ["nothing"]).columns, r"no field 'nothing': event_types\(\)\['jdk.CPULoad'\].fields"),
            (lambda: recording.events("CPULoad", ["a[", "b"]).columns, "a\\["),
            (lambda: recording.samples(columns=["nothing"]).columns, "no sample column 'nothing': use time, type"),
            (lambda: recording.samples(["heap"]).columns, "no profile type 'heap': use cpu, alloc_bytes"),
            (lambda: recording.samples(columns=[]).columns, "one column or more"),
            (lambda: recording.select(states=["busy"]), "use unknown, runnable"),
            (lambda: recording.select(start=datetime.datetime(2026, 1, 1)), "needs a zone"),
            (lambda: recording.select(start="2026-01-01T00:00:00"), "needs a zone"),
            (lambda: recording.select(start="yesterday"), "'yesterday' is no time such as"),
            (lambda: recording.samples(start=1e30), "fits"),
            (lambda: recording.samples(start=1e9, end=999999999.0), r"end \(999999999.0\) is before start \(1000000000.0\)"),
            (lambda: recording.select(start=5.0), r"5.0 is before the year 2000, as seconds since 1970. An offset .* is text, '\+5s'"),
            (lambda: recording.select(end=5), "5 is before the year 2000, as nanoseconds"),
            (lambda: recording.select(start="2s"), r"'2s' is no time such as .*, \+2s after"),
            (lambda: recording.select(start="+2 parsecs"), "is no time"),
            (lambda: recording.select(start="-1s", end="-2s"), r"end \(-2s\) is before start \(-1s\)"),
            (lambda: hotstack.open(EXAMPLE, EXAMPLE).select(start="+1s"), "a start and an end each"),
            (lambda: recording.select(start="2026-01-01T00:00:00Z", end=1e9), "before start"),
            (lambda: recording.events("CPULoad", start=1.5e9, end=1.4e9), "before start"),
            (lambda: recording.timeline(bucket=0), "A bucket"),
            (lambda: recording.timeline(bucket=1e-6, by_pool=True), "larger buckets"),
            (lambda: recording.flamegraph("cpu").tree("wall"), "shows cpu"),
            (lambda: recording.diff(recording, "live_bytes"), "both have"),
            (lambda: recording.diff(recording, "cpu").changes("wall"), "were compared"),
        ):
            with self.assertRaisesRegex(hotstack.HotstackError, says):
                call()

    def test_wrong_numbers_and_expressions_are_usage(self):
        recording = hotstack.open(EXAMPLE)
        for wrong in (
            lambda: recording.select(start=float("nan")),
            lambda: recording.select(end=float("inf")),
            lambda: recording.top(limit=-1),
            lambda: recording.flamegraph(max_nodes=-1),
            lambda: recording.flamegraph(max_nodes=2**32),
            lambda: recording.flamegraph(min_share=float("nan")),
            lambda: recording.flamegraph(min_share=1.5),
            lambda: recording.diff(recording, min_share=-0.1),
            lambda: recording.flamegraph("cpu").to_collapsed("wall"),
        ):
            self.assertRaises(hotstack.UsageError, wrong)
        self.assertEqual(recording.top(limit=2**80), recording.top(limit=None))

    def test_a_name_alone_is_a_list_of_it(self):
        recording = hotstack.open(EXAMPLE)
        self.assertEqual(list(recording.samples("cpu", "value")), list(recording.samples(["cpu"], ["value"])))
        self.assertEqual(list(recording.events("CPULoad", "jvmUser")), list(recording.events("CPULoad", ["jvmUser"])))
        self.assertEqual(recording.select(states="runnable").totals(), recording.select(states=["runnable"]).totals())

    def test_pipes_are_read(self):
        data = unpacked(EXAMPLE)
        reader, writer = os.pipe()
        feeder = threading.Thread(target=lambda: open(writer, "wb").write(data))
        feeder.start()
        recording = hotstack.open(f"/dev/fd/{reader}")
        feeder.join()
        os.close(reader)
        self.assertEqual(recording.totals(), hotstack.open(data).totals())

    def test_several_recordings_are_given_one_by_one(self):
        two = hotstack.open(EXAMPLE, EXAMPLE)
        self.assertEqual(two.totals()["cpu"].value, 2 * hotstack.open(EXAMPLE).totals()["cpu"].value)
        with self.assertRaisesRegex(TypeError, r"not list: several are given one by one, open\(\*paths\)"):
            hotstack.open([EXAMPLE, EXAMPLE])

    def test_objects_of_the_core_cannot_be_made_by_hand(self):
        for name in ("Batch", "Batches", "Aggregate", "Tree", "Diff"):
            with self.assertRaises(TypeError):
                getattr(hotstack._native, name)()
        with self.assertRaises(TypeError):
            hotstack._native.trees_json((1,), b"{}")
        with self.assertRaises(TypeError):
            hotstack._native.diff(1, 2, "cpu", False, 0, 0)


class Behaviour(unittest.TestCase):
    def test_progress_is_told_and_can_end_the_reading(self):
        data = unpacked(EXAMPLE) * 5
        told = []
        recording = hotstack.open(data, progress=lambda done, total: told.append((done, total)))
        recording.totals()
        self.assertEqual([done for done, _ in told], [len(data) // 5 * i for i in range(1, 6)])
        self.assertEqual({total for _, total in told}, {len(data)})
        for read in (recording.event_types, lambda: list(recording.samples())):
            told.clear()
            read()
            self.assertEqual(told[-1], (len(data), len(data)))
            self.assertEqual(sorted(told), told)

        def stop(done, total):
            raise KeyError("enough")

        stopped = hotstack.open(data, progress=stop)
        for read in (stopped.totals, stopped.event_types, lambda: list(stopped.samples())):
            with self.assertRaisesRegex(KeyError, "enough"):
                read()

    def test_a_signal_ends_a_long_reading(self):
        recording = hotstack.open(*[unpacked(EXAMPLE)] * 3, progress=lambda done, total: signal.raise_signal(signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            recording.totals()

    def test_other_threads_run_while_c_works(self):
        """C waits for a pipe's writer, which can open it only if C does not keep the others from running."""
        said = []

        def read(path):
            try:
                hotstack._native.Inputs([path]).check()
            except hotstack.IoError as error:
                said.append(error)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pipe")
            os.mkfifo(path)
            reader = threading.Thread(target=read, args=[path])
            reader.start()
            os.close(os.open(path, os.O_WRONLY))
            reader.join()
        self.assertEqual([error.code for error in said], ["io"])
        self.assertEqual(str(said[0]).count(path), 1)

    def test_readings_side_by_side_agree(self):
        data = unpacked(RECORDINGS[0]) * 20
        totals = []
        threads = [threading.Thread(target=lambda: totals.append(hotstack.open(data).totals())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(totals, [hotstack.open(data).totals()] * 4)

    def test_two_threads_cannot_read_the_same_batches(self):
        source = iter(hotstack.open(unpacked(EXAMPLE) * 50)._inputs.samples(["time"], ["wall"], -(2**63), 2**63 - 1))
        errors = []

        def drain():
            try:
                for _ in source:
                    pass
            except hotstack.UsageError as error:
                errors.append(str(error))

        threads = [threading.Thread(target=drain) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all("Another thread" in error for error in errors))

    def test_a_buffer_stays_locked_while_a_table_reads_it(self):
        data = bytearray(unpacked(EXAMPLE))
        recording = hotstack.open(data)
        with self.assertRaises(BufferError):
            data.clear()
        batches = recording.samples().batches()
        next(batches)
        del recording
        with self.assertRaises(BufferError):
            data.clear()
        del batches
        gc.collect()
        data.clear()

    def test_nothing_leaks(self):
        def work():
            recording = hotstack.open(unpacked(EXAMPLE))
            list(recording.samples(columns=hotstack.SAMPLE_COLUMNS))
            list(recording.events("JavaMonitorEnter"))
            recording.event_types(), recording.settings(), recording.loss(), recording.info()
            recording.top(), recording.threads(), recording.timeline(by_pool=True)
            list(recording.flamegraph("cpu", inverted=True).root.walk())
            recording.flamegraph().to_json(), recording.flamegraph().to_html()
            recording.diff(recording).changes()
            recording.select(thread="burner", start="+0s").totals()
            recording.samples().__arrow_c_stream__()
            recording.samples().__arrow_c_schema__()
            next(recording.samples().batches()).__arrow_c_array__()
            for bad in (b"x" * 100, unpacked(EXAMPLE)[:2000]):
                try:
                    hotstack.open(bad).totals()
                except hotstack.FormatError:
                    pass

        for _ in range(20):
            work()
        gc.collect()
        blocks, size = sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(60):
            work()
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - blocks, 60)
        # One recording's bytes lost in each round would be 60 x 37 KB; KiB here.
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size, 1500)

    def test_the_version_is_the_trees(self):
        text = (TREE / "meson.build").read_text()
        self.assertIn(f"version: '{hotstack.__version__}'", text)


if __name__ == "__main__":
    tap.main(Totals, Events, Packed, AnyType, Tables, Offsets, Parts, Pages, Errors, Behaviour)
