#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector with real parts: a JVM, hotstack-attachd, hotstack-collector, and fake_ingest.py.

What the backend acknowledged must equal, to the unit, what the JDK's own API reads from copies of
the recordings, through a refused token, refused and lost answers, missing stacks, a split, a backend
that is away, and a collector killed and started again. Prints TAP.

usage: collector_e2e.py ATTACHD WORKER COLLECTOR CLASSES SOURCE_ROOT HOTSTACK
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

from collector_world import (
    HOTSTACK, PATIENCE, TYPES, Failed, leftovers, mine, run_in_world, same, totals, truth, wait_for)


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
    """`hotstack collector status` tells what the collector does, and what it does with the JVM, as JSON and as text."""
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
    same("self-check of the collector", status["collector"]["lacks"], [])
    text = ask()
    for finding in status["attachd"]["lacks"]:
        same("each finding has", [bool(finding[key]) for key in ("check", "message", "fix")], [True] * 3)
        same("it is shown", f"{finding['check']}: {finding['message']}" in text and f"fix: {finding['fix']}" in text, True)
    same("the JVM's line", [line.split()[2:4] for line in ask().splitlines()
                            if line.split()[:1] == [str(world.jvm.pid)]], [["continuous", "profiling"]])
    nobody = subprocess.run([HOTSTACK, "collector", "status", f"--socket={world.dir}/no.sock"], capture_output=True, text=True)
    same("no collector", (nobody.returncode, "hotstack-collector" in nobody.stderr), (1, True))


def on_demand(world):
    """A JVM of a rule is profiled on demand after POST /v1/profile/start, and by its rule again after stop."""
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
    """The system call filter is in force, and has refused nothing that the collector needs."""
    status = pathlib.Path(f"/proc/{world.collector.pid}/status").read_text(encoding="utf-8")
    same("seccomp mode", [line.split()[1] for line in status.splitlines() if line.startswith("Seccomp:")], ["2"])
    same("refused", world.metrics()["hotstack_collector_refused_system_calls_total"], 0)
    same("named", [line for line in world.log("collector").splitlines() if "the system call" in line], [])


def reloaded_rules(world):
    """The rules are read again when the file changes and on SIGHUP; a file that cannot be used leaves the rules as they are."""
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


def measured_workload(world):
    """The metrics of a profiled JVM carry its namespace, workload and node."""
    labels = f'{{namespace="",workload="demo",node="{socket.gethostname()}"}}'
    metrics = {name.removeprefix("hotstack_collector_"): value for name, value in world.metrics().items()}
    for name in ("jvms_discovered", "jvms_eligible", "jvms_active"):
        same(name, metrics[name + labels], 1)
    for name in ("windows_total", "window_seconds_total", "covered_seconds_total"):
        same(name, metrics[name + labels] > 0, True)
    same("last success", metrics["last_success_timestamp_seconds"] > time.time() - PATIENCE, True)


def rotated_listener_token(world):
    """When the file of listen.token changes, the new token is valid without a restart, and the old one is refused."""
    world.write_token("another-secret", world.listener_token)
    wait_for("the new token", lambda: world.call("/metrics", token="another-secret")[0] == 200)
    same("the old one", world.call("/metrics")[0], 401)
    same("a call with the old one", world.call("/v1/profile/stop", {"pid": world.jvm.pid})[0], 401)
    world.write_token("listener-secret", world.listener_token)
    world.collector.send_signal(signal.SIGHUP)
    wait_for("the token of before", lambda: world.call("/metrics")[0] == 200)


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
    # adopted, and owned once it has given a window; a report of before the first look has no JVM
    wait_for("the session that went on", lambda: [
        t for t in world.state()["targets"] if t["pid"] == world.jvm.pid and t["session"] in (2, 3)])


def the_end(world):
    world.collector.terminate()
    same("collector's exit", world.collector.wait(PATIENCE), 0)
    same("queue", sorted(p.name for p in (world.dir / "collector/queue").iterdir()), ["lock", "positions"])
    same("sessions stopped: leftovers", leftovers(world), [])
    world.attachd.terminate()
    same("attachd's exit", world.attachd.wait(PATIENCE), 0)
    same("the service still runs", world.jvm.poll(), None)


def sums_equal_the_truth(world):
    got = totals(mine(world.state(), world.jvm.pid))
    expected = truth(world, world.jvm.pid)
    print(f"# {expected}")
    same("acknowledged = the JDK's", got, expected)
    same("something of each type", all(expected.values()), True)
    ledger = [json.loads(line) for line in
              (world.dir / "collector/ledger").read_text(encoding="utf-8").splitlines()]
    batches = {line["batch"]: line for line in ledger if line["rejected"] == ""}
    same("ledger", {t: sum(b["raw"][t] for b in batches.values()) for t in TYPES}, expected)


STEPS = (refused_token, windows_and_status, status_asked, measured_workload, on_demand, reloaded_rules, rotated_listener_token, odd_answers, backend_away, killed_collector, sandboxed, the_end,
         sums_equal_the_truth)


def set_up(world):
    world.write_token("wrong-token")
    world.configure()
    world.start_attachd()
    world.jvm = world.start_jvm("jvm", "Target")


sys.exit(run_in_world(STEPS, set_up, ("collector", "attachd", "ingest", "jvm")))
