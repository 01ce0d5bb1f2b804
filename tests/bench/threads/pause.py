#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long thread snapshots stop a JVM, beside the JDK's own dumps.

usage: pause.py HOTSTACK WORKER AGENT CLASSES ATTACH_LIST [--threads N] [--live MB] [--rounds N] [--java JAVA]
A JVM with 1,000 threads of depth 60 and 3 GB of live heap; then the same with little heap. The kinds take turns; a figure is
the median over the rounds of the safepoint time that the JVM logs (-Xlog:safepoint, "Total", thread dumps and searches for
deadlocks only). The targets: the default snapshot stops it for at most 10 ms, 1/3 of dumpAllThreads(true, false), 1/30 of
dumpAllThreads(true, true) and of Thread.print -l, and does not grow with the heap. Exits with 1 when one is missed.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
LINE = re.compile(r'Safepoint "(ThreadDump|FindDeadlocks|PrintThreads|PrintJNI)".* Total: +(\d+) ns')
KINDS = {
    "default snapshot": ("threads", "--json", "-d", "0"),
    "dumpAllThreads(true, false)": ("threads", "--json", "-d", "0", "--full", "--depth", "2048"),
    "dumpAllThreads(true, true)": ("threads", "--json", "-d", "0", "--full", "--synchronizers", "--depth", "2048"),
    "Thread.print -l": None,
}
OURS = "default snapshot"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("hotstack", "worker", "agent", "classes", "attach_list"):
        parser.add_argument(name)
    parser.add_argument("--threads", type=int, default=1000)
    parser.add_argument("--live", type=int, default=3072)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--java", default=str(CACHE / "jdk/21/bin/java"))
    return parser.parse_args()


def paused(log, begin):
    """Milliseconds of the safepoints that the log tells of from byte `begin` on."""
    with open(log, encoding="utf-8") as file:
        file.seek(begin)
        return sum(int(match.group(2)) for match in map(LINE.search, file) if match) / 1e6


def ask(asked, pid, kind):
    if KINDS[kind] is None:
        command = [asked.attach_list, str(pid), kind]
    else:
        command = [asked.hotstack, *KINDS[kind], str(pid)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, HOTSTACK_ATTACH_WORKER=asked.worker, HOTSTACK_THREAD_AGENT=asked.agent))
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: {done.stderr}")


def measure(asked, live):
    with tempfile.TemporaryDirectory() as directory:
        log = pathlib.Path(directory) / "safepoints"
        # a collector that does nothing between collections: what is timed is the dumps' own walk
        jvm = subprocess.Popen([asked.java, f"-Xmx{live + live // 2 + 512}m", "-XX:+UseSerialGC", "-Xmn256m",
                                "-XX:+EnableDynamicAgentLoading",
                                f"-Xlog:safepoint:file={log}:none:filecount=0", "-cp", asked.classes, "Threads", "deep",
                                str(asked.threads), "60", str(live)], stdout=subprocess.PIPE, text=True)
        try:
            if jvm.stdout.readline() != "ready\n":
                sys.exit("the JVM did not come up")
            found = {kind: [] for kind in KINDS}
            for _ in range(asked.rounds):
                for kind in KINDS:
                    begin = log.stat().st_size
                    ask(asked, jvm.pid, kind)
                    found[kind].append(paused(log, begin))
            return {kind: statistics.median(times) for kind, times in found.items()}
        finally:
            jvm.kill()
            jvm.wait()
            pathlib.Path(f"/tmp/.java_pid{jvm.pid}").unlink(missing_ok=True)


def main():
    asked = arguments()
    if not pathlib.Path(asked.java).exists():
        print(f"no {asked.java}: run deploy/dependencies/install test")
        return 77
    large, small = measure(asked, asked.live), measure(asked, 64)
    print(f"{asked.threads} threads of depth 60, medians of {asked.rounds} rounds, ms in safepoints")
    print(f"{'':30} {asked.live:>7} MB {64:>7} MB   ratio to ours")
    for kind in KINDS:
        print(f"{kind:30} {large[kind]:10.2f} {small[kind]:10.2f} {large[kind] / large[OURS]:15.1f}")
    targets = {
        "at most 10 ms": large[OURS] <= 10,
        "1/3 of dumpAllThreads(true, false)": large[OURS] * 3 <= large["dumpAllThreads(true, false)"],
        "1/30 of dumpAllThreads(true, true)": large[OURS] * 30 <= large["dumpAllThreads(true, true)"],
        "1/30 of Thread.print -l": large[OURS] * 30 <= large["Thread.print -l"],
        "flat in the heap's size": large[OURS] <= small[OURS] * 1.5 + 1,
    }
    for name, held in targets.items():
        print(f"{'held' if held else 'MISSED'}: {name}")
    return 0 if all(targets.values()) else 1


sys.exit(main())
