#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What wrong arguments and damaged recordings say. Prints TAP.

The environment holds PYTHONPATH (the package that was built) and HOTSTACK_DATADIR.
"""

import datetime
import os
import pathlib
import tempfile
import threading
import unittest

import tap
from support import EXAMPLE, unpacked

import hotstack


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


if __name__ == "__main__":
    tap.main(Errors)
