# SPDX-License-Identifier: Apache-2.0
"""P15: how long `hotstack profile` takes beyond what it records, and how large a page's data is, beside asprof's."""

import pathlib
import re
import subprocess
import tempfile
import time

from . import live, measure, place, recordings, report, threads
from .measure import BenchError, median, say

SECONDS, QUICK_SECONDS = 10, 2
ROUNDS, QUICK_ROUNDS = 5, 2
BEYOND_MS = 200
OTHERS = ("cpu-only", "medium")  # recordings of many stacks
OURS = re.compile(r'<script type="application/json" id="hotstack-data">(.*?)</script>', re.DOTALL)
THEIRS = re.compile(r"^const cpool = \[.*?(?=</script>)", re.DOTALL | re.MULTILINE)


def hotstack(*words):
    """Runs it and returns its wall time in seconds."""
    environment = dict(threads.environment(), HOTSTACK_ASYNC_PROFILER=str(place.PROFILER))
    command = measure.words([place.installed("hotstack"), *words])
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode:
        raise BenchError(f"{' '.join(command)}: {done.stderr[-600:]}")
    return time.monotonic() - begin


def data_of(page, pattern):
    found = pattern.findall(page.read_text(encoding="utf-8"))
    if len(found) != 1:
        raise BenchError(f"{page.name}: the page's data is not where it is expected")
    return len(found[0].encode())


def data_sizes(recording, folder):
    """(ours, asprof's) bytes of the CPU flame graph of a recording, the template apart."""
    ours, theirs = folder / "ours.html", folder / "theirs.html"
    hotstack("convert", "-t", "cpu", recording, "-o", ours)
    measure.run([place.java(17), "-jar", place.CONVERTER, "--cpu", "-o", "html", recording, theirs])
    return data_of(ours, OURS), data_of(theirs, THEIRS)


def bench(quick):
    section = report.Section("profile", "`hotstack profile` of one JVM")
    seconds, rounds = (QUICK_SECONDS, QUICK_ROUNDS) if quick else (SECONDS, ROUNDS)
    with live.Live(seconds, "normal") as running, tempfile.TemporaryDirectory(prefix="hotstack-bench-") as folder:
        out = pathlib.Path(folder)
        running.start_services(1)
        pid = running.services[0].pid
        hotstack("profile", "-d", 1, "-f", out / "warm.html", pid)
        say(f"{rounds} recordings of {seconds} s")
        beyond = [hotstack("profile", "-d", seconds, "-f", out / "x.html", pid) - seconds for _ in range(rounds)]
        hotstack("profile", "-d", seconds, "-e", "cpu", "-f", out / "x.jfr", pid)
        sizes = {"the demo service": data_sizes(out / "x.jfr", out)}
        sizes |= {name: data_sizes(recordings.file_of(name), out) for name in OTHERS}
    section.text(f"P15: `hotstack profile -d {seconds} -f x.html PID` on the demo service, its default load, profiled before: the wall time beyond"
                 f" {seconds} s, {rounds} times: {', '.join(f'{one * 1000:.0f}' for one in beyond)} ms. Then a"
                 " recording's CPU flame graph as a page, the template apart, nothing cut in either. Ours holds each name whole, so that `grep`"
                 " finds it, and what is known of the recording; in a small one these are most of it.")  # fmt: skip
    section.table(["recording", "hotstack, bytes", "jfrconv, bytes"], [[name, f"{ours:,}", f"{theirs:,}"] for name, (ours, theirs) in sizes.items()])
    section.target(f"P15: beyond the {seconds} s, median", BEYOND_MS, median(beyond) * 1000, False, " ms")
    for name, (ours, theirs) in sizes.items():
        section.target(f"P15: data in the page, of asprof's, {name}", 1, ours / theirs, False)
    return section
