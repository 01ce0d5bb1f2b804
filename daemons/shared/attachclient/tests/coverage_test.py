#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage of a session whose driver is killed again and again: nothing is lost, nothing is left.

usage: coverage_test.py DRIVER WORKER CLASSES SECONDS KILLS [AGENT]
  DRIVER   coverage_driver
  WORKER   hotstack-attach-worker
  CLASSES  the folder with Target.class
  AGENT    libhotstackthreads.so: a thread snapshot is taken beside each window
Windows of 10 s for SECONDS, with kill -9 at KILLS moments spread over them, each followed by a restart. Prints TAP and,
as comments, what was measured.
"""
import os
import pathlib
import platform
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
DRIVER, WORKER, CLASSES = sys.argv[1:4]
SECONDS, KILLS = int(sys.argv[4]), int(sys.argv[5])
AGENT = sys.argv[6:7]
WINDOW = 10
ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "unknown")
PROFILER = pathlib.Path(os.environ.get("HOTSTACK_ASYNC_PROFILER") or
                        CACHE / f"async-profiler/linux-{ARCH}/libasyncProfiler.so")


def find_java():
    return next((java for java in (CACHE / f"jdk/{release}/bin/java" for release in (21, 17, 25, 11)) if java.exists()), None)


def start_driver(jvm, installation, directory):
    """The driver, and how its session began: owned or adopted."""
    driver = subprocess.Popen([DRIVER, str(jvm.pid), installation, PROFILER, directory, str(WINDOW), *AGENT], text=True,
                              stdout=subprocess.PIPE, env=dict(os.environ, HOTSTACK_ATTACH_WORKER=WORKER))
    state = driver.stdout.readline().strip()
    assert state in ("owned", "adopted"), (state, driver.wait())
    return driver, state


def chunks(directory):
    """(start, end) in ns of every chunk, in the order of the recording's bytes, which have no hole."""
    names = sorted((tuple(map(int, path.stem.split("-"))), path) for path in directory.glob("*-*.jfr"))
    at = 0
    for (first, end), path in names:
        if first == end:
            continue
        assert first == at, f"bytes {at} to {first} are missing"
        data = path.read_bytes()
        assert len(data) == end - first, path
        offset = 0
        while offset < len(data):
            magic, size, start, duration = struct.unpack(">4s4xq16xqq", data[offset:offset + 48])
            assert magic == b"FLR\0" and 0 < size <= len(data) - offset, (path, offset)
            yield start, start + duration
            offset += size
        at = end


def measure(directory):
    """Returns the share of the time from the first to the last byte that chunks cover, and the largest gap in ms."""
    spans = list(chunks(directory))
    holes = [max(0, after[0] - before[1]) for before, after in zip(spans, spans[1:])]
    whole = spans[-1][1] - spans[0][0]
    print(f"# {len(spans)} chunks over {whole / 1e9:.1f} s, {sum(holes) / 1e6:.3f} ms outside them", flush=True)
    return 1 - sum(holes) / whole, max(holes) / 1e6, whole / 1e9


def drive(jvm, installation, directory):
    """Runs driver after driver; returns how the sessions of all but the first began."""
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"# seed {seed}", flush=True)
    moments = sorted(random.Random(seed).uniform(0.1, 0.9) * SECONDS for _ in range(KILLS))
    driver, _ = start_driver(jvm, installation, directory)
    began, states = time.monotonic(), []
    for moment in moments + [SECONDS]:
        try:
            driver.wait(timeout=max(0.0, began + moment - time.monotonic()))
            raise AssertionError(f"the driver ended with {driver.returncode}")
        except subprocess.TimeoutExpired:
            pass
        if moment == SECONDS:
            break
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        driver, state = start_driver(jvm, installation, directory)
        states.append(state)
    driver.send_signal(signal.SIGTERM)
    assert driver.wait() == 0
    return states


def main():
    java = find_java()
    if java is None or not PROFILER.exists():
        print("1..0 # SKIP no JDK or no libasyncProfiler.so: run deploy/dependencies/install test")
        return 0
    installation = f"cov{os.getpid()}"
    jvm = subprocess.Popen([java, "-Xmx64m", "-cp", CLASSES, "Target", str(SECONDS + 300)], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    assert jvm.stdout.readline() == "ready\n"
    failed = 0
    print("1..4")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        states = drive(jvm, installation, directory)
        share, hole_ms, seconds = measure(directory)
        left = [path.name for path in pathlib.Path("/tmp").glob(f"hotstack-{installation}-*")]
    jvm.kill()
    printed = jvm.stdout.read()
    jvm.wait()
    pathlib.Path(f"/tmp/.java_pid{jvm.pid}").unlink(missing_ok=True)
    checks = [("every restart adopted the session", states == ["adopted"] * KILLS, states),
              (f"at least 99.9 % of {SECONDS} s lie inside windows", share >= 0.999 and seconds > SECONDS * 0.99,
               (share, hole_ms, seconds)),
              ("nothing of ours is left in /tmp", left == [], left),
              ("the JVM's own output is untouched", printed == "", printed)]
    for number, (what, good, seen) in enumerate(checks, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {what}")
        if not good:
            failed += 1
            print(f"# {seen!r}")
    return 1 if failed else 0


sys.exit(main())
