#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector with real parts: a JVM, hotstack-attachd, hotstack-collector, and fake_ingest.py.

What the backend acknowledged must equal, to the unit, what the JDK's own API reads from copies of
the recordings, through a refused token, refused and lost answers, missing stacks, a split, a backend
that is away, and a collector killed and started again. Prints TAP.

usage: collector_e2e.py ATTACHD WORKER COLLECTOR CLASSES SOURCE_ROOT HOTSTACK
"""

import functools
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support"))

import steps
from steps import Failed, free_port, print_logs, run_steps, same

ATTACHD, WORKER, COLLECTOR, CLASSES, SOURCE, HOTSTACK = sys.argv[1:7]
HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE", pathlib.Path.home() / ".cache/hotstack"))
ARCH = "linux-arm64" if os.uname().machine == "aarch64" else "linux-x64"
PROFILER = pathlib.Path(
    os.environ.get("HOTSTACK_ASYNC_PROFILER", CACHE / "async-profiler" / ARCH / "libasyncProfiler.so")
)
# Beside the programs in the build tree.
AGENT = pathlib.Path(ATTACHD).resolve().parents[2] / "libattach/agent/libhotstackthreads.so"
JAVA = shutil.which("java") or "/usr/lib/jvm/java-17-openjdk-amd64/bin/java"
# Each profile type is a sum of a source.
TYPES = {
    "cpu": ("cpu", "raw_amount"),
    "alloc_bytes": ("alloc", "raw_amount"),
    "alloc_objects": ("alloc", "raw_count"),
    "lock_count": ("lock", "raw_count"),
    "lock_delay": ("lock", "raw_amount"),
}
NOBODY = 65534
PATIENCE = 240  # seconds until something that must come is given up
wait_for = functools.partial(steps.wait_for, seconds=PATIENCE)


def can_become_nobody():
    """Root can, unless the tree lies below a directory that only its owner may enter, such as /root."""
    if os.geteuid() != 0:
        return False
    above = pathlib.Path(COLLECTOR).resolve().parents
    return all(directory.stat().st_mode & stat.S_IXOTH for directory in above)


class World:
    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="collector-e2e-"))
        self.dir.chmod(0o755)
        self.running = []
        self.installation = "e2e" + os.urandom(4).hex()
        for name in ("recordings", "collector"):
            (self.dir / name).mkdir()
            if can_become_nobody():
                os.chown(self.dir / name, NOBODY, NOBODY)
        self.token = self.dir / "collector" / "token"
        self.metrics_port = free_port()

    def start(self, name, *command, user=None):
        log = open(self.dir / f"{name}.log", "a", encoding="utf-8")
        environment = {**os.environ, "HOTSTACK_ATTACH_WORKER": WORKER}
        extra = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
        process = subprocess.Popen(
            [str(c) for c in command], stdout=log, stderr=log, env=environment, **extra
        )
        self.running.append(process)
        return process

    def log(self, name):
        path = self.dir / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def write_token(self, text):
        fresh = self.token.with_suffix(".new")
        fresh.write_text(text + "\n", encoding="utf-8")
        fresh.chmod(0o644)
        fresh.rename(self.token)

    def start_ingest(self):
        self.ingest = self.start("ingest", sys.executable, HERE / "fake_ingest.py")
        self.port = wait_for("the ingest server", lambda: self.log("ingest").split()[1:2])[0]

    def start_attachd(self):
        allowed = [f"--allow-uids={NOBODY}"] if can_become_nobody() else []
        self.attachd = self.start(
            "attachd", ATTACHD, f"--socket={self.dir}/run/attachd.sock",
            f"--state-dir={self.dir}/attachd", f"--installation-id={self.installation}",
            f"--profiler-library={PROFILER}", f"--thread-agent={AGENT}", *allowed)
        wait_for("attachd's socket", (self.dir / "run/attachd.sock").exists)

    def start_collector(self):
        self.collector = self.start(
            "collector", COLLECTOR, f"--config={self.dir}/collector.yaml",
            user=NOBODY if can_become_nobody() else None)

    def configure(self):
        (self.dir / "collector.yaml").write_text(f"""
rules:
  - command_line: -Dworld={self.installation}
    workload: demo
    events: cpu=1ms,alloc=64k,lock=100us
    startup_delay: 0s
attachd:
  socket: {self.dir}/run/attachd.sock
backend:
  url: http://127.0.0.1:{self.port}
  token_file: {self.token}
window: {{length: 2s, jitter: 0s}}
discovery: {{interval: 500ms}}
flush_interval: 200ms
upload: {{backoff_min: 50ms, backoff_max: 500ms, grace: 60s}}
queue: {{dir: {self.dir}/collector/queue}}
listen: {{port: {self.metrics_port}, token: listener-secret}}
debug:
  keep_recordings: {self.dir}/recordings
  ledger: {self.dir}/collector/ledger
""", encoding="utf-8")

    def get(self, url):
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.read().decode()

    def state(self, path="/state"):
        state = json.loads(self.get(f"http://127.0.0.1:{self.port}{path}"))
        if state["errors"]:
            raise Failed(f"the contract was broken: {state['errors']}")
        return state

    def metrics(self):
        try:
            text = self.call("/metrics")[1]
        except OSError:
            return {}
        rows = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in rows}

    def call(self, path, body=None, token="listener-secret"):
        """Status and text of the collector's own listener."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.metrics_port}{path}", data)
        request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def more_batches(self, count):
        have = len(self.state()["batches"])
        wait_for(f"{count} more batches", lambda: len(self.state()["batches"]) >= have + count)

    def end(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def mine(state, pid):
    return [w for b in state["batches"] for w in b["windows"] if w["pid"] == pid]


def totals(windows):
    return {t: sum(w[column] for w in windows if w["source"] == source) for t, (source, column) in TYPES.items()}


def truth(world, pid):
    """The JDK's sums over all recordings of the JVM, one after the other as one file."""
    whole = world.dir / "whole.jfr"
    parts = sorted((world.dir / "recordings").glob(f"{pid}-*.jfr"))
    with open(whole, "wb") as to:
        for part in parts:
            to.write(part.read_bytes())
    program = pathlib.Path(SOURCE) / "tests/support/jfr-truth/JfrTruth.java"
    out = subprocess.run([JAVA, str(program), str(whole)], capture_output=True, text=True)
    if out.returncode != 0:
        raise Failed(out.stderr)
    types = json.loads(out.stdout)["types"]
    return {t: types[t]["raw_value"] for t in TYPES}, len(parts)


def leftovers(world):
    return list(pathlib.Path("/tmp").glob(f"hotstack-{world.installation}-*"))


def refused_token(world):
    wait_for("a refused call", lambda: world.state()["counts"]["refused"] >= 1)
    wait_for("a queue", lambda: world.metrics().get("hotstack_collector_queue_batches", 0) >= 2)
    same("blocked", world.metrics()["hotstack_collector_upload_blocked"], 1)
    same("calls while blocked", world.state()["counts"]["refused"], 1)
    world.write_token("e2e-token")
    world.more_batches(2)


def windows_and_status(world):
    wait_for("a window of every type", lambda: {w["source"] for w in mine(world.state(), world.jvm.pid)
                                                 if w["count"] > 0} == {s for s, _ in TYPES.values()})
    state = world.state()
    windows = mine(state, world.jvm.pid)
    same("workload", {w["workload"] for w in windows}, {"demo"})
    # the first window begins with its session, and time before a session with the JVM's first failure
    wait_for("aligned windows", lambda: max(w["start"] for w in mine(world.state(), world.jvm.pid)) % 2000 == 0)
    status = wait_for("the status profiling", lambda: [
        t for t in world.state()["targets"] if t["pid"] == world.jvm.pid and t["state"] == 1])[0]
    same("reason", status["reason"], 0)
    same("mode and its end", (status["mode"], status["until"]), (2, 0))
    wait_for("the status to tell the coverage of a window", lambda: [
        t for t in world.state()["targets"]
        if t["pid"] == world.jvm.pid and t["length"] == 2000 and 0 < t["covered"] <= 2000])
    same("heartbeats", state["counts"]["heartbeat"] >= 1, True)
    # time that was lost while the JVM was still starting has a reason, and no engine
    same("engine named in every window", [w for w in windows if w["reason"] == 0 and not w["engine"]], [])


def status_asked(world):
    """hotstack collector status: what this collector does, and with the JVM, as JSON and as text."""
    socket = world.dir / "collector/collector.sock"

    def ask(*options):
        run = subprocess.run([HOTSTACK, "collector", "status", *options, f"--socket={socket}"], capture_output=True, text=True)
        if run.returncode != 0:
            raise Failed(f"hotstack collector status: {run.stderr}")
        return run.stdout

    status = json.loads(ask("--json"))
    jvm = [t for t in status["targets"] if t["pid"] == world.jvm.pid][0]
    same("target", (jvm["mode"], jvm["state"], jvm["reason"], jvm["session"]),
         ("continuous", "profiling", "none", "owned"))
    same("its last window", jvm["window"]["length_ms"] > 0, True)
    same("lanes", jvm["session_lane"]["due_at"] is not None or jvm["session_lane"]["running"], True)
    same("peers", (status["attachd"]["reachable"], status["backend"]["reachable"]), (True, True))
    same("queue", status["queue"]["dropped"]["queue_full"], 0)
    same("the JVM's line", [line.split()[2:4] for line in ask().splitlines()
                            if line.split()[:1] == [str(world.jvm.pid)]], [["continuous", "profiling"]])
    nobody = subprocess.run([HOTSTACK, "collector", "status", f"--socket={world.dir}/no.sock"], capture_output=True, text=True)
    same("no collector", (nobody.returncode, "hotstack-collector" in nobody.stderr), (1, True))


def on_demand(world):
    """POST /v1/profile/start and stop: the rule's JVM becomes a temporary, and continuous again."""
    pid = world.jvm.pid
    same("metrics without the token", world.call("/metrics", token="wrong")[0], 401)
    same("health needs none", world.call("/healthz", token="")[0], 200)
    same("a call without the token", world.call("/v1/profile/start", {"pid": pid, "seconds": 60}, "wrong")[0], 401)
    same("no end", world.call("/v1/profile/start", {"pid": pid})[0], 400)
    same("events", world.call("/v1/profile/start", {"pid": pid, "seconds": 60, "events": "cpu=1"})[0], 400)
    same("no JVM", world.call("/v1/profile/start", {"pid": os.getpid(), "seconds": 60})[0], 404)

    def mode():
        return [t["mode"] for t in world.state()["targets"] if t["pid"] == pid]

    same("taken", world.call("/v1/profile/start", {"pid": pid, "seconds": 3600, "events": "cpu,lock"})[0], 200)
    wait_for("the temporary", lambda: mode() == [3])
    same("stopped", world.call("/v1/profile/stop", {"pid": pid})[0], 200)
    wait_for("the rule's mode again", lambda: mode() == [2])
    same("stopped twice", world.call("/v1/profile/stop", {"pid": pid})[0], 404)


def sandboxed(world):
    """The filter is in force, and refused nothing that the collector needs."""
    status = pathlib.Path(f"/proc/{world.collector.pid}/status").read_text(encoding="utf-8")
    same("seccomp mode", [line.split()[1] for line in status.splitlines() if line.startswith("Seccomp:")], ["2"])
    same("refused", world.metrics()["hotstack_collector_refused_system_calls_total"], 0)
    same("named", [line for line in world.log("collector").splitlines() if "the system call" in line], [])


def reloaded_rules(world):
    """By a change of the file, and by SIGHUP; one that cannot be used leaves what is in force."""
    path = world.dir / "collector.yaml"
    text = path.read_text(encoding="utf-8")

    def workloads():
        return {window["workload"] for window in mine(world.state(), world.jvm.pid)}

    path.write_text(text.replace("workload: demo", "workload: renamed"), encoding="utf-8")
    wait_for("windows of the new name", lambda: "renamed" in workloads())
    path.write_text(text.replace("cpu=1ms", "cpu=1"), encoding="utf-8")
    world.collector.send_signal(signal.SIGHUP)
    wait_for("the mistake in the log", lambda: "the one before stays in force" in world.log("collector"))
    path.write_text(text, encoding="utf-8")
    world.collector.send_signal(signal.SIGHUP)
    seen = len([w for w in mine(world.state(), world.jvm.pid) if w["workload"] == "demo"])
    wait_for("windows of the old name", lambda: len(
        [w for w in mine(world.state(), world.jvm.pid) if w["workload"] == "demo"]) > seen)


def odd_answers(world):
    for mode, times in (("retry", 2), ("lost", 1), ("need_stacks", 1), ("too_large", 1)):
        world.state(f"/behave?mode={mode}&times={times}")
        world.more_batches(2)
        if mode == "lost":  # before another answer meets the batch that is sent again
            wait_for("the lost answer's batch again", lambda: world.state()["counts"]["duplicate"] >= 1)
    counts = world.state()["counts"]
    same("stacks asked for came", counts["need_stacks"] >= 1, True)
    known = [b["stacks_sent"] for b in world.state()["batches"]]
    same("known stacks are left out", min(known) < max(known), True)


def backend_away(world):
    world.ingest.send_signal(signal.SIGSTOP)
    before = len(list((world.dir / "recordings").iterdir()))
    wait_for("windows meanwhile", lambda: len(list((world.dir / "recordings").iterdir())) >= before + 3)
    world.ingest.send_signal(signal.SIGCONT)
    world.more_batches(3)


def killed_collector(world):
    # a window was just sent (a batch may hold snapshots alone), so that none is between its recording and the queue
    sent = len(mine(world.state(), world.jvm.pid))
    wait_for("one more window", lambda: len(mine(world.state(), world.jvm.pid)) > sent)
    world.collector.kill()
    world.collector.wait()
    before = mine(world.state(), world.jvm.pid)
    world.start_collector()
    wait_for("windows after the restart", lambda: max(
        w["start"] for w in mine(world.state(), world.jvm.pid)) > max(w["start"] for w in before))
    after = [w for w in mine(world.state(), world.jvm.pid) if w["source"] == "cpu"]
    after.sort(key=lambda w: w["start"])
    # a window that another collector finishes begins with its recording, just after the border
    apart = [(one, other) for one, other in zip(after, after[1:])
             if not 0 <= other["start"] - one["start"] - one["length"] < 1000]
    same("windows that do not follow one another", apart, [])
    status = [t for t in world.state()["targets"] if t["pid"] == world.jvm.pid]
    same("session adopted", [t["session"] for t in status], [3])


def the_end(world):
    world.collector.terminate()
    same("collector's exit", world.collector.wait(PATIENCE), 0)
    same("queue", [p.name for p in (world.dir / "collector/queue").iterdir()], ["lock"])
    same("sessions stopped: leftovers", leftovers(world), [])
    world.attachd.terminate()
    same("attachd's exit", world.attachd.wait(PATIENCE), 0)
    same("the service still runs", world.jvm.poll(), None)


def sums_equal_the_truth(world):
    got = totals(mine(world.state(), world.jvm.pid))
    expected, files = truth(world, world.jvm.pid)
    print(f"# {files} recordings: {expected}")
    same("acknowledged = the JDK's", got, expected)
    same("something of each type", all(expected.values()), True)
    ledger = [json.loads(line) for line in
              (world.dir / "collector/ledger").read_text(encoding="utf-8").splitlines()]
    batches = {line["batch"]: line for line in ledger if line["rejected"] == ""}
    same("ledger", {t: sum(b["raw"][t] for b in batches.values()) for t in TYPES}, expected)


STEPS = (refused_token, windows_and_status, status_asked, on_demand, reloaded_rules, odd_answers, backend_away, killed_collector, sandboxed, the_end,
         sums_equal_the_truth)


def main():
    if not PROFILER.exists() or not pathlib.Path(JAVA).exists():
        print("1..0 # SKIP no java, or no libasyncProfiler.so; install them with: ./dev build")
        return 0
    world = World()
    print(f"1..{len(STEPS)}", flush=True)
    failed = False
    try:
        world.start_ingest()
        world.write_token("wrong-token")
        world.configure()
        world.start_attachd()
        world.jvm = world.start("jvm", JAVA, f"-Dworld={world.installation}", "-cp", CLASSES, "Target")
        world.start_collector()
        failed = not run_steps(world, STEPS)
    finally:
        if failed:
            print_logs(world.log, ("collector", "attachd", "ingest", "jvm"))
        world.end()
    return 1 if failed else 0


sys.exit(main())
