# SPDX-License-Identifier: Apache-2.0
"""P10: a backend under made-up collectors; the store runs in a process of its own, so that its CPU is apart."""

import contextlib
import http.client
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from . import live, place, report, store
from .measure import BenchError, say

CPU_MS, MEMORY_MIB, STALL_MS = 0.5, 256, 100
COLLECTOR_TOKEN = "collector-token-0123456789"
BEAT_S = 0.01  # between two heartbeats of the one that waits for answers
STACKS = 2_000
WINDOWS_A_BATCH = 3  # of ingest-client
COLLECTORS, BATCHES, RETRIES = 200, 5, 1000
QUICK_COLLECTORS, QUICK_BATCHES = 8, 5


def start_backend(folder, store_port, *flags):
    """store_port None: the store is in the backend."""
    store_flags = ("--store-kind", "clickhouse", "--store-url", f"http://127.0.0.1:{store_port}") if store_port else (
        "--data-dir", folder / "data", "--store-library", store.library())  # fmt: skip
    (folder / "token").write_text(COLLECTOR_TOKEN + "\n", encoding="utf-8")
    (folder / "user").write_text("user-token-0123456789abcdef\n", encoding="utf-8")
    command = [
        place.installed("hotstack-backend"), "--listen", "127.0.0.1:0", "--port-file", folder / "backend.port",
        *store_flags, "--auth-collector-token-file", folder / "token", "--auth-user-token-file", folder / "user", *flags,
    ]  # fmt: skip
    with open(folder / "backend.log", "wb") as log:
        return subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env=place.installed_environment())


def client(folder, port, batches, seed, *flags):
    program = place.BUILD / "tests/support/ingest-client/ingest-client"
    command = [
        program, "--url", f"http://127.0.0.1:{port}", "--token-file", folder / "token",
        "--start-ms", int(time.time() * 1000) // 60_000 * 60_000 - 600_000, "--count", batches, "--seed", seed,
        "--rows", STACKS, "--stacks", STACKS, "--retries", RETRIES, *flags,
    ]  # fmt: skip
    with open(folder / f"answers-{seed}", "wb") as out:
        return subprocess.Popen([str(word) for word in command], stdout=out, env=place.installed_environment())


def answers(folder, port, pid, collectors, batches, seed, *flags):
    """All answers to so many clients, and the backend's highest anonymous memory meanwhile."""
    seeds = [seed + number * batches for number in range(collectors)]
    running = [client(folder, port, batches, one, *flags) for one in seeds]
    peak = 0
    while any(one.poll() is None for one in running):
        peak = max(peak, live.anonymous_of(pid))
        time.sleep(0.02)
    if any(one.returncode for one in running):
        raise BenchError(f"ingest-client ended with {sorted({one.returncode for one in running})}")
    return [line.split() for one in seeds for line in (folder / f"answers-{one}").read_text().splitlines()], peak


def bench(quick):
    section = report.Section("ingest", "A backend under made-up collectors")
    collectors, batches = (QUICK_COLLECTORS, QUICK_BATCHES) if quick else (COLLECTORS, BATCHES)
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as name, store.http_store(name) as (store_port, _):
        folder = Path(name)
        with start_backend(folder, store_port) as backend:
            try:
                port = warm_up(folder, backend)
                rounds = [(what, drive(folder, backend, port, collectors, batches, seed, *flags))
                          for what, seed, flags in (("brought along", 1_000, ()), ("known", 1_000_000, ("--no-stacks",)))]  # fmt: skip
            finally:
                backend.terminate()
    section.text(
        f"{collectors} collectors at once, {batches} batches each of {WINDOWS_A_BATCH} windows of {STACKS:,} rows; a batch that is put off"
        " is sent again when the answer says, until it is accepted. The backend's CPU, without the store's."
    )
    section.table(
        ["stacks", "batches accepted", "put off (retry)", "wall, s", "CPU, s", "CPU a window, ms", "anonymous memory, MiB",
         "heartbeat answered, ms: median", "99 %", "longest", "woken late, ms"],
        [[what, r.accepted, r.put_off, f"{r.wall:.1f}", f"{r.cpu:.2f}", f"{r.window_ms:.2f}", f"{r.peak / (1 << 20):.1f}",
          *(f"{r.waited(share):.1f}" for share in (0.5, 0.99, 1)), f"{r.late:.1f}"] for what, r in rounds],
    )  # fmt: skip
    for what, r in rounds:
        section.target(f"P10: backend CPU a window, stacks {what}", CPU_MS, r.window_ms, False, " ms")
    section.target("P10: the longest wait for the answer to a heartbeat", STALL_MS, max(r.waited(1) for _, r in rounds), False, " ms")
    section.target("P10: anonymous memory of the backend", MEMORY_MIB, max(r.peak for _, r in rounds) / (1 << 20), False, " MiB")
    return section


@dataclass
class Round:
    accepted: int
    put_off: int
    cpu: float
    wall: float
    peak: int
    waits: list  # for answers to heartbeats, ms, ascending
    late: float  # ms: by how much who sends them was at most woken too late, which is the machine's doing

    @property
    def window_ms(self):
        return self.cpu / (self.accepted * WINDOWS_A_BATCH) * 1e3

    def waited(self, share):
        """The wait that this share of all heartbeats had at most."""
        return self.waits[min(len(self.waits) - 1, int(share * len(self.waits)))]


def port_of(folder, backend):
    """The backend's port, once it serves."""
    port_file = folder / "backend.port"

    def port_is_there():
        if backend.poll() is not None:
            raise BenchError(f"the backend ended: {(folder / 'backend.log').read_text(errors='replace')[-600:]}")
        return port_file.exists() and port_file.read_text().strip()

    return int(live.wait_for("the backend's port", port_is_there))


def warm_up(folder, backend):
    """The backend's port, once a first batch is in: tables are made, the store is warm."""
    port = port_of(folder, backend)
    answers(folder, port, backend.pid, 1, 1, 1)
    return port


def text_field(number, value):
    return bytes([number << 3 | 2, len(value)]) + value.encode()


def heartbeat():
    """hotstack.v1.Heartbeat of a collector that has nothing to tell."""
    collector = b"".join(text_field(number, value) for number, value in ((1, "bench"), (2, "node"), (3, "pulse"), (4, "0")))
    return b"\x08\x01" + bytes([2 << 3 | 2, len(collector)]) + collector


@dataclass
class Pulse:
    waits: list
    late: float = 0


@contextlib.contextmanager
def pulse(port):
    """Sends heartbeats on a connection of its own, one after the other, and tells how long their answers took."""
    got, over, faults = Pulse([]), threading.Event(), []
    headers = {"Authorization": f"Bearer {COLLECTOR_TOKEN}", "Content-Type": "application/x-protobuf"}
    body = heartbeat()

    def beat():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=live.PATIENCE)
        idle = time.monotonic()
        while not over.wait(BEAT_S):
            started = time.monotonic()
            got.late = max(got.late, (started - idle - BEAT_S) * 1e3)
            connection.request("POST", "/v1/ingest/heartbeat", body, headers)
            answer = connection.getresponse()
            text = answer.read()
            idle = time.monotonic()
            got.waits.append((idle - started) * 1e3)
            if answer.status != 200:
                faults.append(f"a heartbeat was answered HTTP {answer.status}: {text!r}")
                return

    beating = threading.Thread(target=beat)
    beating.start()
    try:
        yield got
    finally:
        over.set()
        beating.join()
    if faults or not got.waits:
        raise BenchError(faults[0] if faults else "no heartbeat was answered")
    got.waits.sort()


def drive(folder, backend, port, collectors, batches, seed, *flags):
    before, started = live.cpu_of(backend.pid), time.monotonic()
    say(f"{collectors} collectors, {batches} batches each")
    with pulse(port) as beats:
        got, peak = answers(folder, port, backend.pid, collectors, batches, seed, *flags)
    wall = time.monotonic() - started
    cpu = live.cpu_of(backend.pid) - before
    outcomes = [line[2] for line in got]
    accepted = outcomes.count("accepted")
    if set(outcomes) - {"accepted", "retry"}:
        raise BenchError(f"the backend answered {sorted(set(map(tuple, (line[2:4] for line in got))))}")
    if accepted != collectors * batches:
        raise BenchError(f"{accepted} of {collectors * batches} batches were accepted")
    return Round(accepted, outcomes.count("retry"), cpu, wall, peak, beats.waits, beats.late)
