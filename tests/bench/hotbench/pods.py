# SPDX-License-Identifier: Apache-2.0
"""P7 in Kubernetes: what collector and attachd take for the JVMs of a node, chosen by annotations on a real API server."""

import os
import time

from . import place, report
from .live import Cost, Live
from .measure import BenchError, say
from .policy import node, programs

JVMS, QUICK_JVMS = 50, 3
PODS = 110  # what a kubelet takes by default
WINDOWS, QUICK_WINDOWS = 15, 2
WINDOW_S, QUICK_WINDOW_S = 60, 10
DEFAULTS = ("--flush-interval=60s", "--discovery-interval=5s", "--kubernetes-events=cpu,alloc,lock",
            "--kubernetes-startup-delay=10s", "--session-cooldown-min=10s")  # fmt: skip
CPU_PER_JVM, MEMORY = 0.1, 40  # per cent of a core, MiB
LOW, A_CORE = 50, 250  # orders a second: of one JVM, and of all on one CPU
LOOK_S, ASK_S = 0.05, 5  # between looks at memory, and questions for windows
PATIENCE = 300  # seconds beyond the windows


def fill(on, jvms, orders):
    """Pods of the node, the first of them annotated and with the demo service."""
    jar = place.BUILD / "examples" / "demo-service" / "demo-service.jar"
    asked = {"hotstack.dev/profile": "continuous"}
    pods = [on.cluster.make_pod("shop", f"pod-{n}", node.NAME, annotations=asked if n < jvms else None) for n in range(PODS)]
    for number, pod in enumerate(pods):
        pod.set_running("app")
        if number < jvms:
            on.start_jvm(pod, arguments=["-XX:+UseSerialGC", "-Xmx96m", "-jar", jar, "--port-file", on.dir / f"port-{number}", "--load", orders])
    return pods


def full_windows(on, jvms):
    """The starts of windows in which nearly all of the time of all JVMs was recorded; they begin together, without jitter."""
    return list(Live.full_windows_of(on.state()["batches"], jvms))


def watch(on, pods, cost, jvms, until_ms, patience):
    """Looks at memory until there is a full window from then on; its start. A pod changes each time that it asks."""
    end, ask = time.monotonic() + patience, 0.0
    while time.monotonic() < end:
        cost.look()
        if time.monotonic() > ask:
            on.cluster.patch(pods[-1].path, {"metadata": {"labels": {"touched": str(int(ask))}}})
            found = full_windows(on, jvms)
            if found and max(found) >= until_ms:
                return max(found)
            ask = time.monotonic() + ASK_S
        time.sleep(LOOK_S)
    raise BenchError(f"no full window of {jvms} JVMs came in time; {on.log('collector')[-600:]}")


def measure(jvms, windows, window_s):
    """(CPU seconds, wall seconds, most bytes of memory, snapshots, share of the time that was recorded)"""
    os.environ.update(place.installed_environment())
    orders = str(max(1, min(LOW, A_CORE * len(os.sched_getaffinity(0)) // jvms)))
    on = node.Node(*programs())
    try:
        on.start(f"--window-length={window_s}s", *DEFAULTS)
        pods = fill(on, jvms, orders)
        say(f"{jvms} JVMs in {PODS} pods: waiting for {windows + 1} full windows of {window_s} s")
        cost = Cost(on.collector.pid, on.attachd.pid)
        first = watch(on, pods, cost, jvms, 0, 2 * window_s + PATIENCE)
        cost.begin()
        snapshots = on.snapshots()
        last = watch(on, pods, cost, jvms, first + windows * window_s * 1000, windows * window_s + PATIENCE)
        between = [w for b in on.state()["batches"] for w in b["windows"] if first < w["start"] <= last]
        share = sum(w["covered"] for w in between) / sum(w["length"] for w in between)
        return cost.seconds(), (last - first) / 1000, cost.peak, on.snapshots() - snapshots, share
    except node.Failed as error:
        raise BenchError(f"{error}; {on.log('collector')[-600:]}") from error
    finally:
        on.end()


def bench(quick):
    if why := node.missing():
        raise BenchError(why)
    jvms, windows, window_s = (QUICK_JVMS, QUICK_WINDOWS, QUICK_WINDOW_S) if quick else (JVMS, WINDOWS, WINDOW_S)
    spent, wall, peak, snapshots, share = measure(jvms, windows, window_s)
    section = report.Section("pods", "The collector's cost on a node of Kubernetes")
    section.text(f"P7: {jvms} JVMs of the demo service in {PODS} pods of a real kube-apiserver, chosen by annotation, {wall:.0f} s of windows of {window_s} s"
                 f" at default settings but for the jitter, so that all end at once, {snapshots} thread snapshots; a pod changes every {ASK_S} s. Collector, attachd and workers took {spent:.2f} CPU s and at"
                 f" most {peak / (1 << 20):.1f} MiB of anonymous memory; {share * 100:.2f} % of the JVMs' time was recorded.")  # fmt: skip
    section.target("P7 with pods: CPU of collector and attachd per JVM, of a core", CPU_PER_JVM, spent / wall / jvms * 100, False, " %")
    section.target(f"P7 with pods: anonymous memory with {jvms} JVMs", MEMORY, peak / (1 << 20), False, " MiB")
    return section
