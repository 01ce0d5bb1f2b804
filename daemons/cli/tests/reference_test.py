#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every filter and shape of hotstack convert and top against a naive reference, to the unit.

usage: reference_test.py HOTSTACK DATADIR
  HOTSTACK  the program
  DATADIR   where the build puts heatmap.html; what needs it is skipped where there is none
The reference knows only the events that `hotstack jfr print --json` shows, which another test holds to the JDK's tool, byte for byte; it
makes samples of them by the rules of libjfr's jfr/sample.h, one at a time, and counts them in dicts. Prints TAP.
"""
import collections
import csv
import datetime
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from recordings import TREE, run_tests

sys.path.insert(0, str(TREE / "tests/support"))
import flamegraph_page  # noqa: E402

DATA = TREE / "tests/data/jfr"
FILES = [DATA / name for name in ("async-profiler-4.5-jdk17.jfr.gz", "jdk11-all.jfr.gz", "jdk25-all.jfr.gz")]
STATES = {"STATE_RUNNABLE": "runnable", "STATE_IN_NATIVE": "native", "STATE_SLEEPING": "sleeping"}
CONTENDED = ("java/util/concurrent/locks/Reentrant", "java/util/concurrent/locks/StampedLock", "java/util/concurrent/Semaphore")
KINDS = {"Native": "native", "C++": "jvm", "Kernel": "kernel"}

Sample = collections.namedtuple("Sample", "type time thread state frames raw value")
Frame = collections.namedtuple("Frame", "name line")


def nanoseconds(text):
    """Of "2026-11-21T11:55:26.442632972Z"."""
    whole, fraction = re.fullmatch(r"([^.Z]*)(?:\.(\d+))?Z", text).groups()
    seconds = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return int(seconds) * 10**9 + int((fraction or "0").ljust(9, "0"))


def duration(text):
    """Nanoseconds of "PT1M0.034S"."""
    minutes, seconds, fraction = re.fullmatch(r"PT(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?", text).groups()
    return (int(minutes or 0) * 60 + int(seconds or 0)) * 10**9 + int((fraction or "0").ljust(9, "0"))


def frames_of(stack):
    """Root first."""
    found = []
    for frame in stack["frames"] if stack else ():
        name = (frame["method"]["type"]["name"].replace("/", ".") + "." + frame["method"]["name"]).removeprefix(".")
        found.append(Frame(name.replace(";", "_").strip(), max(0, frame["lineNumber"])))
    return tuple(reversed(found))


class Reference:
    """The samples of one recording."""

    def __init__(self, events, intervals):
        self.samples = []
        self.intervals = {name: int(value) for name, value in intervals.items()}
        kinds = {event["type"] for event in events}
        self.is_async = not kinds & {"jdk.GCPhasePause", "jdk.CPUTimeSample"} and "profiler.WallClockSample" in kinds
        rivals = {"jdk.ExecutionSample"} if "jdk.CPUTimeSample" in kinds else set()
        rivals |= {"jdk.ObjectAllocationSample"} if "jdk.ObjectAllocationInNewTLAB" in kinds else set()
        for event in events:
            if event["type"] not in rivals:
                self.take(event["type"], event["values"])

    def add(self, kind, values, raw, value):
        thread = values.get("sampledThread") or values.get("eventThread") or {}
        name = thread.get("javaName") or thread.get("osName") or ""
        state = STATES.get(values.get("state"), "unknown")
        self.samples.append(Sample(kind, nanoseconds(values["startTime"]), name, state, frames_of(values["stackTrace"]), raw, value))

    def take(self, event, values):
        if event == "jdk.ExecutionSample":
            self.add("cpu", values, self.intervals["cpu"], self.intervals["cpu"])
        elif event == "jdk.CPUTimeSample":
            period = duration(values["samplingPeriod"])
            self.add("cpu", values, period, period)
        elif event == "profiler.WallClockSample":
            self.add("wall", values, *[values["samples"] * self.intervals["wall"]] * 2)
        elif event in ("jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"):
            weight = values["tlabSize"] if event.endswith("NewTLAB") else values["allocationSize"]
            self.add("alloc_bytes", values, weight, weight)
        elif event == "jdk.JavaMonitorEnter" or (event == "jdk.ThreadPark" and is_contended(values)):
            waited = duration(values["duration"])
            self.add("lock_delay", values, waited, max(waited, self.intervals.get("lock_delay", 0) if self.is_async else 0))

    def sums(self, keep=lambda sample: True):
        """{type: (samples, raw, value)} of those that a filter keeps."""
        found = collections.defaultdict(lambda: (0, 0, 0))
        for sample in filter(keep, self.samples):
            count, raw, value = found[sample.type]
            found[sample.type] = count + 1, raw + sample.raw, value + sample.value
        return dict(found)

    def stacks(self, kind, lines=False):
        """{stack, root first: value}."""
        found = collections.Counter()
        for sample in self.samples:
            if sample.type == kind:
                found[tuple(f"{f.name}:{f.line}" if lines and f.line else f.name for f in sample.frames)] += sample.value
        return found


def is_contended(values):
    parked = values.get("parkedClass")
    return parked is not None and parked["name"].startswith(CONTENDED)


def tree_of(stacks):
    """{path: [self, total]}; the root is ()."""
    tree = collections.defaultdict(lambda: [0, 0])
    for stack, value in stacks.items():
        tree[stack][0] += value
        for depth in range(len(stack) + 1):
            tree[stack[:depth]][1] += value
    return {path: tuple(sums) for path, sums in tree.items()}


def tree_of_json(document, profile):
    """Does the same for a document, and returns {path: (value, nodes)} of the nodes that were cut below a node."""
    strings, nodes, frames = document["strings"], profile["nodes"], profile["frames"]
    tree, omitted, path, paths = {}, {}, [], []
    for depth, frame, own, total in zip(nodes["depth"], nodes["frame"], nodes["self"], nodes["total"], strict=True):
        if depth > 0:
            cls, method = strings[frames["class"][frame]], strings[frames["method"][frame]]
            path[depth - 1:] = [(cls + "." if cls else "") + method]
        paths.append(tuple(path[:depth]))
        key = paths[-1]
        was = tree.get(key, (0, 0))  # frames of different kinds with one name are two nodes
        tree[key] = was[0] + own, was[1] + total
    for node, value, count in zip(profile["omitted"]["node"], profile["omitted"]["total"], profile["omitted"]["count"], strict=True):
        omitted[paths[node]] = value, count
    return tree, omitted


def cells_of_page(document, profile):
    """{(bucket, stack): value} of a heatmap's page, stacks without their lines and kinds."""
    strings, frames, nodes, paths, path = document["strings"], document["frames"], profile["nodes"], [], []
    for depth, frame in zip(nodes["depth"], nodes["frame"], strict=True):
        if depth > 0:
            cls, method = strings[frames["class"][frame]], strings[frames["method"][frame]]
            path[depth - 1:] = [(cls + "." if cls else "") + method]
        paths.append(tuple(path[:depth]))
    cells = collections.Counter()
    for bucket, row in flamegraph_page.cells_of(profile).items():
        for place, value in row.items():
            cells[bucket, paths[place]] += value
    return cells


class Tests:
    def __init__(self, program, datadir):
        self.program, self.datadir = program, datadir
        self.known = {}
        for path in FILES:
            events = json.loads(self.run("jfr", "print", "--json", "--stack-depth", "2000", path))["recording"]["events"]
            self.known[path] = Reference(events, self.document(path)["meta"]["intervals"])

    def run(self, *arguments, code=0):
        environment = os.environ | {"HOTSTACK_DATADIR": str(self.datadir)}
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, env=environment)
        assert done.returncode == code, f"{arguments}: exit {done.returncode}: {done.stderr}"
        return done.stdout

    def document(self, *arguments):
        return flamegraph_page.read(self.run("convert", *arguments, "--raw-names", "--max-nodes", "0", "-f", "json", "-o", "-"))

    def check_sums(self, path, keep, *arguments):
        """convert and top have what the reference keeps, of the types that it knows."""
        wanted = self.known[path].sums(keep)
        types = ",".join(sorted({sample.type for sample in self.known[path].samples}))
        if not wanted:
            self.run("convert", path, "-t", types, *arguments, "-f", "json", "-o", "-", code=1)
            self.run("top", path, "-t", types, *arguments, code=1)
            return
        found = {p["type"]: (p["samples"], int(p["raw_total"]), p["total"]) for p in self.document(path, "-t", types, *arguments)["profiles"]}
        assert found == wanted, (path.name, arguments, found, wanted)
        top = json.loads(self.run("top", path, "-t", types, "--json", "-n", "0", *arguments))["types"]
        assert {t["type"]: (t["samples"], t["raw_value"], t["value"]) for t in top} == wanted, (path.name, arguments)

    def test_types(self):
        for path in FILES:
            self.check_sums(path, lambda sample: True)
            for kind in self.known[path].sums():
                assert [p["type"] for p in self.document(path, "-t", kind)["profiles"]] == [kind]

    def test_threads_by_regex(self):
        for path in FILES:
            names = {sample.thread for sample in self.known[path].samples}
            assert len(names) > 4
            for pattern in (*(f"^{re.escape(name)}$" for name in names), "[0-9]$", "^(burner|monitor)-", "e", "no such thread"):
                self.check_sums(path, lambda sample: re.search(pattern, sample.thread), "--thread-pattern", pattern)

    def test_threads_stand_above_their_stacks(self):
        for path in FILES:
            for kind in self.known[path].sums():
                wanted = collections.Counter()
                for sample in self.known[path].samples:
                    if sample.type == kind:
                        wanted[sample.thread or "no thread"] += sample.value
                found = collections.Counter()
                for line in self.run("convert", path, "-t", kind, "--threads", "-f", "collapsed", "-o", "-").splitlines():
                    stack, value = line.rsplit(" ", 1)
                    thread = stack.split(";")[0]
                    found[thread if thread in wanted else re.sub(r"^\[|( tid=\d+)?\]$", "", thread)] += int(value)
                assert found == wanted, (path.name, kind, found, wanted)

    def test_times_to_the_nanosecond(self):
        for path in FILES:
            times = sorted({sample.time for sample in self.known[path].samples})
            for at in (times[0], times[len(times) // 3], times[len(times) // 2] + 1, times[-1], times[-1] + 1):
                seconds = f"{at // 10**9}.{at % 10**9:09}"
                date = datetime.datetime.fromtimestamp(at // 10**9, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + f".{at % 10**9:09}Z"
                for text in (seconds, date):
                    self.check_sums(path, lambda sample: sample.time >= at, "--from", text)
                    self.check_sums(path, lambda sample: sample.time < at, "--to", text)
            begin, end = times[len(times) // 4], times[len(times) // 2]
            self.check_sums(path, lambda sample: begin <= sample.time < end, "--from", f"{begin // 10**9}.{begin % 10**9:09}",
                            "--to", f"{end // 10**9}.{end % 10**9:09}")

    def test_states(self):
        seen = set()
        for path in FILES:
            seen |= {sample.state for sample in self.known[path].samples}
            for states in (["runnable"], ["sleeping"], ["native"], ["unknown"], ["runnable", "sleeping"], ["unknown", "runnable"]):
                self.check_sums(path, lambda sample: sample.state in states, "--state", ",".join(states))
        assert seen >= {"runnable", "sleeping", "unknown"}, seen

    def test_filters_together(self):
        path = FILES[0]
        times = sorted(sample.time for sample in self.known[path].samples)
        begin = times[len(times) // 5]
        self.check_sums(path, lambda s: s.time >= begin and s.state in ("sleeping", "unknown") and re.search("[a-m]", s.thread),
                        "--from", f"{begin // 10**9}.{begin % 10**9:09}", "--state", "sleeping,unknown", "--thread-pattern", "[a-m]")

    def test_stacks_with_and_without_lines(self):
        for path in FILES:
            for kind in self.known[path].sums():
                for lines in ((), ("--lines",)):
                    wanted = {";".join(stack) or "[no stack]": value for stack, value in self.known[path].stacks(kind, bool(lines)).items()}
                    text = self.run("convert", path, "-t", kind, "--raw-names", *lines, "-f", "collapsed", "-o", "-")
                    found = {stack: int(value) for stack, value in (line.rsplit(" ", 1) for line in text.splitlines())}
                    assert found == wanted, (path.name, kind, lines, set(found.items()) ^ set(wanted.items()))

    def test_trees_both_ways(self):
        for path in FILES:
            for arguments, order in (((), 1), (("--inverted",), -1)):
                document = self.document(path, *arguments)
                for profile in document["profiles"]:
                    stacks = self.known[path].stacks(profile["type"])
                    if not stacks:
                        continue
                    wanted = tree_of({stack[::order]: value for stack, value in stacks.items()})
                    assert tree_of_json(document, profile) == (wanted, {}), (path.name, profile["type"], arguments)

    def test_cells_of_the_heatmap_page(self):
        if not (self.datadir / "heatmap.html").exists():
            return "no template: the build has no Node"
        for path in FILES:
            with tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder) / "x.heatmap.html"
                self.run("convert", path, "--raw-names", "--max-nodes", "0", "-o", page)
                document = flamegraph_page.of_page(page.read_text())
            for profile in document["profiles"]:
                heat = profile["heat"]
                origin, step, last = int(heat["origin_ns"]), heat["step_ns"], heat["buckets"] - 1
                wanted = collections.Counter()
                for sample in self.known[path].samples:
                    if sample.type == profile["type"]:
                        wanted[min(max((sample.time - origin) // step, 0), last), tuple(f.name for f in sample.frames)] += sample.value
                if wanted:
                    assert cells_of_page(document, profile) == wanted, (path.name, profile["type"])
            assert {p["type"] for p in document["profiles"]} >= set(self.known[path].sums()), path.name
        return None

    def test_minimum_width_cuts_by_share_and_counts(self):
        for path in FILES:
            for width in (0.5, 7, 60):
                for arguments, order in (((), 1), (("--inverted",), -1)):
                    document = self.document(path, "--min-width", width, *arguments)
                    for profile in document["profiles"]:
                        stacks = self.known[path].stacks(profile["type"])
                        if stacks:
                            self.check_cut(document, profile, tree_of({s[::order]: v for s, v in stacks.items()}), width)

    def check_cut(self, document, profile, whole, width):
        keeps = lambda path: whole[path][1] * 1000 >= width * 10 * whole[()][1]
        wanted, omitted = {}, collections.defaultdict(lambda: (0, 0))
        for path, sums in whole.items():
            if keeps(path):
                wanted[path] = sums
                continue
            parent = next(path[:depth] for depth in range(len(path) - 1, -1, -1) if keeps(path[:depth]))
            value, count = omitted[parent]
            omitted[parent] = value + (sums[1] if len(parent) == len(path) - 1 else 0), count + 1
        assert tree_of_json(document, profile) == (wanted, dict(omitted)), (profile["type"], width)

    def test_top_tables(self):
        for path in FILES:
            tables = {t["type"]: t for t in json.loads(self.run("top", path, "--raw-names", "-n", "0", "--json"))["types"]}
            for kind in self.known[path].sums():
                own, total = collections.Counter(), collections.Counter()
                for stack, value in self.known[path].stacks(kind).items():
                    if stack:
                        own[stack[-1]] += value
                    for name in set(stack):
                        total[name] += value
                wanted = {name: (own[name], total[name]) for name in total}
                name_of = lambda row: (row["class"] + "." if row["class"] else "") + row["method"]
                assert {name_of(row): (row["self"], row["total"]) for row in tables[kind]["rows"]} == wanted, (path.name, kind)
                rows = csv.DictReader(io.StringIO(self.run("convert", path, "--raw-names", "-t", kind, "-f", "csv", "-o", "-")))
                assert {name_of(row): tuple(int(row[key]) for key in list(row)[3:]) for row in rows} == wanted, (path.name, kind)


run_tests(Tests(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:3])))
