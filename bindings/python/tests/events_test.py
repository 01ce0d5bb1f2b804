#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of events: values against the command line, and any type of any recording. Prints TAP.

The environment holds PYTHONPATH (the package that was built) and HOTSTACK_PROGRAM.
"""

import datetime
import json
import unittest
import warnings

import tap
import written
from support import EXAMPLE, FIXTURE_FILES, RECORDINGS, hotstack as program, sums

import hotstack
from written import START


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
        # The name `cpu.user` hides the fields of `cpu` whose paths begin with it.
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
        # Two wide structs have too many fields for columns, so each stays one column.
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


if __name__ == "__main__":
    tap.main(Events, AnyType)
