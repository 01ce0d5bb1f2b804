#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector beside a real API server, with JVMs in real containers of runc. Prints TAP.

usage: containers_e2e.py ATTACHD WORKER COLLECTOR CLASSES THREAD_AGENT
"""

import sys

import node
from cluster import wait_for
from containers import missing
from node import OFF, PROFILING, new_windows
from steps import same

DISABLED = 9


def nothing_is_left_in(jvm):
    """Beside HotSpot's own socket. The thread agent's files end with its lease, three intervals of snapshots."""
    wait_for("the end of our files in /tmp", lambda: {path.name for path in jvm.tmp().iterdir()} <= {".java_pid1"})
    same("the JVM runs", jvm.is_alive(), True)
    same("what it printed", jvm.text(), "ready\n")


def a_pod_with_a_container_is_profiled_by_annotation(on):
    pod = on.cluster.make_pod("shop", "cart", node.NAME, ("app", "side"))
    jvm = on.start_container(pod)
    on.wait_for_target(jvm, state=OFF, reason=DISABLED, pod="cart", container="app", container_id=jvm.id)
    pod.annotate(profile="continuous", threads="1s")
    on.wait_for_target(jvm, state=PROFILING, reason=0)
    new_windows(on, jvm)
    cpu = [w for w in on.windows(jvm) if w["source"] == "cpu" and w["amount"] > 0]
    same("there is CPU time", cpu != [], True)
    same("labels of its windows", [cpu[0][k] for k in ("namespace", "workload", "pod", "container")],
         ["shop", "cart", "cart", "app"])  # fmt: skip
    wait_for("snapshots", lambda: on.snapshots() > 0)
    pod.annotate(profile=None)
    on.wait_for_target(jvm, state=OFF, reason=DISABLED)
    nothing_is_left_in(jvm)
    jvm.end()
    pod.delete()


STEPS = (a_pod_with_a_container_is_profiled_by_annotation,)

sys.exit(node.run(STEPS, sys.argv[1:6], node.missing() or missing()))
