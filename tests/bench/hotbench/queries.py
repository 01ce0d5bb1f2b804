# SPDX-License-Identifier: Apache-2.0
"""P12: how long the console waits for the threads and locks of one service, over an hour of snapshots."""

import http.client
import statistics
import subprocess
import time

from . import backend, place, report
from .measure import BenchError, median, say

P95_MS = 100
HOUR_MS = 3_600_000
NODES, WINDOWS = 1, 60
ROUNDS, QUICK_ROUNDS = 60, 10
QUERIES = {
    "busy and slow threads": "/v1/threads",
    "pools over time": "/v1/threads/lanes",
    "locks": "/v1/locks",
    "deadlocks": "/v1/deadlocks",
}


def fill(at, begin_ms):
    say(f"{NODES * backend.JVMS} JVMs of one service, {WINDOWS} snapshots of {backend.THREADS} threads each")
    command = backend.load_command(at, "--services", 1, "--nodes", NODES, "--rows", backend.ROWS, "--windows", WINDOWS,
                                   "--start-ms", begin_ms, "--heartbeat", 0, "--status", 0)  # fmt: skip
    done = subprocess.run(command, env=place.installed_environment(), stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise BenchError(f"hotstack-load ended with {done.returncode}")


def timed(connection, token, path):
    """Milliseconds until the whole answer is there."""
    begun = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise BenchError(f"{path}: HTTP {answer.status}: {body[:200].decode(errors='replace')}")
    return (time.perf_counter() - begun) * 1e3


def ask_all(at, begin_ms, rounds):
    """{query: times}. Each round asks for another end of the range, so that no answer is one that was kept."""
    token = (at.folder / "user").read_text(encoding="utf-8").strip()
    connection = http.client.HTTPConnection("127.0.0.1", at.port, timeout=60)
    times = {what: [] for what in QUERIES}
    for number in range(rounds + 1):
        for what, path in QUERIES.items():
            span = f"from={begin_ms}&to={begin_ms + HOUR_MS - number}"
            took = timed(connection, token, f"{path}?cluster=load&namespace=load&workload=service-0&{span}")
            if number > 0:  # the first one opens the tables
                times[what].append(took)
    connection.close()
    return times


def bench(quick):
    section = report.Section("queries", "Threads and locks of one service, one hour")
    begin_ms = int(time.time() * 1000) // 60_000 * 60_000 - HOUR_MS - 60_000
    with backend.rig(backend.EMBEDDED) as at:
        fill(at, begin_ms)
        times = ask_all(at, begin_ms, QUICK_ROUNDS if quick else ROUNDS)
    section.text(
        f"{NODES * backend.JVMS} JVMs of one service with a snapshot of {backend.THREADS} threads and a profile of {backend.ROWS} rows a"
        f" minute, in the embedded store: {NODES * backend.JVMS * WINDOWS * backend.THREADS:,} threads in an hour. Milliseconds from the"
        " request to the last byte of the answer."
    )
    p95 = {what: statistics.quantiles(values, n=20, method="inclusive")[-1] for what, values in times.items()}
    section.table(["query", "times", "median ms", "p95 ms", "most ms"],
                  [[what, len(values), f"{median(values):.1f}", f"{p95[what]:.1f}", f"{max(values):.1f}"]
                   for what, values in times.items()])  # fmt: skip
    for what, found in p95.items():
        section.target(f"P12: {what}, p95", P95_MS, found, False, " ms")
    return section
