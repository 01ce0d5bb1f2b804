# SPDX-License-Identifier: Apache-2.0
"""P13: bytes in the store: per JVM-day, profiles and snapshots apart, and per row of each table and column, merged.

The demo service, recorded by the real collector at its default settings, and a made-up fleet, whose JVMs have 200 threads."""

import json
import math
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from . import backend, ingest, live, place, recordings, report, store
from .measure import BenchError, say

PROFILES_MB, SNAPSHOTS_MB = 3, 1
MINUTES_A_DAY = 1440
NODES, JVMS, ROWS, THREADS, WINDOWS = 4, 5, 300, 200, 240
QUICK_WINDOWS = 60
DEMO_MINUTES, QUICK_DEMO_MINUTES = 60, 4  # of one JVM
USER_TOKEN = "user-token-0123456789abcdef"  # of ingest.start_backend
PROFILES = ("profile_samples", "profile_windows", "profile_threads", "profile_stacks")
SNAPSHOTS = ("thread_snapshots", "thread_snapshot_runs", "deadlock_sightings")


def recording(quick):
    """Quick: a small one that is in the tree."""
    return backend.RECORDING if quick else recordings.get("medium")


def fill(folder, port, quick):
    windows = QUICK_WINDOWS if quick else WINDOWS
    say(f"{NODES * JVMS} JVMs, {windows} windows")
    begin = int(time.time() * 1000) - (windows + 1) * 60_000
    command = [
        place.BUILD / "tests/support/load/hotstack-load", "--recording", recording(quick), "--url", f"http://127.0.0.1:{port}",
        "--token-file", folder / "token", "--nodes", NODES, "--jvms", JVMS, "--rows", ROWS, "--threads", THREADS,
        "--windows", windows, "--start-ms", begin, "--heartbeat", 0, "--status", 0,
    ]  # fmt: skip
    done = subprocess.run([str(word) for word in command], env=place.installed_environment(), stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise BenchError(f"hotstack-load ended with {done.returncode}")
    return windows


def merge(store_port):
    """One part a table, in which each column is a file, so that its bytes can be told."""
    for table in PROFILES + SNAPSHOTS:
        backend.ask(store_port, f"ALTER TABLE {table} MODIFY SETTING min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0")
        backend.ask(store_port, f"OPTIMIZE TABLE {table} FINAL")


def tables(store_port):
    """{table: (rows, bytes)}"""
    out = backend.ask(store_port, "SELECT table, sum(rows), sum(data_compressed_bytes) FROM system.parts WHERE active AND "
                                  "database = 'hotstack' GROUP BY table")  # fmt: skip
    return {table: (int(rows), int(size)) for table, rows, size in (line.split("\t") for line in out.splitlines())}


def columns(store_port):
    """[(table, column, bytes)], the largest first."""
    out = backend.ask(store_port, "SELECT table, column, sum(column_data_compressed_bytes) AS size FROM system.parts_columns WHERE "
                                  "active AND database = 'hotstack' GROUP BY table, column ORDER BY size DESC")  # fmt: skip
    return [(table, column, int(size)) for table, column, size in (line.split("\t") for line in out.splitlines())]


@dataclass
class Stored:
    """A merged store: its tables {name: (rows, bytes)}, its columns, and for how long JVMs were recorded, in days of one."""

    tables: dict
    columns: list
    profile_days: float
    snapshot_days: float
    growth: float = 1  # stacks of a time t are as many as t to the power of this

    def day_mb(self, names):
        return sum(self.tables.get(name, (0, 0))[1] * self.times_a_day(name) for name in names) / 1e6

    def times_a_day(self, name):
        """By how much a table of a whole day is larger."""
        days = self.snapshot_days if name in SNAPSHOTS else self.profile_days
        return (1 / days) ** (self.growth if name == "profile_stacks" else 1)

    def add_to(self, section):
        kept = [name for name in PROFILES + SNAPSHOTS if self.tables.get(name, (0, 0))[0]]
        section.table(["table", "rows", "bytes", "bytes a row", "MB a JVM-day"],
                      [[name, f"{self.tables[name][0]:,}", f"{self.tables[name][1]:,}",
                        f"{self.tables[name][1] / self.tables[name][0]:.2f}", f"{self.day_mb([name]):.3f}"] for name in kept])  # fmt: skip
        section.table(["table", "column", "bytes a row"],
                      [[table, column, f"{size / self.tables[table][0]:.3f}"] for table, column, size in self.columns
                       if table in kept and size / self.tables[table][0] >= 0.01])  # fmt: skip


def snapshots_stored(port):
    """How many; 0 as long as the store does not answer yet."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/retention", headers={"Authorization": f"Bearer {USER_TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            tables = json.load(answer)["tables"]
    except urllib.error.HTTPError as error:
        if error.code == 503:
            return 0
        raise
    return next(row["rows"] for row in tables if row["table"] == "thread_snapshot_runs")


def growth_of_stacks(store_port):
    """The exponent by which the second half of the windows has added to the stacks of the first."""
    out = backend.ask(store_port, "SELECT time, countIf(is_first) FROM (SELECT time, time = min(time) OVER (PARTITION BY stack_id) AS is_first "
                                  "FROM (SELECT DISTINCT time, stack_id FROM profile_samples)) GROUP BY time ORDER BY time")  # fmt: skip
    new = [int(line.split("\t")[1]) for line in out.splitlines()]
    half = len(new) // 2
    if sum(new[:half]) == 0:
        raise BenchError("the demo service has too few windows to tell how its stacks grow: the machine is too busy")
    return math.log(sum(new) / sum(new[:half])) / math.log(len(new) / half)


def demo(quick):
    """The embedded store of a backend after some minutes of the demo service, and how many threads its JVM has."""
    minutes = QUICK_DEMO_MINUTES if quick else DEMO_MINUTES
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as name, live.Live(60, "normal") as running:
        folder = Path(name)
        running.start_services(1)
        with ingest.start_backend(folder, None) as process:
            try:
                port = ingest.port_of(folder, process)
                running.use_backend(port, ingest.COLLECTOR_TOKEN)
                running.start_collector(keep=False)
                say(f"recording the demo service for {minutes} minutes")
                for count in range(1, minutes + 1):
                    live.wait_for("a thread snapshot", lambda n=count: snapshots_stored(port) >= n)
            finally:
                process.terminate()
        with store.http_store(folder, "data") as (store_port, _):
            merge(store_port)
            recorded_ms, snapshots, threads = backend.ask(store_port, (
                "SELECT (SELECT sum(length_ms) FROM (SELECT max(length_ms) AS length_ms FROM profile_windows GROUP BY target_id, time)), "
                "countIf(threads_listed > 0), round(avgIf(threads_listed, threads_listed > 0)) FROM thread_snapshot_runs"
            )).split("\t")  # fmt: skip
            stored = Stored(tables(store_port), columns(store_port), int(recorded_ms) / 60_000 / MINUTES_A_DAY,
                            int(snapshots) / MINUTES_A_DAY, growth_of_stacks(store_port))  # fmt: skip
    return stored, threads


def fleet(quick):
    """Windows, and the store that a made-up fleet has filled."""
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as name, store.http_store(name) as (store_port, _):
        folder = Path(name)
        with ingest.start_backend(folder, store_port) as running:
            try:
                windows = fill(folder, ingest.port_of(folder, running), quick)
            finally:
                running.terminate()
        merge(store_port)
        days = NODES * JVMS * windows / MINUTES_A_DAY
        return windows, Stored(tables(store_port), columns(store_port), days, days)


def bench(quick):
    section = report.Section("storage", "Bytes in the store")
    recorded, threads = demo(quick)
    section.text(
        f"One JVM of the demo service at its default load, recorded at default settings for {recorded.profile_days * MINUTES_A_DAY:.0f} minutes"
        f" (a window and a snapshot of {threads} threads a minute), in the embedded store; merged, compressed. A JVM-day is that time continued;"
        " samples of one hour lie together, so that less than an hour gives an upper bound; stacks, of which each minute brings fewer new ones, by the"
        f" power of {recorded.growth:.2f} that the second half of the time shows."
    )
    recorded.add_to(section)
    windows, made = fleet(quick)
    section.text(
        f"A made-up fleet: {NODES * JVMS} JVMs of {NODES} nodes, {windows} minutes, {ROWS} rows a JVM-window with the stacks of "
        f"{'a small recording' if quick else 'the medium recording'}, a snapshot of {THREADS} threads a minute; merged, compressed."
    )
    made.add_to(section)
    section.target("P13: profiles of the demo service, MB a JVM-day", PROFILES_MB, recorded.day_mb(PROFILES), False)
    section.target(f"P13: snapshots of {THREADS} threads, MB a JVM-day", SNAPSHOTS_MB, made.day_mb(SNAPSHOTS), False)
    return section
