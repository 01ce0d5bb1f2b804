# SPDX-License-Identifier: Apache-2.0
"""P9: rows into ClickHouse, embedded and over HTTP, in blocks of 100,000; beside clickhouse-connect."""

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

from . import live, measure, place, report
from .measure import BenchError, median

EMBEDDED, CLIENT = 1.5, 5  # M rows a second; clickhouse-connect's client CPU over ours
BLOCKS, QUICK_BLOCKS = 20, 5
PYTHON = place.CACHE / "venv" / "bin" / "python"


def library():
    found = Path(os.environ.get("HOTSTACK_LIBCHDB") or place.CACHE / "chdb" / "libchdb.so")
    if not found.exists():
        raise BenchError("there is no embedded store on this machine: deploy/dependencies/install demo")
    return found


@contextlib.contextmanager
def http_store(folder, data="http"):
    """chdb-http: ClickHouse's HTTP interface over the embedded engine, in a process of its own; yields (port, pid).

    data: the folder's directory that the engine stores in."""
    port_file = Path(folder) / "port"
    with subprocess.Popen(
        [str(place.BUILD / "tests/support/chdb-http/chdb-http"), "--path", str(Path(folder) / data),
         "--port", "0", "--port-file", str(port_file)],
        env=dict(place.installed_environment(), HOTSTACK_LIBCHDB=str(library())), stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            live.wait_for("chdb-http's port", lambda: port_file.exists() and port_file.read_text().strip())
            yield int(port_file.read_text()), process.pid
        finally:
            process.terminate()


def figures(command, blocks):
    """(rows a second of wall time, client CPU seconds a million rows)"""
    rows, wall, cpu = map(float, measure.run(command, env=place.installed_environment()).out.split())
    if rows != blocks * 100_000:
        raise BenchError(f"{command[0]} wrote {rows:.0f} rows, not {blocks * 100_000}")
    return rows / wall, cpu / rows * 1e6


def embedded(program, blocks):
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as folder:
        return figures([program, "embedded", library(), Path(folder) / "store", blocks], blocks)


def bench(quick):
    section = report.Section("store", "Rows into ClickHouse, blocks of 100,000")
    program = place.BUILD / "tests" / "bench" / "store-rows"
    blocks, rounds = (QUICK_BLOCKS, 3) if quick else (BLOCKS, 5)
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as folder, http_store(folder) as (port, _):
        runs = measure.alternated(
            {
                "libchsink, embedded": (lambda: embedded(program, blocks), None),
                "libchsink, HTTP": (lambda: figures([program, "http", f"http://127.0.0.1:{port}", blocks], blocks), None),
                "clickhouse-connect, HTTP": (
                    lambda: figures([PYTHON, place.HERE / "connect_rows.py", port, blocks], blocks), None
                ),
            },
            rounds,
            measure.say,
        )  # fmt: skip
    found = {name: (median([r[0] for r in all_runs]), median([r[1] for r in all_runs])) for name, all_runs in runs.items()}
    section.text(
        "Eight columns into a MergeTree table with deduplication; whole columns are appended, encoded and inserted, making them is not"
        " counted. Over HTTP, uncompressed, to chdb-http, the same engine in a process of its own; embedded, the CPU is the engine's too."
    )
    section.table(
        ["client", "M rows a second (wall)", "client CPU s a million rows"],
        [[name, f"{rate / 1e6:.2f}", report.seconds(cpu)] for name, (rate, cpu) in found.items()],
    )
    section.target("P9: embedded", EMBEDDED, found["libchsink, embedded"][0] / 1e6, unit=" M rows/s")
    section.target(
        "P9: clickhouse-connect's client CPU over ours, HTTP", CLIENT,
        found["clickhouse-connect, HTTP"][1] / found["libchsink, HTTP"][1],
    )  # fmt: skip
    return section
