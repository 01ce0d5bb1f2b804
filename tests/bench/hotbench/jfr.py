# SPDX-License-Identifier: Apache-2.0
"""P1, P2, P3: recordings to totals per type, thread and stack; CPU, memory, cores; against the peers."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

from . import measure, ours, peers, recordings, report
from .measure import BenchError, median, say

# How many times less CPU than jfrconv's three runs `hotstack convert` to collapsed text takes.
TARGETS = {"medium": 35, "large": 25, "cat": 25, "jdk25-cat": 35}
MEMORY_BASE, MEMORY_PER_STACK = 8 << 20, 200
TWO_THREADS = 1.6
REPORTED = ("cpu-only", "jdk17-default", "jdk17-profile", "jdk25-default", "jdk25-profile")
ROUNDS = 11  # jfrconv's CPU differs by a third from run to run
SLOW_ROUNDS = 2  # of the peers that no target names


# ---- do all see the same? ----


def check_totals(name, path, work):
    """Every reader's samples and values equal; returns how many readers agreed."""
    truth = recordings.shape(name)["totals"]
    jdk_made = name.startswith("jdk")
    readers = {"jfrs": json.loads(measure.run(peers.jfrs_command(path)).out), "JMC": None}
    if recordings.ALL[name].maker != "cat":  # JMC counts chunks of equal bytes once
        readers["JMC"] = json.loads(measure.run(peers.jmc_command(path)).out)
    if ours.has_totals():
        readers["hotstack"] = ours.totals(path)
    for reader, found in readers.items():
        for kind in peers.KINDS if found else ():
            if jdk_made and kind == "lock":
                continue  # the readers differ in which parks are contention
            compare(name, reader, kind, found.get(kind, {"samples": 0, "value": 0}), truth[kind])
    if not jdk_made:
        for kind in peers.KINDS:
            out = work / "check.collapsed"
            measure.run(peers.jfrconv_command(path, kind, out))
            if peers.collapsed_samples(out) != truth[kind]["samples"]:
                raise BenchError(f"{name}: jfrconv counts other {kind} samples than the JDK's reader")
    return 1 + sum(found is not None for found in readers.values()) + (not jdk_made)


def compare(name, reader, kind, found, truth):
    wrong = found["samples"] != truth["samples"] or (kind == "alloc" and found["value"] != truth["value"])
    if wrong:
        raise BenchError(f"{name}: {reader} finds {kind} {found}, the JDK's reader {truth}")


# ---- measuring one recording ----


def one_run(command):
    return lambda: measure.run(command).cpu


def several(commands, into):
    return lambda: sum(measure.run(command, into=into).cpu for command in commands)


def ours_cpu(command, into=None):
    return lambda: measure.median_cpu(command, ours.RUNS_A_ROUND, ours.environment(), into)


def programs(path, work, slow_rounds):
    conv = [peers.jfrconv_command(path, kind, work / f"{kind}.collapsed") for kind in peers.KINDS]
    all_programs = {
        "hotstack convert": (ours_cpu(ours.convert_command(path, work / "ours.collapsed"), work), None),
        "jfrconv": (several(conv, work), None),
        "jfrs": (one_run(peers.jfrs_command(path)), slow_rounds),
        "JMC": (one_run(peers.jmc_command(path)), slow_rounds),
        "jdk.jfr": (one_run(peers.jdk_command(path)), slow_rounds),
    }
    if ours.has_totals():
        all_programs = {"hotstack jfr totals": (ours_cpu(ours.totals_command(path)), None), **all_programs}
    return {name: program for name, program in all_programs.items() if program[1] != 0}


def peaks(path, work, with_peers):
    commands = {"hotstack convert": (ours.convert_command(path, work / "ours.collapsed"), ours.environment())}
    if ours.has_totals():
        commands["hotstack jfr totals"] = (ours.totals_command(path), ours.environment())
    if with_peers:
        commands["jfrconv"] = (peers.jfrconv_command(path, "alloc", work / "alloc.collapsed"), None)
        commands["jfrs"] = (peers.jfrs_command(path), None)
        commands["JMC"] = (peers.jmc_command(path), None)
        commands["jdk.jfr"] = (peers.jdk_command(path), None)
    return {name: measure.memory(command, env=env) for name, (command, env) in commands.items()}


def rows_of(name, runs, cpu, memory):
    shown = []
    base = cpu["jfrconv"]
    for program, value in cpu.items():
        peak = memory.get(program)
        spread = min(runs[program]), max(runs[program])
        shown.append([
            name, program, report.seconds(value), " to ".join(map(report.seconds, spread)),
            f"{base / value:.2f}",
            report.mib(peak.resident) if peak else "-", report.mib(peak.anonymous) if peak else "-",
        ])  # fmt: skip
    return shown


def measure_one(section, name, rounds, slow_rounds, rows):
    path = recordings.file_of(name) if recordings.ALL[name].wanted else recordings.get(name)
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as folder:
        work = Path(folder)
        agreed = check_totals(name, path, work)
        say(f"{name}: {agreed} readers agree on samples and values")
        runs = measure.alternated(programs(path, work, slow_rounds), rounds, lambda text: say(f"{name}, {text}"))
        memory = peaks(path, work, slow_rounds > 0)
    cpu = {program: median(values) for program, values in runs.items()}
    rows += rows_of(name, runs, cpu, memory)
    if name in TARGETS:
        add_targets(section, name, cpu, memory)


def add_targets(section, name, cpu, memory):
    peak = memory.get("hotstack convert")
    limit = MEMORY_BASE + MEMORY_PER_STACK * recordings.shape(name)["triples"]
    section.target(f"P1 {name}: jfrconv's CPU over hotstack convert's", TARGETS[name], cpu["jfrconv"] / cpu["hotstack convert"])
    section.target(f"P2 {name}: anonymous memory", limit / (1 << 20), peak and peak.anonymous / (1 << 20), False, " MiB")


# ---- P3 ----


def two_processes(path, rounds):
    """Returns the best speed-up of this machine: the speed of two single-threaded processes relative to one."""
    command = [str(part) for part in ours.totals_command(path, 1)]

    def wall(count):
        begun = time.monotonic()
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, env=ours.environment()) for _ in range(count)]
        if any([process.wait() for process in running]):
            raise BenchError(f"{command[0]} failed on {path}")
        return time.monotonic() - begun

    return 2 * min(wall(1) for _ in range(rounds)) / min(wall(2) for _ in range(rounds))


def two_threads(section, rounds, names):
    rows = []
    for name in names:
        path = recordings.get(name)
        what = f"P3 {name}: wall time of 1 thread over that of 2"
        if not ours.has_threads():
            section.target(what, TWO_THREADS, None)
            continue
        timed = {
            str(threads): (lambda t=threads: measure.run(ours.totals_command(path, t), env=ours.environment()), None)
            for threads in (1, 2)
        }
        runs = measure.alternated(timed, rounds * ours.RUNS_A_ROUND)
        wall = {threads: min(run.wall for run in all_runs) for threads, all_runs in runs.items()}
        cpu = {threads: median([run.cpu for run in all_runs]) for threads, all_runs in runs.items()}
        rows.append([name, *(report.seconds(wall[t]) for t in "12"), *(report.seconds(cpu[t]) for t in "12"),
                     f"{two_processes(path, rounds):.2f}"])  # fmt: skip
        section.target(what, TWO_THREADS, wall["1"] / wall["2"])
    if rows:
        section.text("Threads (best of the runs' wall times, median of their CPU times), and how much more two separate single-threaded processes do in the time of one, which is the most that threads can gain on this machine:")
        section.table(["recording", "1 thread, s", "2 threads, s", "1 thread, CPU s", "2 threads, CPU s", "two processes"], rows)


# ---- the whole ----


def shape_rows(names):
    rows = []
    for name in names:
        shape = recordings.shape(name)
        wanted = recordings.ALL[name].wanted
        cells = []
        for what, scale in (("bytes", 1e6), ("events", 1e6), ("chunks", 1), ("alloc_stacks", 1e3), ("mean_depth", 1),
                            ("pool_stacks", 1e3), ("pool_frames", 1e6)):  # fmt: skip
            text = f"{shape[what] / scale:.{0 if scale == 1 else 2 if scale == 1e6 else 1}f}"
            cells.append(text + (f" ({wanted[what] / scale:g})" if what in wanted else ""))
        share = shape["alloc_events"] / max(1, shape["events"]) * 100
        rows.append([name, *cells, f"{share:.1f} %", recordings.ALL[name].about])
    return rows


def bench(quick):
    section = report.Section("jfr", "Recordings to totals per type, thread and stack")
    targeted = ["medium", "jdk25-cat"] if quick else list(TARGETS)
    others = [] if quick else list(REPORTED)
    rounds, slow_rounds = (3, 0) if quick else (ROUNDS, SLOW_ROUNDS)
    for name in targeted + others:
        recordings.get(name)
    section.text("The recordings, in brackets what each must be within 20 %:")
    section.table(
        ["recording", "MB", "M events", "chunks", "k distinct allocation stacks", "mean depth", "k stacks in pools",
         "M frames in pools", "allocation events", "made by"],
        shape_rows(targeted + others),
    )  # fmt: skip
    rows = []
    for name in targeted + others:
        measure_one(section, name, rounds, 1 if name in others else slow_rounds, rows)
    section.text(
        "CPU seconds: the median of the rounds, the least and the most; and how many times the program's CPU goes into jfrconv's"
        " (three runs: cpu, alloc, lock; collapsed text)."
        " hotstack convert writes those three files, too; one thread each."
        " Memory: the kernel's peak of the resident size, and the highest anonymous part seen. Peers tell no threads apart."
    )
    section.table(["recording", "program", "CPU s", "least to most", "jfrconv's / this", "resident MiB", "anonymous MiB"], rows)
    two_threads(section, rounds, ["jdk25-cat"] if quick else ["large", "many-chunks"])
    return section
