# SPDX-License-Identifier: Apache-2.0
"""P13: bytes in the store: per JVM-day, profiles and snapshots apart, and per row of each table and column, merged."""

import subprocess
import tempfile
import time
from pathlib import Path

from . import backend, ingest, place, recordings, report, store
from .measure import BenchError, say

PROFILES_MB, SNAPSHOTS_MB = 3, 1
MINUTES_A_DAY = 1440
NODES, JVMS, ROWS, THREADS, WINDOWS = 4, 5, 300, 200, 240
QUICK_WINDOWS = 60
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
    for table in PROFILES + SNAPSHOTS:
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


def measured(quick):
    """Windows, the tables and their columns of a store that a fleet has filled."""
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as name, store.http_store(name) as (store_port, _):
        folder = Path(name)
        with ingest.start_backend(folder, store_port) as running:
            try:
                windows = fill(folder, ingest.port_of(folder, running), quick)
            finally:
                running.terminate()
        merge(store_port)
        return windows, tables(store_port), columns(store_port)


def bench(quick):
    section = report.Section("storage", "Bytes in the store")
    windows, sizes, parts = measured(quick)
    days = NODES * JVMS * windows / MINUTES_A_DAY

    def day_mb(names):
        return sum(sizes.get(name, (0, 0))[1] for name in names) / days / 1e6

    section.text(
        f"{NODES * JVMS} JVMs of {NODES} nodes, {windows} minutes, {ROWS} rows a JVM-window with the stacks of "
        f"{'a small recording' if quick else 'the medium recording'}, a snapshot of {THREADS} threads a minute; merged, compressed."
    )
    kept = [name for name in PROFILES + SNAPSHOTS if sizes.get(name, (0, 0))[0]]
    section.table(["table", "rows", "bytes", "bytes a row", "MB a JVM-day"],
                  [[name, f"{sizes[name][0]:,}", f"{sizes[name][1]:,}", f"{sizes[name][1] / sizes[name][0]:.2f}",
                    f"{day_mb([name]):.3f}"] for name in kept])  # fmt: skip
    section.table(["table", "column", "bytes a row"],
                  [[table, column, f"{size / sizes[table][0]:.3f}"] for table, column, size in parts
                   if table in kept and size / sizes[table][0] >= 0.01])  # fmt: skip
    section.target("P13: profiles, MB a JVM-day", PROFILES_MB, day_mb(PROFILES), False)
    section.target(f"P13: snapshots of {THREADS} threads, MB a JVM-day", SNAPSHOTS_MB, day_mb(SNAPSHOTS), False)
    return section
