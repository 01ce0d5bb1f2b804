"""P10: a backend under made-up collectors; the store runs in a process of its own, so that its CPU is apart."""

import subprocess
import tempfile
import time
from pathlib import Path

from . import live, place, report, store
from .measure import BenchError, say

CPU_MS, MEMORY_MIB = 0.5, 256
STACKS = 2_000
WINDOWS_A_BATCH = 3  # of ingest-client
COLLECTORS, BATCHES = 200, 5
QUICK_COLLECTORS, QUICK_BATCHES = 8, 5


def start_backend(folder, store_port):
    (folder / "token").write_text("collector-token-0123456789\n", encoding="utf-8")
    (folder / "user").write_text("user-token-0123456789abcdef\n", encoding="utf-8")
    command = [
        place.installed("hotstack-backend"), "--listen", "127.0.0.1:0", "--port-file", folder / "backend.port",
        "--store-kind", "clickhouse", "--store-url", f"http://127.0.0.1:{store_port}",
        "--auth-collector-token-file", folder / "token", "--auth-user-token-file", folder / "user",
    ]  # fmt: skip
    with open(folder / "backend.log", "wb") as log:
        return subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env=place.installed_environment())


def clients(folder, port, collectors, batches, seed):
    program = place.BUILD / "tests/support/ingest-client/ingest-client"
    return [
        subprocess.Popen(
            [str(program), "--url", f"http://127.0.0.1:{port}", "--token-file", str(folder / "token"),
             "--start-ms", str(int(time.time() * 1000) // 60_000 * 60_000 - 600_000), "--count", str(batches),
             "--seed", str(seed + number * batches), "--rows", str(STACKS), "--stacks", str(STACKS)],
            stdout=subprocess.PIPE, text=True, env=place.installed_environment(),
        )
        for number in range(collectors)
    ]  # fmt: skip


def answers(running, pid):
    """All answers of the clients, and the backend's highest anonymous memory meanwhile."""
    peak = 0
    while any(client.poll() is None for client in running):
        peak = max(peak, live.anonymous_of(pid))
        time.sleep(0.02)
    return [line.split() for client in running for line in client.communicate()[0].splitlines()], peak


def bench(quick):
    section = report.Section("ingest", "A backend under made-up collectors")
    collectors, batches = (QUICK_COLLECTORS, QUICK_BATCHES) if quick else (COLLECTORS, BATCHES)
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as name, store.http_store(name) as (store_port, _):
        folder = Path(name)
        with start_backend(folder, store_port) as backend:
            try:
                measured = drive(folder, backend, collectors, batches)
            finally:
                backend.terminate()
    accepted, retried, cpu, wall, peak = measured
    windows = accepted * WINDOWS_A_BATCH
    section.text(
        f"{collectors} collectors at once, {batches} batches each of {WINDOWS_A_BATCH} windows of {STACKS:,} rows with their stacks:"
        f" {accepted} batches accepted, {retried} put off (retry), in {wall:.1f} s; the backend took {cpu:.2f} CPU s, without the store's."
    )
    section.target("P10: backend CPU a window", CPU_MS, cpu / windows * 1e3, False, " ms")
    section.target("P10: anonymous memory of the backend", MEMORY_MIB, peak / (1 << 20), False, " MiB")
    return section


def drive(folder, backend, collectors, batches):
    port_file = folder / "backend.port"

    def port_is_there():
        if backend.poll() is not None:
            raise BenchError(f"the backend ended: {(folder / 'backend.log').read_text(errors='replace')[-600:]}")
        return port_file.exists() and port_file.read_text().strip()

    port = int(live.wait_for("the backend's port", port_is_there))
    # One batch first: tables are made, the store is warm.
    live.wait_for("the first batch", lambda: any("accepted" in line for line in answers(clients(folder, port, 1, 1, 1), backend.pid)[0]))
    before, started = live.cpu_of(backend.pid), time.monotonic()
    say(f"{collectors} collectors, {batches} batches each")
    got, peak = answers(clients(folder, port, collectors, batches, 1000), backend.pid)
    wall = time.monotonic() - started
    cpu = live.cpu_of(backend.pid) - before
    outcomes = [line[2] for line in got]
    accepted = outcomes.count("accepted")
    if accepted == 0 or set(outcomes) - {"accepted", "retry"}:
        raise BenchError(f"the backend answered {sorted(set(map(tuple, (line[2:4] for line in got))))}")
    return accepted, outcomes.count("retry"), cpu, wall, peak
