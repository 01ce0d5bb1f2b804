# SPDX-License-Identifier: Apache-2.0
"""P16: how long thread snapshots stop a JVM, taken by the command line and by the collector, beside the JDK's own dumps."""

import contextlib
import hashlib
import json
import pathlib
import re
import subprocess
import tempfile

from . import live, measure, place, report
from .measure import BenchError, median, say

SOURCE = place.TREE / "daemons" / "shared" / "attachclient" / "tests" / "java" / "Threads.java"
THREADS, DEPTH, LIVE_MB, SMALL_MB = 1000, 60, 3072, 64
ROUNDS, QUICK_ROUNDS = 9, 3
COLLECTED, QUICK_COLLECTED = 20, 5  # snapshots that the collector takes
JDKS, QUICK_JDKS = (17, 21, 25), (21,)
PAUSE_MS, NOISE_MS = 10, 1
LINE = re.compile(r'Safepoint "(ThreadDump|FindDeadlocks|PrintThreads|PrintJNI)".* Total: +(\d+) ns')
DUMP = ("threads", "--json", "-d", "0", "--full", "--depth", "2048")
OURS, COLLECTOR = "default snapshot", "the collector's snapshots"
PLAIN, LOCKS, PRINT = "dumpAllThreads(true, false)", "dumpAllThreads(true, true)", "Thread.print -l"
KINDS = {OURS: ("threads", "--json", "-d", "0"), PLAIN: DUMP, LOCKS: (*DUMP, "--synchronizers"), PRINT: None}
SEARCH = 'Safepoint "FindDeadlocks"'  # one a snapshot
TRUNCATED = 3  # exit code: written, and a part was left out


def classes():
    out = place.BENCH_CACHE / "classes" / f"threads-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}"
    return out if out.exists() else place.compile_java(out, [SOURCE], "--release", "11")


def environment():
    return dict(place.installed_environment(),
                HOTSTACK_ATTACH_WORKER=str(place.BUILD / "daemons/attachd/worker/hotstack-attach-worker"))  # fmt: skip


@contextlib.contextmanager
def crowd(jdk, live_mb, log):
    """A JVM with that many threads and that much live data, whose collector does nothing between collections."""
    command = [
        place.java(jdk), f"-Xmx{live_mb * 3 // 2 + 512}m", "-XX:+UseSerialGC", "-Xmn256m",
        f"-Xlog:safepoint:file={log}:none:filecount=0", *(["-XX:+EnableDynamicAgentLoading"] if jdk >= 21 else []),
        "-cp", classes(), "Threads", "deep", THREADS, DEPTH, live_mb,
    ]  # fmt: skip
    jvm = subprocess.Popen(measure.words(command), stdout=subprocess.PIPE, text=True)
    try:
        if jvm.stdout.readline() != "ready\n":
            raise BenchError(f"the JVM with {THREADS} threads did not come up")
        yield jvm.pid
    finally:
        jvm.kill()
        jvm.wait()
        pathlib.Path(f"/tmp/.java_pid{jvm.pid}").unlink(missing_ok=True)


def paused(log, begin):
    """Milliseconds of the dumps' safepoints that the log tells of from byte `begin` on: in all, and the longest."""
    with open(log, encoding="utf-8") as file:
        file.seek(begin)
        found = [int(match.group(2)) / 1e6 for match in map(LINE.search, file) if match]
    return sum(found), max(found)


def ask(pid, kind):
    words = (*KINDS[kind], pid) if KINDS[kind] else ("jcmd", pid, *kind.split())
    command = measure.words([place.installed("hotstack"), *words])
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    if done.returncode not in (0, TRUNCATED):
        raise BenchError(f"{' '.join(command)}: {done.stderr[-600:]}")
    return json.loads(done.stdout)["meta"]["stacks"] if KINDS[kind] else 0


def collected(pid, log, snapshots):
    """Milliseconds in safepoints of one of the collector's snapshots, the mean, and of the longest of their safepoints."""
    rule = 'main_class: "Threads", workload: threads, threads: 1s, events: cpu'
    begin = log.stat().st_size

    def searches():
        running.alive("collector")
        return log.read_text(encoding="utf-8").count(SEARCH, begin)

    with live.Live(10, "normal") as running:
        running.start_ingest()
        running.start_collector(keep=False, rule=rule)
        live.wait_for(f"{snapshots} snapshots of {pid}", lambda: searches() > snapshots)
        total, longest = paused(log, begin)
        return total / searches(), longest


def pauses(jdk, live_mb, rounds, snapshots):
    """{kind: medians of its milliseconds in safepoints, of the longest one, and of its stacks}"""
    say(f"JDK {jdk}, {live_mb} MB live: {rounds} rounds")
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as folder:
        log = pathlib.Path(folder) / "safepoints"

        def pause(kind):
            begin = log.stat().st_size
            stacks = ask(pid, kind)
            return (*paused(log, begin), stacks)

        with crowd(jdk, live_mb, log) as pid:
            for kind in KINDS:
                ask(pid, kind)  # classes and agents are loaded once
            found = measure.alternated({kind: (lambda k=kind: pause(k), None) for kind in KINDS}, rounds)
            by_collector = collected(pid, log, snapshots)
    return {kind: [median(column) for column in zip(*times)] for kind, times in found.items()} | {COLLECTOR: (*by_collector, 0)}


def bench(quick):
    section = report.Section("threads", "How long thread snapshots stop a JVM")
    rounds, snapshots = (QUICK_ROUNDS, QUICK_COLLECTED) if quick else (ROUNDS, COLLECTED)
    section.text(f"P16: {THREADS:,} threads of depth {DEPTH}, a serial collector; milliseconds in safepoints as `-Xlog:safepoint` has them"
                 f" (dumps and searches for deadlocks), of which the longest, and how many stacks; medians of {rounds} rounds, the four in turn."
                 f" The dumps of all threads are taken by the same agent. The collector takes a snapshot a second, {snapshots} of them: the mean,"
                 " and the longest of all.")  # fmt: skip
    rows = []
    for jdk in QUICK_JDKS if quick else JDKS:
        loaded, small = pauses(jdk, LIVE_MB, rounds, snapshots), {kind: ms for kind, (ms, _, _) in pauses(jdk, SMALL_MB, rounds, snapshots).items()}
        large = {kind: ms for kind, (ms, _, _) in loaded.items()}
        for kind, (ms, longest, stacks) in loaded.items():
            rows.append([jdk, kind, f"{ms:.2f}", f"{longest:.2f}", f"{stacks:.0f}" if stacks else "", f"{small[kind]:.2f}",
                         f"{ms / large[OURS]:.1f}"])  # fmt: skip
        section.target(f"P16 JDK {jdk}: pause of the default snapshot", PAUSE_MS, large[OURS], False, " ms")
        section.target(f"P16 JDK {jdk}: the longest pause of {COLLECTOR}", PAUSE_MS, loaded[COLLECTOR][1], False, " ms")
        section.target(f"P16 JDK {jdk}: {PLAIN} over it", 3, large[PLAIN] / large[OURS])
        section.target(f"P16 JDK {jdk}: {LOCKS} over it", 30, large[LOCKS] / large[OURS])
        section.target(f"P16 JDK {jdk}: {PRINT} over it", 30, large[PRINT] / large[OURS])
        flat = max(0, large[OURS] - NOISE_MS) / small[OURS]
        section.target(f"P16 JDK {jdk}: the snapshot's pause, less {NOISE_MS} ms, over that with {SMALL_MB} MB live", 1.5, flat, False)
    section.table(["JDK", "what", f"{LIVE_MB} MB live, ms", "longest", "stacks", f"{SMALL_MB} MB live, ms", "over ours"], rows)
    return section
