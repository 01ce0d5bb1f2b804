#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selections by thread, time and state; timelines and trees, against counting rows. Prints TAP.

The environment holds PYTHONPATH (the package that was built), HOTSTACK_PROGRAM and HOTSTACK_DATADIR.
"""

import collections
import datetime
import json
import re
import unittest

import tap
from support import EXAMPLE, hotstack as program, sums

import hotstack


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


if __name__ == "__main__":
    tap.main(Offsets, Parts)
