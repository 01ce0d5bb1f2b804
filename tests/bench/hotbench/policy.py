# SPDX-License-Identifier: Apache-2.0
"""P17: how soon an annotation on a real API server takes effect on the JVM, with many pods on its node."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time

from . import place, report
from .measure import BenchError, median, p95, say

sys.path.insert(0, str(place.TREE / "tests" / "k8s"))

import cluster  # noqa: E402  # pylint: disable=wrong-import-position
import node  # noqa: E402  # pylint: disable=wrong-import-position

SOURCE = place.TREE / "daemons" / "shared" / "attachclient" / "tests" / "java" / "Target.java"
PODS, JVMS = 200, 4
ROUNDS, QUICK_ROUNDS = 25, 5
PATIENCE = 60  # seconds
EFFECT_S = 2
CHANGES = {  # of the annotations, in turn: each begins from what the one before leaves
    "profile=continuous": {"profile": "continuous"},
    "other events": {"events": "cpu=2ms"},
    "profile=off": {"profile": "off", "events": None},
}


def programs():
    classes = place.BENCH_CACHE / "classes" / f"target-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}"
    if not classes.exists():
        place.compile_java(classes, [SOURCE], "--release", "11")
    return (place.installed("hotstack-attachd"), place.BUILD / "daemons/attachd/worker/hotstack-attach-worker",
            place.installed("hotstack-collector"), classes, place.BUILD / "libattach/agent/libhotstackthreads.so")  # fmt: skip


def recording_of(jvm):
    """(descriptor, inode) of the file that the profiler in a JVM writes; None while it records nothing."""
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(f"/proc/{jvm.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                if "/hotstack-" in (path := os.readlink(entry.path)) and "recording" in path:
                    return entry.path, os.stat(entry.path).st_ino
    return None


@contextlib.contextmanager
def kept(recording):
    """Keeps the file open: the next one gets another inode."""
    held = os.open(recording[0], os.O_RDONLY) if recording else None
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def took_effect(change, before, now):
    return now is None if change == "profile=off" else now is not None and (before is None or now[1] != before[1])


def seconds_until_effect(pod, jvm, change):
    """From before the request to the API server until the JVM's profiler does what the annotation says."""
    before = recording_of(jvm)
    with kept(before):
        begin = time.monotonic()
        pod.annotate(**CHANGES[change])
        while not took_effect(change, before, recording_of(jvm)):
            if time.monotonic() > begin + PATIENCE:
                raise BenchError(f"{change} had no effect on a JVM within {PATIENCE} s")
            time.sleep(0.005)
        return time.monotonic() - begin


def settle(on, jvm):
    """Waits until the collector has ended the change, too: of two that come while it is busy, only the last takes effect."""

    def is_settled():
        status = subprocess.run([place.installed("hotstack"), "collector", "status", "--json", f"--socket={on.dir}/collector/collector.sock"],
                                stdout=subprocess.PIPE, check=True)  # fmt: skip
        target = next(one for one in json.loads(status.stdout)["targets"] if one["pid"] == jvm.pid)
        return target["state"] in ("profiling", "off") and not target["session_lane"]["running"]

    cluster.wait_for("the collector at rest", is_settled)


def fill(on):
    """Pods without JVMs on the node, and those with one: [(pod, its JVM)]."""
    for number in range(PODS - JVMS):
        on.cluster.make_pod("shop", f"made-{number}", node.NAME).set_running("app")
    real = [on.cluster.make_pod("shop", f"real-{number}", node.NAME) for number in range(JVMS)]
    for pod in real:
        pod.set_running("app")
    pairs = [(pod, on.start_jvm(pod)) for pod in real]
    for _, jvm in pairs:
        on.wait_for_target(jvm, state=node.OFF)
    return pairs


def measure(rounds):
    """{change: [seconds]}"""
    found = {change: [] for change in CHANGES}
    os.environ.update(place.installed_environment())
    on = node.Node(*programs())
    try:
        say(f"{PODS} pods, {JVMS} of them with a JVM")
        on.start()
        pairs = fill(on)
        if (pods := on.metrics()["pods"]) != PODS:
            raise BenchError(f"the collector knows {pods} pods, not {PODS}")
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            for change, times in found.items():
                for pod, jvm in pairs:
                    times.append(seconds_until_effect(pod, jvm, change))
                    settle(on, jvm)
    except node.Failed as error:
        raise BenchError(f"{error}; {on.log('collector')[-600:]}") from error
    finally:
        on.end()
    return found


def bench(quick):
    if why := node.missing():
        raise BenchError(why)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    found = measure(rounds)
    section = report.Section("policy", "From an annotation to the JVM")
    section.text(f"P17: seconds from the request to a real kube-apiserver, which changes an annotation of a pod, until the profiler in the pod's JVM"
                 f" records, records other events, or has stopped. {PODS} pods on the node, {JVMS} of them with a JVM; each of these is switched on,"
                 f" changed and off {rounds} times.")  # fmt: skip
    section.table(["change", "times", "median", "p95", "most"], [
        [change, len(times), f"{median(times):.2f}", f"{p95(times):.2f}", f"{max(times):.2f}"]
        for change, times in found.items()])  # fmt: skip
    for change, times in found.items():
        section.target(f"P17: {change}, p95", EFFECT_S, p95(times), False, " s")
    return section
