# SPDX-License-Identifier: Apache-2.0
"""A running product for the benchmarks: JVMs with the demo service, attachd, collector, and a backend that only takes in."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from . import place
from .measure import BenchError

PATIENCE = 300  # seconds until something that must come is given up
INGEST = place.TREE / "tests" / "e2e" / "collector" / "fake_ingest.py"
TICK = os.sysconf("SC_CLK_TCK")


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.05)
    raise BenchError(f"did not come within {PATIENCE} s: {what}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_of(pid):
    """User and system seconds of a process, with the children it has waited for."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return sum(int(word) for word in words[11:15]) / TICK


def anonymous_of(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) << 10
    return 0


def children_of(pid):
    with contextlib.suppress(FileNotFoundError):
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


class Cost:
    """What the collector's side takes: CPU since it was begun, and the most anonymous memory, workers of attachd included."""

    def __init__(self, collector, attachd):
        self.pids, self.peak = (collector, attachd), 0
        self.begun = self.cpu()

    def cpu(self):
        return sum(map(cpu_of, self.pids))

    def look(self):
        """To be called again and again: memory has no peak in /proc that leaves out files."""
        with contextlib.suppress(FileNotFoundError):  # a worker ended meanwhile
            workers = [child for pid in self.pids for child in children_of(pid)]
            self.peak = max(self.peak, sum(anonymous_of(pid) for pid in [*self.pids, *workers]))
        return True

    def begin(self):
        self.begun = self.cpu()

    def seconds(self):
        return self.cpu() - self.begun


class Live:
    """Everything that runs, in one folder; a context manager that ends what it started."""

    def __init__(self, window_s, load):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="hotstack-bench-"))
        self.dir.chmod(0o755)
        (self.dir / "recordings").mkdir()
        (self.dir / "queue").mkdir(mode=0o700)
        self.window_s, self.load = window_s, load
        self.running, self.services = {}, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.running.values()):
            process.terminate()
        for process in reversed(self.running.values()):
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def start(self, name, *command):
        with open(self.dir / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=place.installed_environment(),
            )  # fmt: skip
        self.running[name] = process
        return process

    def alive(self, name):
        if self.running[name].poll() is not None:
            log = (self.dir / f"{name}.log").read_text(encoding="utf-8", errors="replace")
            raise BenchError(f"{name} ended by itself: {log[-600:]}")
        return True

    def start_services(self, count):
        jar = place.BUILD / "examples" / "demo-service" / "demo-service.jar"
        for number in range(count):
            port = self.dir / f"service-{number}.port"
            name = f"service-{number}"
            self.services.append(self.start(
                name, place.java(17), "-XX:+UseSerialGC", "-Xmx96m", "-jar", jar, "--port-file", port, "--load", self.load
            ))  # fmt: skip
        for number in range(count):
            port = self.dir / f"service-{number}.port"
            wait_for("the demo service", lambda n=number, p=port: self.alive(f"service-{n}") and p.exists())

    def start_ingest(self):
        (self.dir / "token").write_text("e2e-token\n", encoding="utf-8")
        self.start("ingest", sys.executable, INGEST)
        log = self.dir / "ingest.log"
        wait_for("the ingest server", lambda: self.alive("ingest") and log.read_text(encoding="utf-8").startswith("port "))
        self.port = log.read_text(encoding="utf-8").split()[1]

    def use_backend(self, port, token):
        """Sends to this backend, instead of a server of start_ingest."""
        (self.dir / "token").write_text(token + "\n", encoding="utf-8")
        self.port = port

    def start_collector(self, keep, rule=None, more=""):
        """rule: which JVMs to profile, the demo services by default; more: how, as keys of an entry of `rules`."""
        rule = (rule or f'command_line: "--port-file {self.dir}/service-", workload: demo-service') + more
        keep_line = f"debug: {{keep_recordings: {self.dir}/recordings}}" if keep else ""
        (self.dir / "collector.yaml").write_text(
            f"""
rules:
  - {{{rule}, namespace: bench, startup_delay: 0s}}
attachd: {{socket: {self.dir}/attachd.sock}}
backend: {{url: "http://127.0.0.1:{self.port}", token_file: {self.dir}/token}}
window: {{length: {self.window_s}s, jitter: 0s}}
queue: {{dir: {self.dir}/queue}}
listen: {{port: {free_port()}}}
{keep_line}
""",
            encoding="utf-8",
        )
        self.start(
            "attachd", place.installed("hotstack-attachd"), f"--socket={self.dir}/attachd.sock",
            f"--state-dir={self.dir}/attachd", f"--profiler-library={place.PROFILER}",
            f"--worker={place.BUILD}/daemons/attachd/worker/hotstack-attach-worker",
            f"--thread-agent={place.BUILD}/libattach/agent/libhotstackthreads.so",
        )  # fmt: skip
        wait_for("attachd's socket", lambda: self.alive("attachd") and (self.dir / "attachd.sock").exists())
        self.start("collector", place.installed("hotstack-collector"), f"--config={self.dir}/collector.yaml")

    def state(self):
        for name in ("attachd", "collector", "ingest"):
            self.alive(name)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/state", timeout=30) as answer:
            state = json.load(answer)
        if state["errors"]:
            raise BenchError(f"the contract was broken: {state['errors'][:3]}")
        return state

    def windows(self):
        """{start of the window: {"bytes": of its batches, "rows", "stacks" that it brought, "pids"}} so far."""
        return self.windows_of(self.state()["batches"])

    @staticmethod
    def windows_of(batches):
        found = {}
        for batch in batches:
            starts = {window["start"] for window in batch["windows"]}
            for start in starts:
                one = found.setdefault(start, {"bytes": 0, "rows": 0, "stacks": 0, "pids": set()})
                one["bytes"] += batch["bytes"] / len(starts)
                one["rows"] += batch["rows"] / len(starts)
                one["stacks"] += batch["stacks_sent"] / len(starts)
                one["pids"] |= {w["pid"] for w in batch["windows"] if w["start"] == start}
        return found

    def full_windows(self, jvms):
        return self.full_windows_of(self.state()["batches"], jvms)

    @staticmethod
    def full_windows_of(batches, jvms):
        """As windows_of, those of all JVMs that cover nearly all of their time, in order."""
        full = {}
        covered = {}
        for batch in batches:
            for window in batch["windows"]:
                covered.setdefault(window["start"], []).append(window["covered"] / window["length"])
        for start, one in sorted(Live.windows_of(batches).items()):
            if len(one["pids"]) == jvms and min(covered[start]) > 0.9:
                full[start] = one
        return full
