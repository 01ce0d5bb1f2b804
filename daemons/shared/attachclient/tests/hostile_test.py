#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hung, stopped, dead, huge and lying targets, one after the other, for a long time.

usage: hostile_test.py DRIVER WORKER CLASSES SECONDS
  DRIVER   hostile_driver
  WORKER   hotstack-attach-worker
  CLASSES  the folder with Target.class
Each target must come to its own reason every time; the driver must not grow, and no worker may be left. Prints TAP.
"""
import mmap
import os
import pathlib
import platform
import signal
import socket
import subprocess
import sys
import tempfile

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "unknown")
PROFILER = pathlib.Path(os.environ.get("HOTSTACK_ASYNC_PROFILER") or
                        CACHE / f"async-profiler/linux-{ARCH}/libasyncProfiler.so")
GROWTH_KIB = 2048


def serve(kind, listener):
    """Handles each connection as a process that only looks like a JVM."""
    held = []
    while True:
        connection, _ = listener.accept()
        if kind == "silent":
            held = held[-50:] + [connection]
            continue
        answers = {"garbage": b"\x00\xff{}\n", "zero": b"0\n", "cut": b"0", "huge": b"0\n" + b"x" * (1 << 20)}
        try:
            connection.recv(4096)
            for _ in range(80 if kind == "huge" else 1):
                connection.sendall(answers[kind])
        except OSError:
            pass
        connection.close()


def fake_jvm(kind):
    """Forks a process that has a libjvm.so mapped and, but for "deaf", an attach socket. Returns its pid."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        return pid
    directory = tempfile.mkdtemp(prefix="hotstack-fake-")
    library = pathlib.Path(directory) / "libjvm.so"
    library.write_bytes(b"\0" * 4096)
    with open(library, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
    library.unlink()
    os.rmdir(directory)
    signal.signal(signal.SIGQUIT, lambda *_: None)
    listener = socket.socket(socket.AF_UNIX)
    if kind != "deaf":
        listener.bind(f"/tmp/.java_pid{os.getpid()}")
        listener.listen(16)
    os.write(writer, b"1")
    while kind == "deaf":
        signal.pause()
    serve(kind, listener)
    return mapped and 0


def start_jvm(java, classes, seconds):
    jvm = subprocess.Popen([java, "-Xmx64m", "-cp", classes, "Target", str(seconds + 600)], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    assert jvm.stdout.readline() == "ready\n"
    return jvm


# The results that each may have; (start, window, command, stop) have the same unless listed.
EXPECTED = {
    "garbage": {"-2/none"},
    "zero": {"-6/library_load_failed", "-6/profiler_error", "0/none"},
    "cut": {"-6/library_load_failed", "-6/profiler_error", "0/none"},  # a code without a newline is a code
    "silent": {"-6/attach_timeout", "-6/profiler_error", "0/none"},
    "huge": {"-3/none", "-6/profiler_error", "0/none"},
    "deaf": {"-6/attach_timeout", "-6/profiler_error", "0/none"},
    "stopped": {"-6/target_stopped", "-6/profiler_error", "0/none"},
    "dead": {"-6/process_exited", "-6/identity_changed"},  # the latter once its pid is another process's
    "good": {"0/none"},
}
# Milliseconds until an operation is given up: short where nothing comes, long where it must come, on a busy machine too.
PATIENCE = {"silent": 1000, "deaf": 1000}
LONG_PATIENCE = 120000


def start_ticks(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])


def outcomes(text, pids):
    """{kind: {operation: set of outcomes}} and the numbers at the end."""
    found, numbers = {kind: {} for kind in pids}, {}
    names = {str(pid): kind for kind, pid in pids.items()}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3:
            found[names[words[0]]].setdefault(words[1], set()).add(words[2])
        else:
            numbers[words[0]] = int(words[1])
    return found, numbers


def faults(found, numbers):
    for kind, operations in found.items():
        for operation, seen in operations.items():
            if kind == "garbage":
                allowed = EXPECTED[kind] | {"-6/profiler_error", "0/none"}
            else:
                allowed = EXPECTED[kind]
            if not seen <= allowed:
                yield f"{kind} {operation}: {sorted(seen - allowed)}"
        if kind not in ("good", "zero", "cut") and "0/none" in operations["command"]:
            yield f"{kind} answered a command"
    if numbers["grown_kib"] > GROWTH_KIB:
        yield f"the driver grew by {numbers['grown_kib']} KiB in {numbers['rounds']} rounds"
    if numbers["descriptors"] > 3 or numbers["children"] != 0:
        yield f"left behind: {numbers}"


def main():
    driver, worker, classes, seconds = sys.argv[1:4] + [int(sys.argv[4])]
    java = next((java for java in (CACHE / f"jdk/{release}/bin/java" for release in (21, 17, 25, 11)) if java.exists()), None)
    if java is None or not PROFILER.exists():
        print("1..0 # SKIP no JDK or no libasyncProfiler.so: run deploy/dependencies/install test")
        return 0
    fakes = {kind: fake_jvm(kind) for kind in ("garbage", "zero", "cut", "silent", "huge", "deaf")}
    good, stopped = start_jvm(java, classes, seconds), start_jvm(java, classes, seconds)
    stopped.send_signal(signal.SIGSTOP)
    os.waitpid(stopped.pid, os.WUNTRACED)  # all of its threads: kill returns before that
    dead = subprocess.Popen(["sleep", "600"])
    pids = dict(fakes, good=good.pid, stopped=stopped.pid, dead=dead.pid)
    ticks = {kind: start_ticks(pid) for kind, pid in pids.items()}
    dead.kill()
    dead.wait()
    targets = [f"{pid}@{ticks[kind]}={PATIENCE.get(kind, LONG_PATIENCE)}" for kind, pid in pids.items()]
    try:
        result = subprocess.run([driver, str(seconds), PROFILER, *targets], stdout=subprocess.PIPE, text=True,
                                env=dict(os.environ, HOTSTACK_ATTACH_WORKER=worker), check=False)
    finally:
        for jvm in (good, stopped):
            jvm.kill()
            jvm.wait()
        for pid in fakes.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for pid in set(pids.values()) - {dead.pid}:
            pathlib.Path(f"/tmp/.java_pid{pid}").unlink(missing_ok=True)
    found, numbers = outcomes(result.stdout, pids)
    wrong = list(faults(found, numbers))
    print("1..1")
    print(f"# {numbers}")
    print(f"{'ok' if not wrong and result.returncode == 0 else 'not ok'} 1 - every target comes to its reason, nothing is left")
    for fault in wrong:
        print(f"# {fault}")
    return 1 if wrong or result.returncode != 0 else 0


sys.exit(main())
