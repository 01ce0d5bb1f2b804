# SPDX-License-Identifier: Apache-2.0
"""P6 and P7: what the collector sends and costs for real windows of the demo service."""

import os

from . import live, measure, peers, place, report
from .measure import median, say

WINDOW_S = 60
QUICK_WINDOW_S = 15
PPROF_KINDS = ("cpu", "alloc", "lock")
PPROF_RATIO = 1.0  # an upload takes at most the bytes of the same window as gzip pprof
WINDOWS, LAST = 12, 5  # full windows; stacks count as known in the last ones, where few of them are new
CPU_PER_JVM = 0.1  # per cent of a core
MEMORY, JVMS = 40, 50
LOW, A_CORE = 50, 250  # orders a second: of one JVM, and of all on one CPU, so that the collector gets its turn


def pprof_bytes(recording, work):
    """The window as three gzip pprof files, one a kind."""
    total = 0
    for kind in PPROF_KINDS:
        out = work / f"{kind}.pb.gz"
        measure.run([place.java(17), "-jar", place.CONVERTER, f"--{kind}", "-o", "pb.gz", recording, out])
        total += out.stat().st_size
    return total


def recordings_of(running, windows):
    """The recordings of one JVM's windows, in order: their names have the session and the position in it."""
    found = sorted((running.dir / "recordings").glob("*.jfr"))
    if len(found) < windows:
        raise measure.BenchError(f"{len(found)} recordings were kept of {windows} windows")
    return found[:windows]


def upload_bytes(section, window_s, windows_wanted):
    """One JVM, windows kept as recordings too: bytes on the wire beside the same as pprof."""
    with live.Live(window_s, "normal") as running:
        running.start_services(1)
        running.start_ingest()
        running.start_collector(True, more=", threads: 0s")  # snapshots, which pprof does not have
        say(f"waiting for {windows_wanted} full windows of {window_s} s")
        for count in range(windows_wanted + 1):
            live.wait_for("a window", lambda n=count: len(running.windows()) > n)
        rows = []
        found = sorted(running.windows().items())[: windows_wanted + 1]
        for (_, one), recording in zip(found, recordings_of(running, len(found)), strict=True):
            pprof = pprof_bytes(recording, running.dir)
            rows.append((one["bytes"], pprof, recording.stat().st_size, one["rows"], one["stacks"]))
    section.text(f"P6: one JVM of the demo service, its default load and settings without thread snapshots, windows of {window_s} s; the first is cut short by the start. Stacks are known in the last {LAST}, but for those that no window had before:")
    section.table(
        ["window", "rows", "new stacks", "recording, kB", "gzip pprof (cpu, alloc, lock), kB", "upload, kB", "pprof / upload"],
        [[i + 1, f"{r[3]:.0f}", f"{r[4]:.0f}", f"{r[2] / 1e3:.1f}", f"{r[1] / 1e3:.1f}", f"{r[0] / 1e3:.2f}", f"{r[1] / r[0]:.2f}"]
         for i, r in enumerate(rows)],
    )  # fmt: skip
    section.target("P6: gzip pprof over upload, the first window", PPROF_RATIO, rows[0][1] / rows[0][0])
    known = [row[1] / row[0] for row in rows[2:][-LAST:]]
    section.target("P6: the same, stacks known", PPROF_RATIO, median(known))


def collector_cost(section, window_s, windows_wanted, jvms):
    """CPU of collector, attachd and its workers from one full window to a later one; memory on the way."""
    orders = max(1, min(LOW, A_CORE * len(os.sched_getaffinity(0)) // jvms))
    with live.Live(window_s, str(orders)) as running:
        running.start_services(jvms)
        running.start_ingest()
        running.start_collector(keep=False)
        say(f"{jvms} JVMs: waiting for {windows_wanted + 1} full windows of {window_s} s")
        cost = live.Cost(*(running.running[name].pid for name in ("collector", "attachd")))
        live.wait_for("a full window", lambda: cost.look() and running.full_windows(jvms))
        cost.begin()
        first = max(running.full_windows(jvms))
        live.wait_for("more windows", lambda: cost.look() and max(running.full_windows(jvms)) >= first + windows_wanted * window_s * 1000)
        spent, last = cost.seconds(), max(running.full_windows(jvms))
        wall = (last - first) / 1000
        snapshots = sum(batch["snapshots"] for batch in running.state()["batches"])
        if snapshots < jvms:
            raise measure.BenchError(f"{snapshots} thread snapshots of {jvms} JVMs came")
    share = spent / wall / jvms * 100
    section.text(
        f"P7: {jvms} JVMs of the demo service at {orders} orders a second each, {wall:.0f} s of windows of {window_s} s, with a thread snapshot of each a minute ({snapshots} in all): collector, attachd and workers took"
        f" {spent:.2f} CPU s and at most {cost.peak / (1 << 20):.1f} MiB of anonymous memory (looked at every 50 ms). Peers: none in this run."
    )
    section.target("P7: CPU of the collector's side per JVM, of a core", CPU_PER_JVM, share, False, " %")
    section.target(f"P7: anonymous memory with {jvms} JVMs", MEMORY, cost.peak / (1 << 20), False, " MiB")


def bench(quick):
    section = report.Section("upload", "What a window costs to send, and the collector's own cost")
    window_s = QUICK_WINDOW_S if quick else WINDOW_S
    upload_bytes(section, window_s, 4 if quick else WINDOWS)
    jvms = 2 if quick else int(os.environ.get("HOTSTACK_BENCH_JVMS", JVMS))
    collector_cost(section, window_s, 2, jvms)
    return section
