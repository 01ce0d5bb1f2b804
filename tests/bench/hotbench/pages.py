# SPDX-License-Identifier: Apache-2.0
"""Pages in Chromium: one of a recording with all types beside jfrconv's page per kind, in bytes and in time until the graph is there; and
P14, how soon a graph of 200,000 nodes is there and answers."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import measure, peers, place, recordings, report
from .measure import BenchError, median, p95, say

RECORDING, QUICK_RECORDING = "large", "medium"
WIDTHS = (0, 0.01)  # percent of a type's total
ROUNDS, QUICK_ROUNDS = 5, 2
NODES, PAINT_MS, TASK_MS = 200_000, 300, 16
ACTIONS = ("zoom", "hover", "search")
CHROMIUM = os.environ.get("HOTSTACK_CHROMIUM", "/usr/bin/chromium")


def playwright():
    """The folder whose node_modules has playwright-core."""
    done = subprocess.run([place.TREE / "ui/build.sh", "packages"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise BenchError("ui/build.sh packages failed: it needs node and npm")
    return done.stdout.strip()


def make_ours(recording, width, out):
    command = [place.installed("hotstack"), "convert", "-t", "cpu,alloc_bytes,lock_delay", "--max-nodes", 0, "--min-width", width]
    measure.run([*command, recording, "-o", out], env=place.installed_environment())


def make_theirs(recording, kind, width, out):
    options = ["--minwidth", width] if width else []
    measure.run([place.java(17), "-jar", place.CONVERTER, f"--{kind}", *options, "-o", "html", recording, out])


def driven(driver, *arguments):
    """Returns the output of a driver."""
    done = measure.run([shutil.which("node") or "node", place.HERE / "peers" / driver, *arguments])
    return json.loads(done.out)


def paint(files, rounds):
    """By file, (first paint, graph): medians of milliseconds."""
    return {file: tuple(map(median, zip(*times, strict=True))) for file, times in driven("paint.mjs", CHROMIUM, rounds, *files).items()}


def compare(recording, width, rounds, folder):
    """(ours, theirs by kind), each (bytes, first paint, graph)."""
    ours = folder / f"ours-{width}.html"
    theirs = {kind: folder / f"{kind}-{width}.html" for kind in peers.KINDS}
    make_ours(recording, width, ours)
    for kind, out in theirs.items():
        make_theirs(recording, kind, width, out)
    say(f"{rounds} rounds in Chromium, least width {width} %")
    times = paint([ours, *theirs.values()], rounds)

    def both(file):
        return file.stat().st_size, *times[str(file)]

    return both(ours), {kind: both(file) for kind, file in theirs.items()}


def large_graph(section, recording, rounds, folder):
    """P14, of the allocations of a recording that has more nodes than a page keeps."""
    page = folder / "alloc.html"
    measure.run([place.installed("hotstack"), "convert", "-t", "alloc_bytes", recording, "-o", page], env=place.installed_environment())
    say(f"{rounds} rounds of zoom, hover and search in Chromium")
    found = driven("interact.mjs", playwright(), CHROMIUM, rounds, page)
    section.text(f"P14: a page of one type with {found['nodes']:,} nodes, {page.stat().st_size:,} bytes: milliseconds from its last byte to the frame with the"
                 f" graph, median of {rounds} rounds; and of each action in it the longest task of the page's main thread, from Chromium's trace.")  # fmt: skip
    rows = [["first paint", rounds, f"{median(found['paint']):.0f}", "-", f"{max(found['paint']):.0f}"]]
    section.table(["what", "times", "median ms", "p95 ms", "most ms"], rows + [task_row(kind, found[kind]) for kind in ACTIONS])
    if found["nodes"] >= NODES:
        section.target("P14: first paint after data", PAINT_MS, median(found["paint"]), False, " ms")
        for kind in ACTIONS:
            section.target(f"P14: main-thread tasks of {kind}, p95", TASK_MS, p95(found[kind]), False, " ms")


def task_row(kind, tasks):
    return [kind, len(tasks), f"{median(tasks):.1f}", f"{p95(tasks):.1f}", f"{max(tasks):.1f}"]


def bench(quick):
    section = report.Section("pages", "Pages: one file of all types")
    if not pathlib.Path(CHROMIUM).exists():
        raise BenchError(f"there is no Chromium at {CHROMIUM}: apt-get install chromium, or set HOTSTACK_CHROMIUM")
    name, rounds = (QUICK_RECORDING, QUICK_ROUNDS) if quick else (RECORDING, ROUNDS)
    rows = []
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as temporary:
        for width in WIDTHS:
            ours, theirs = compare(recordings.file_of(name), width, rounds, pathlib.Path(temporary))
            largest = max(theirs.values())
            whole = sum(size for size, *_ in theirs.values())
            rows.append([f"{width} %", "hotstack, all three", f"{ours[0]:,}", *(f"{time:.0f}" for time in ours[1:])])
            rows += [[f"{width} %", f"jfrconv --{kind}", f"{size:,}", *(f"{time:.0f}" for time in times)] for kind, (size, *times) in theirs.items()]
            section.target(f"{name}, {width} %: bytes, of jfrconv's three files", 1, ours[0] / whole, False)
            section.target(f"{name}, {width} %: until the graph is there, of the largest of them", 1, ours[2] / largest[2], False)
    section.text(f"The recording {name} as pages with CPU, allocation and locks, nothing cut and with a least width of a box: bytes of the files, template"
                 f" and all, and milliseconds from navigation to Chromium's first paint with content and to the frame with the graph, in a headless Chromium that has come to rest after its start and keeps no copy of what it loads for who drives it, median of {rounds} rounds.")  # fmt: skip
    section.table(["least width", "page", "bytes", "first paint ms", "graph ms"], rows)
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as temporary:
        large_graph(section, recordings.file_of(name), rounds, pathlib.Path(temporary))
    return section
