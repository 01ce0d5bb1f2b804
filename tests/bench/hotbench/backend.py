# SPDX-License-Identifier: Apache-2.0
"""P10: a backend under a simulated fleet of 20 JVMs a node (hotstack-load), then twice the nodes, until something breaks.

Each size runs with the store in the backend's own process, whose CPU is then the store's too, and the first ones also with the
store in a process of its own. Payloads are made before the first call."""

import contextlib
import json
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from . import ingest, live, place, report, store
from .measure import BenchError, say

CPU_MS, PARTS, MEMORY_MIB, BEAT_MS = 1, 6, 256, 100
STORE_MEMORY_MIB = 1024  # store.memory, which the embedded engine keeps to
JVMS, ROWS, MANY_ROWS, THREADS = 20, 300, 2_000, 200
NODES, WINDOWS, DOUBLINGS = 400, 3, 3  # of a minute each; one in the steps that follow the first
# As many calls a second as 400 nodes at the real cadence, from fewer nodes for a shorter time.
QUICK_NODES, QUICK_WINDOWS, QUICK_SPEED = 20, 6, 20
RECORDING = place.TREE / "tests/data/jfr/async-profiler-4.5-jdk17.jfr.gz"
PROFILE_TABLES = ("profile_stacks", "profile_threads", "profile_samples", "profile_windows", "ingestion_batches")
EMBEDDED, HTTP = "in the backend", "beside it"


@dataclass
class Step:
    store: str
    nodes: int
    rows: int
    came: dict
    backend_cpu: float
    store_cpu: float | None  # None: it is in backend_cpu
    peak: int
    parts: dict | None  # {table: parts that inserts made}; None: nobody can ask

    @property
    def batches(self):
        return self.came["batch"]["accepted"]

    def window_ms(self, cpu):
        return cpu / max(1, self.batches * JVMS) * 1e3

    def put_off(self):
        return self.came["batch"]["retry"] + self.came["batch"]["no_answer"]

    def broken(self):
        """Returns the targets that were missed, in words; empty: none were."""
        batch, beat = self.came["batch"], self.came["heartbeat"]
        faults = [
            (self.put_off(), f"{batch['retry']} calls were put off, {batch['no_answer']} had no answer"),
            (self.came["late_ms"] > 60_000, f"a batch was acknowledged {self.came['late_ms'] / 1e3:.0f} s after it was due"),
            (beat["p99_ms"] > BEAT_MS, f"1 of 100 heartbeats took {beat['p99_ms']:.0f} ms and more"),
        ]
        return "; ".join(text for fault, text in faults if fault)

    def parts_a_batch(self, tables):
        return sum(self.parts.get(table, 0) for table in tables) / max(1, self.batches)

    def beside_store_mib(self):
        return self.peak / (1 << 20) - (STORE_MEMORY_MIB if self.store == EMBEDDED else 0)

    def row(self):
        beat = self.came["heartbeat"]
        return [
            self.store, f"{self.nodes:,}", f"{self.rows:,}", f"{self.batches:,}", f"{self.window_ms(self.backend_cpu):.2f}",
            "in it" if self.store_cpu is None else f"{self.window_ms(self.store_cpu):.2f}", f"{self.peak / (1 << 20):.0f}",
            f"{beat['p50_ms']:.1f}", f"{beat['p99_ms']:.1f}", f"{self.came['batch']['p99_ms']:.0f}",
            f"{self.came['late_ms'] / 1e3:.1f}", self.broken() or "nothing",
        ]  # fmt: skip


def ask(port, sql):
    url = f"http://127.0.0.1:{port}/?{urllib.parse.urlencode({'database': 'hotstack'})}"
    with urllib.request.urlopen(url, sql.encode()) as answer:
        return answer.read().decode().strip()


def parts_written(port):
    """{table: parts that inserts have made}: a table numbers the blocks of a partition."""
    out = ask(port, "SELECT table, sum(last) FROM (SELECT table, partition, max(max_block_number) AS last FROM system.parts WHERE "
                    "database = 'hotstack' GROUP BY table, partition) GROUP BY table")  # fmt: skip
    return {table: int(count) for table, count in (line.split("\t") for line in out.splitlines())}


@dataclass
class Rig:
    """A backend that runs, with its store."""

    store: str
    folder: Path
    port: int
    backend_pid: int
    store_port: int | None
    store_pid: int | None

    def cpu(self):
        return live.cpu_of(self.backend_pid), live.cpu_of(self.store_pid) if self.store_pid else None

    def parts(self):
        return parts_written(self.store_port) if self.store_port else None


@contextlib.contextmanager
def rig(kind):
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hotstack-bench-")))
        flags = ("--http-connections", 20_000, "--http-connections-per-address", 20_000)
        store_port, store_pid = stack.enter_context(store.http_store(folder)) if kind == HTTP else (None, None)
        backend = stack.enter_context(ingest.start_backend(folder, store_port, *flags))
        try:
            yield Rig(kind, folder, ingest.warm_up(folder, backend), backend.pid, store_port, store_pid)
        finally:
            backend.terminate()
            backend.wait()


def load_command(at, *options):
    return [str(word) for word in (
        place.BUILD / "tests/support/load/hotstack-load", "--recording", RECORDING, "--url", f"http://127.0.0.1:{at.port}",
        "--token-file", at.folder / "token", "--jvms", JVMS, "--threads", THREADS, "--prepare", *options,
    )]  # fmt: skip


def watch(process, pid):
    """The highest anonymous memory of a process while another one runs."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, live.anonymous_of(pid))
        time.sleep(0.05)
    return peak


def drive(at, nodes, rows, windows, speed=1):
    say(f"store {at.store}: {nodes} nodes of {JVMS} JVMs, {rows} rows each, {windows} windows")
    parts = at.parts()
    backend_before, store_before = at.cpu()
    command = load_command(at, "--nodes", nodes, "--rows", rows, "--windows", windows, "--speed", speed,
                           "--seed", time.time_ns() // 1000 % (1 << 32),
                           "--start-ms", int(time.time() * 1000) - windows * 60_000)  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=place.installed_environment()) as load:
        out = []
        reader = threading.Thread(target=lambda: out.append(load.stdout.read()))
        reader.start()
        peak = watch(load, at.backend_pid)
        reader.join()
    if load.returncode:
        raise BenchError(f"hotstack-load ended with {load.returncode}")
    backend_after, store_after = at.cpu()
    backend_cpu = backend_after - backend_before
    store_cpu = store_after - store_before if store_before is not None else None
    made = {table: count - parts.get(table, 0) for table, count in at.parts().items()} if parts is not None else None
    return Step(at.store, nodes, rows, json.loads(out[0]), backend_cpu, store_cpu, peak, made)


def first_steps(at, quick):
    """A fleet with few rows, and one with many."""
    if quick:
        return [drive(at, QUICK_NODES, rows, QUICK_WINDOWS, QUICK_SPEED) for rows in (ROWS, MANY_ROWS)]
    return [drive(at, NODES, ROWS, WINDOWS), drive(at, NODES, MANY_ROWS, 1)]


def doublings(at):
    """Twice the nodes, and again, up to the first size that breaks something."""
    done = []
    for doubling in range(1, DOUBLINGS + 1):
        done.append(drive(at, NODES << doubling, ROWS, 1))
        if done[-1].broken():
            break
    return done


def add_targets(section, inside, beside):
    """The verdicts on the first step, with the store inside the backend and beside it."""
    both = (inside, beside)
    section.target("P10: batches put off for want of speed, store in the backend", 0, inside.put_off(), False)
    section.target(f"P10: backend CPU a JVM-window of {ROWS} rows, without the store's", CPU_MS,
                   beside.window_ms(beside.backend_cpu), False, " ms")  # fmt: skip
    section.target("P10: parts a batch in the tables of profiles and in the ledger", PARTS, beside.parts_a_batch(PROFILE_TABLES), False)
    section.target("P10: anonymous memory of the backend beside store.memory", MEMORY_MIB,
                   max(step.beside_store_mib() for step in both), False, " MiB")  # fmt: skip
    section.target("P10: heartbeat, 99 %", BEAT_MS, max(step.came["heartbeat"]["p99_ms"] for step in both), False, " ms")


def bench(quick):
    section = report.Section("backend", "A backend under a simulated fleet")
    with rig(HTTP) as at:
        beside = first_steps(at, quick)
    with rig(EMBEDDED) as at:
        inside = first_steps(at, quick)
        grown = [] if quick else doublings(at)
    cadence = (
        f"{QUICK_NODES} nodes at {QUICK_SPEED} times the real cadence, which makes as many calls a second as {NODES} nodes"
        if quick else "a batch a node and minute"
    )  # fmt: skip
    section.text(
        f"{JVMS} JVMs a node, each with a profile and a snapshot of {THREADS} threads a minute; {cadence}. CPU a JVM-window. The store is in"
        " the backend (embedded), or beside it (chdb-http, a process of its own)."
    )
    section.table(
        ["store", "nodes", "rows a JVM-window", "batches accepted", "backend CPU, ms", "store's CPU, ms", "anonymous memory, MiB",
         "heartbeat, ms: median", "99 %", "batch, ms: 99 %", "latest, s after due", "what broke"],
        [step.row() for step in (*inside, *beside, *grown)],
    )  # fmt: skip
    if grown:
        last = grown[-1]
        section.text(f"Doubled: {last.nodes:,} nodes broke it: {last.broken()}." if last.broken()
                     else f"Doubled: {last.nodes:,} nodes broke nothing; more were not tried.")  # fmt: skip
    first = beside[0]
    section.text(f"Parts that inserts made, by table, a batch of profiles and snapshots together ({ROWS} rows):")
    section.table(["table", "parts a batch"],
                  [[table, f"{first.parts_a_batch([table]):.2f}"] for table in sorted(first.parts) if first.parts[table]]
                  + [["together", f"{first.parts_a_batch(first.parts):.2f}"]])  # fmt: skip
    add_targets(section, inside[0], first)
    return section
