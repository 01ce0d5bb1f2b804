# SPDX-License-Identifier: Apache-2.0
"""Whole processes, measured from outside: CPU, wall time, memory."""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass


class BenchError(Exception):
    """A measurement that cannot be made; its text says why and what to do."""


@dataclass(frozen=True)
class Run:
    cpu: float  # seconds, user + system, of the process and its threads
    wall: float  # seconds
    out: str  # its standard output


@dataclass(frozen=True)
class Memory:
    """Peaks in bytes."""

    resident: int  # the kernel's own peak (VmHWM): file pages included
    anonymous: int  # the highest RssAnon seen, looked at without a pause while the process ran
    looks: int  # how often


def words(command):
    return [str(word) for word in command]


def ended_badly(command, status, said):
    tail = "\n".join(said.decode(errors="replace").strip().splitlines()[-8:])
    return BenchError(f"{' '.join(words(command))} ended with status {os.waitstatus_to_exitcode(status)}:\n{tail}")


def read_through(command):
    """Brings the files that a command names into the page cache, if the system has dropped some of their pages."""
    piece = bytearray(1 << 20)
    for word in words(command):
        if os.path.isfile(word):
            with open(word, "rb", buffering=0) as file:
                while file.readinto(piece):
                    pass


def run(command, env=None, stdin=None, into=None):
    """Runs a command to its end, its files in the page cache; one that fails is a BenchError.

    `into` is a folder that is emptied first: what the command writes there is new, not put in another file's place.
    """
    for old in pathlib.Path(into).iterdir() if into else ():
        old.unlink()
    read_through(command)
    with subprocess.Popen(
        words(command), stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as process:
        started = time.monotonic()
        # The output of these programs fits into a pipe; their standard error is small, too.
        out = process.stdout.read()
        err = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise ended_badly(command, status, err or out)  # a JVM that cannot start says so on standard output
    return Run(usage.ru_utime + usage.ru_stime, wall, out.decode())


RSS_ANON = re.compile(rb"RssAnon:\s+(\d+) kB")
PEAK_RSS = re.compile(rb"VmHWM:\s+(\d+) kB")


def memory(command, env=None):
    """The peaks of one run. Its time means nothing: it is watched without a pause."""
    resident = anonymous = looks = 0
    with subprocess.Popen(
        words(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env
    ) as process:
        status_file = os.open(f"/proc/{process.pid}/status", os.O_RDONLY)
        try:
            while process.poll() is None:
                text = os.pread(status_file, 4096, 0)
                anon, peak = RSS_ANON.search(text), PEAK_RSS.search(text)
                if anon and peak:  # a process that ends has no memory left
                    looks += 1
                    anonymous = max(anonymous, int(anon[1]) << 10)
                    resident = int(peak[1]) << 10
        except ProcessLookupError:
            process.wait()
        finally:
            os.close(status_file)
        err = process.stderr.read()
    if process.returncode:
        raise BenchError(f"{' '.join(words(command))} ended with status {process.returncode}: {err.decode()[-400:]}")
    return Memory(resident, anonymous, looks)


def alternated(programs, rounds, say=lambda text: None):
    """Runs each of {name: (function, rounds or None)} once a round, so that a slow minute of the machine hits all.

    Returns {name: [what the function returned]}. A program with fewer rounds of its own stops earlier.
    """
    results = {name: [] for name in programs}
    for number in range(max([rounds] + [own or 0 for _, own in programs.values()])):
        for name, (function, own) in programs.items():
            if number < (rounds if own is None else own):
                say(f"round {number + 1}: {name}")
                results[name].append(function())
    return results


def median(values):
    return statistics.median(values)


def p95(values):
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def median_cpu(command, runs, env=None, into=None):
    """Of a program that is over in milliseconds: one round's figure is the median of a few runs."""
    return median([run(command, env=env, into=into).cpu for _ in range(runs)])


def instructions(command, work, env=None):
    """Instructions of a run, counted by valgrind's callgrind; None where there is no valgrind."""
    out = pathlib.Path(work) / "callgrind.out"
    try:
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *words(command)],
            env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    out.unlink()
    return int(found[1]) if found else None


def say(text):
    print(f"    {text}", file=sys.stderr, flush=True)
