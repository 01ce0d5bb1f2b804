# SPDX-License-Identifier: Apache-2.0
"""Real JVMs, hotstack-attachd, hotstack-collector and fake_ingest.py, for tests that go through steps.

The tests' arguments: ATTACHD WORKER COLLECTOR CLASSES SOURCE_ROOT HOTSTACK ...
"""

import functools
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support"))

import steps
from steps import Failed, free_port, is_open_to_all, print_logs, run_steps, same

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
    return os.geteuid() == 0 and is_open_to_all(pathlib.Path(COLLECTOR))


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
        self.listener_token = self.dir / "collector" / "listener-token"
        self.metrics_port = free_port()

    def start(self, name, *command, user=None, stdin=None):
        log = open(self.dir / f"{name}.log", "a", encoding="utf-8")
        environment = {**os.environ, "HOTSTACK_ATTACH_WORKER": WORKER}
        extra = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
        process = subprocess.Popen(
            [str(c) for c in command], stdin=stdin, stdout=log, stderr=log, env=environment, **extra
        )
        self.running.append(process)
        return process

    def log(self, name):
        path = self.dir / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def write_token(self, text, token=None):
        fresh = self.token.with_suffix(".new")
        fresh.write_text(text + "\n", encoding="utf-8")
        fresh.chmod(0o644)
        fresh.rename(token or self.token)

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

    def start_jvm(self, name, *command, java=JAVA, stdin=None):
        return self.start(name, java, f"-Dworld={self.installation}", "-cp", CLASSES, *command, stdin=stdin)

    def configure(self, events="cpu=1ms,alloc=64k,lock=100us", threads="60s", window="2s", flush="200ms", session="{}", limits="{}", first_rule=""):
        self.write_token("listener-secret", self.listener_token)
        (self.dir / "collector.yaml").write_text(f"""
rules:
{first_rule}  - command_line: -Dworld={self.installation}
    workload: demo
    events: {events}
    threads: {threads}
    startup_delay: 0s
attachd:
  socket: {self.dir}/run/attachd.sock
backend:
  url: http://127.0.0.1:{self.port}
  token_file: {self.token}
window: {{length: {window}, jitter: 0s}}
discovery: {{interval: 500ms}}
flush_interval: {flush}
session: {session}
limits: {limits}
upload: {{backoff_min: 50ms, backoff_max: 500ms, grace: 60s}}
queue: {{dir: {self.dir}/collector/queue}}
listen: {{port: {self.metrics_port}, token_file: {self.listener_token}}}
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
        """Returns the status and the text that the collector's own listener answers."""
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


def mine(state, *pids):
    return [w for b in state["batches"] for w in b["windows"] if w["pid"] in pids]


def timeline(state, pid):
    """Returns the JVM's windows in order from its first session on, of the source that has a window whatever happens."""
    windows = sorted((w for w in mine(state, pid) if w["source"] == "cpu"), key=lambda w: w["start"])
    return list(itertools.dropwhile(lambda w: w["reason"] != 0, windows))


def recorded_since(world, jvms, moment, count=1):
    """Returns whether `count` recorded windows of each JVM that began after `moment` (Unix ms) have been acknowledged."""
    state = world.state()
    return all(
        len([w for w in timeline(state, jvm.pid) if w["start"] >= moment and w["covered"] > 0]) >= count for jvm in jvms)


def totals(windows):
    return {t: sum(w[column] for w in windows if w["source"] == source) for t, (source, column) in TYPES.items()}


def recordings(world, pid):
    """Returns the whole recording of each of the JVM's sessions, put together from the parts that the collectors read."""
    sessions = {}
    for path in sorted((world.dir / "recordings").glob(f"{pid}-*.jfr")):
        _, session, offset = map(int, path.stem.split("-"))
        whole, data = sessions.setdefault(session, bytearray()), path.read_bytes()
        if offset > len(whole):
            raise Failed(f"nobody read the bytes {len(whole)} to {offset} of the recording of {pid}")
        whole[offset : offset + len(data)] = data  # after a kill some were read again
    return list(sessions.values())


def truth(world, *pids):
    """Returns the JDK's sums over all recordings of these JVMs."""
    files = []
    for pid in pids:
        files.append(world.dir / f"{pid}.jfr")
        files[-1].write_bytes(b"".join(recordings(world, pid)))
    program = pathlib.Path(SOURCE) / "tests/support/jfr-truth/JfrTruth.java"
    out = subprocess.run([JAVA, str(program), *map(str, files)], capture_output=True, text=True)
    if out.returncode != 0:
        raise Failed(out.stderr)
    types = json.loads(out.stdout)["types"]
    return {t: types[t]["raw_value"] for t in TYPES}


def leftovers(world):
    return list(pathlib.Path("/tmp").glob(f"hotstack-{world.installation}-*"))


def run_in_world(steps, set_up, logs):
    """Runs the steps, as TAP, beside an ingest server, what `set_up` makes of the world, and a collector. `logs`: whose last lines
    tell why a step failed. Returns the exit status."""
    if not (PROFILER.exists() and pathlib.Path(JAVA).exists()):
        print("1..0 # SKIP no java, or no libasyncProfiler.so; install them with: ./dev build")
        return 0
    print(f"1..{len(steps)}", flush=True)
    world = World()
    failed = True
    try:
        world.start_ingest()
        set_up(world)
        world.start_collector()
        failed = not run_steps(world, steps)
    finally:
        if failed:
            print_logs(world.log, logs)
        world.end()
    return 1 if failed else 0
