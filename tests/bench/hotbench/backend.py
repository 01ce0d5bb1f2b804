# SPDX-License-Identifier: Apache-2.0
"""P10: a backend under a simulated fleet of 20 JVMs a node (hotstack-load), then twice the nodes, until something breaks.

The store runs in a process of its own, so that its CPU is apart. Payloads are made before the first call."""

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
JVMS, ROWS, MANY_ROWS, THREADS = 20, 300, 2_000, 200
NODES, WINDOWS, DOUBLINGS = 400, 5, 4
# As many calls a second as 400 nodes at the real cadence, from fewer nodes for a shorter time.
QUICK_NODES, QUICK_WINDOWS, QUICK_SPEED = 20, 8, 20
RECORDING = place.TREE / "tests/data/jfr/async-profiler-4.5-jdk17.jfr.gz"


@dataclass
class Step:
    nodes: int
    rows: int
    came: dict
    backend_cpu: float
    store_cpu: float
    peak: int
    parts: int

    @property
    def batches(self):
        return self.came["batch"]["accepted"]

    def window_ms(self, cpu):
        return cpu / max(1, self.batches * JVMS) * 1e3

    def broken(self):
        """What did not hold, in words; empty: all did."""
        batch, beat = self.came["batch"], self.came["heartbeat"]
        faults = [
            (batch["retry"] + batch["no_answer"], f"{batch['retry']} batches were put off, {batch['no_answer']} calls had no answer"),
            (self.came["late_ms"] > 60_000, f"a batch was acknowledged {self.came['late_ms'] / 1e3:.0f} s after it was due"),
            (beat["p99_ms"] > BEAT_MS, f"1 of 100 heartbeats took {beat['p99_ms']:.0f} ms and more"),
        ]
        return "; ".join(text for fault, text in faults if fault)

    def row(self):
        beat = self.came["heartbeat"]
        return [
            f"{self.nodes:,}", f"{self.rows:,}", f"{self.batches:,}", f"{self.window_ms(self.backend_cpu):.2f}",
            f"{self.window_ms(self.store_cpu):.2f}", f"{self.parts / max(1, self.batches):.1f}", f"{self.peak / (1 << 20):.0f}",
            f"{beat['p50_ms']:.1f}", f"{beat['p99_ms']:.1f}", f"{self.came['batch']['p99_ms']:.0f}", self.broken() or "nothing",
        ]  # fmt: skip


def ask(port, sql):
    url = f"http://127.0.0.1:{port}/?{urllib.parse.urlencode({'database': 'hotstack'})}"
    with urllib.request.urlopen(url, sql.encode()) as answer:
        return answer.read().decode().strip()


def parts_written(port):
    """Parts that inserts have made since the store began."""
    return int(ask(port, "SELECT sum(value) FROM system.events WHERE event = 'MergeTreeDataWriterBlocks'") or 0)


def load_command(folder, port, *options):
    return [str(word) for word in (
        place.BUILD / "tests/support/load/hotstack-load", "--recording", RECORDING, "--url", f"http://127.0.0.1:{port}",
        "--token-file", folder / "token", "--jvms", JVMS, "--threads", THREADS, "--prepare", *options,
    )]  # fmt: skip


def watch(process, pid):
    """The highest anonymous memory of a process while another one runs."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, live.anonymous_of(pid))
        time.sleep(0.05)
    return peak


def drive(folder, backend_pid, ports, store_pid, nodes, rows, windows, speed):
    say(f"{nodes} nodes of {JVMS} JVMs, {rows} rows each, {windows} windows")
    before = [live.cpu_of(pid) for pid in (backend_pid, store_pid)], parts_written(ports[1])
    command = load_command(folder, ports[0], "--nodes", nodes, "--rows", rows, "--windows", windows, "--speed", speed,
                           "--seed", time.time_ns() // 1000 % (1 << 32),
                           "--start-ms", int(time.time() * 1000) - windows * 60_000)  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=place.installed_environment()) as load:
        out = []
        reader = threading.Thread(target=lambda: out.append(load.stdout.read()))
        reader.start()
        peak = watch(load, backend_pid)
        reader.join()
    if load.returncode:
        raise BenchError(f"hotstack-load ended with {load.returncode}")
    cpu = [live.cpu_of(pid) - was for pid, was in zip((backend_pid, store_pid), before[0])]
    return Step(nodes, rows, json.loads(out[0]), *cpu, peak, parts_written(ports[1]) - before[1])


def steps(folder, backend_pid, ports, store_pid, quick):
    """The first step, one with more rows, and doublings up to the first that breaks something."""
    if quick:
        sizes = [(QUICK_NODES, ROWS), (QUICK_NODES, MANY_ROWS)]
        return [drive(folder, backend_pid, ports, store_pid, nodes, rows, QUICK_WINDOWS, QUICK_SPEED) for nodes, rows in sizes]
    done = [drive(folder, backend_pid, ports, store_pid, NODES, rows, WINDOWS, 1) for rows in (ROWS, MANY_ROWS)]
    for doubling in range(1, DOUBLINGS + 1):
        done.append(drive(folder, backend_pid, ports, store_pid, NODES << doubling, ROWS, WINDOWS, 1))
        if done[-1].broken():
            break
    return done


def bench(quick):
    section = report.Section("backend", "A backend under a simulated fleet")
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as name, store.http_store(name) as (store_port, store_pid):
        folder = Path(name)
        with ingest.start_backend(folder, store_port, "--http-connections", 20_000, "--http-connections-per-address", 20_000) as backend:
            try:
                port = ingest.warm_up(folder, backend)
                done = steps(folder, backend.pid, (port, store_port), store_pid, quick)
            finally:
                backend.terminate()
    cadence = (
        f"{QUICK_NODES} nodes at {QUICK_SPEED} times the real cadence, which makes as many calls a second as {NODES} nodes"
        if quick else "a batch a node and minute"
    )  # fmt: skip
    section.text(
        f"{JVMS} JVMs a node, each with a profile and a snapshot of {THREADS} threads a minute; {cadence}. CPU a JVM-window, the store's"
        " (chdb-http, a process of its own) apart."
    )
    section.table(
        ["nodes", "rows a JVM-window", "batches accepted", "backend CPU, ms", "store's CPU, ms", "parts a batch",
         "anonymous memory, MiB", "heartbeat, ms: median", "99 %", "batch, ms: 99 %", "what broke"],
        [step.row() for step in done],
    )  # fmt: skip
    first = done[0]
    batch = first.came["batch"]
    section.target("P10: batches put off for want of speed", 0, batch["retry"] + batch["no_answer"], False)
    section.target(f"P10: backend CPU a JVM-window of {ROWS} rows", CPU_MS, first.window_ms(first.backend_cpu), False, " ms")
    section.target("P10: parts a batch", PARTS, first.parts / max(1, first.batches), False)
    section.target("P10: anonymous memory of the backend", MEMORY_MIB, first.peak / (1 << 20), False, " MiB")
    section.target("P10: heartbeat, 99 %", BEAT_MS, first.came["heartbeat"]["p99_ms"], False, " ms")
    return section
