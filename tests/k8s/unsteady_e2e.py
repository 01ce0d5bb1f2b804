#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector beside a real API server that is away, slow, forgets versions or answers garbage, and beside one that
allows it pods alone: nothing is detached that is wanted, and no window is lost. Prints TAP.

usage: unsteady_e2e.py ATTACHD WORKER COLLECTOR CLASSES THREAD_AGENT
"""

import contextlib
import json
import sys
import threading

import node
from cluster import wait_for
from node import OFF, PROFILING, UNKNOWN, follow_one_another, new_windows
from steps import contains, same
from unsteady import AWAY, GARBAGE, PASS, SLOW, Proxy, in_pages_of, of_version

DISABLED, SWITCHED_OFF, POD_UNKNOWN = 9, 34, 36
EMPTY = {"kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": []}
EVENT = {"type": "DELETED", "object": {"kind": "Pod", "metadata": {"name": "web", "uid": "other", "resourceVersion": "9"}}}
GONE = b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}\n'
WRONG = {
    "a page of another server": b"<html><body>Please log in</body></html>\n",
    "an empty object": b"{}\n",
    "a list without a version": b'{"kind":"PodList","items":[]}\n',
    "a list of something else": json.dumps(EMPTY).encode() + b"\n",
    "half an event": json.dumps(EVENT).encode()[:40] + b"\n",
    "depth": b"[" * 100000 + b"\n",
    "noise": bytes(range(256)) * 64,
}


@contextlib.contextmanager
def undisturbed(on, what, begun=0):
    """The JVM's one session goes on during the body and after it, window by window. `begun`: sessions that the body
    lets other JVMs begin."""
    new_windows(on, on.jvm, 1)
    before = len(on.windows(on.jvm))
    starts = on.metrics()["session_starts_total"]
    yield
    new_windows(on, on.jvm)
    same(f"{what}: sessions begun", on.metrics()["session_starts_total"], starts + begun)
    on.wait_for_target(on.jvm, state=PROFILING, reason=0)
    cpu = [w for w in on.windows(on.jvm)[before - 1 :] if w["source"] == "cpu"]
    follow_one_another(cpu)
    same(f"{what}: windows lost", [w for w in cpu if w["covered"] == 0], [])


def comes_back(on):
    """Lets all calls pass again and waits for news, since after garbage the beginning of a watch alone is no sign of life."""
    on.proxy.set(PASS)
    on.touched += 1
    for path in (on.web.path, "/api/v1/namespaces/shop"):
        on.cluster.patch(path, {"metadata": {"labels": {"touched": str(on.touched)}}})
    wait_for("the API server again", lambda: on.metrics()["kubernetes_reachable"] == 1)


def profiled_through_a_proxy(on):
    on.stop_collector()
    on.proxy, on.touched = Proxy(on.cluster), 0
    on.api_server = on.proxy.url
    on.start_collector()
    on.web = on.cluster.make_pod("shop", "web", node.NAME)
    on.other = on.cluster.make_pod("shop", "other", node.NAME)
    for pod in (on.web, on.other):
        pod.set_running("app")
        pod.annotate(profile="continuous")
    on.jvm, on.other_jvm = on.start_jvm(on.web), on.start_jvm(on.other)
    for jvm in (on.jvm, on.other_jvm):
        on.wait_for_target(jvm, state=PROFILING, reason=0)
        new_windows(on, jvm)


def answer_with(on, what, answer, in_watches):
    failures = on.metrics()["kubernetes_failures_total"]
    on.proxy.set(GARBAGE, answer, in_watches)
    wait_for(f"failures by {what}", lambda: on.metrics()["kubernetes_failures_total"] >= failures + 3)
    same("is it reached", on.metrics()["kubernetes_reachable"], 0)
    comes_back(on)


def garbage_in_watches_changes_nothing(on):
    with undisturbed(on, "garbage in watches"):
        for what, answer in WRONG.items():
            answer_with(on, what, answer, None)


def garbage_in_lists_changes_nothing(on):
    with undisturbed(on, "garbage in lists"):
        for what, answer in {"nothing": b"", **WRONG}.items():
            answer_with(on, what, answer, GONE)


def a_slow_server_is_followed(on):
    with undisturbed(on, "slow", begun=1):
        on.proxy.set(SLOW)
        on.other.annotate(profile="off")
        on.wait_for_target(on.other_jvm, state=OFF, reason=SWITCHED_OFF)
        on.other.annotate(profile="continuous")
        on.wait_for_target(on.other_jvm, state=PROFILING, reason=0)
    comes_back(on)


def what_happened_while_it_was_away_is_made_up_for(on):
    with undisturbed(on, "away", begun=1):
        on.proxy.set(AWAY)
        wait_for("the trouble", lambda: on.metrics()["kubernetes_reachable"] == 0)
        on.other.annotate(profile=None)
        late = on.cluster.make_pod("shop", "late", node.NAME, annotations={"hotstack.dev/profile": "continuous"})
        late.set_running("app")
        late_jvm = on.start_jvm(late)
        contains(on.wait_for_target(late_jvm, state=UNKNOWN, reason=POD_UNKNOWN)["detail"], "API server")
        on.cluster.compact()
        new_windows(on, on.other_jvm, 4)
        on.wait_for_target(on.other_jvm, state=PROFILING)  # as it was when the server was last heard of
        comes_back(on)
        on.wait_for_target(on.other_jvm, state=OFF, reason=DISABLED)
        on.wait_for_target(late_jvm, state=PROFILING, reason=0)
    late_jvm.kill()
    late_jvm.wait()
    late.delete()


def restart_of_the_server(on):
    on.cluster.kill_api()
    on.cluster.compact()
    on.cluster.start_api()


def both_forms_of_410_lead_to_a_new_list(on):
    """The server answers 410 in a watch from a compacted version, and between two pages of a list; both lead to a new list."""
    seen = []
    alone = threading.Lock()

    def is_missing():
        return on.metrics().get("kubernetes_versions_gone_total", 0) < gone + 2

    def forget(path):
        if "watch=1" in path and "old watch" not in seen:
            seen.append("old watch")
            return of_version(path, 1)
        if "continue=" in path and alone.acquire(blocking=False):
            try:
                if "restart" not in seen or is_missing():  # again, where a page was lost with its connection
                    on.other.annotate(startup_delay="1s")  # so that there is a newer version
                    restart_of_the_server(on)
                    seen.append("restart")
            finally:
                alone.release()
        return in_pages_of(path, 1)

    with undisturbed(on, "410"):
        lists = on.metrics()["kubernetes_lists_total"]
        gone = on.metrics()["kubernetes_versions_gone_total"]
        restart_of_the_server(on)
        on.proxy.change = forget
        on.proxy.set(PASS)
        # versions of watches may be gone, too: the server must be up before it is asked for more
        wait_for("the restart between two pages", lambda: "restart" in seen)
        wait_for("both forms", lambda: not is_missing())
        wait_for("a whole list", lambda: on.metrics()["kubernetes_lists_total"] > lists)
        comes_back(on)
    same("what was forgotten", sorted(set(seen)), ["old watch", "restart"])
    on.proxy.change = lambda path: path
    on.other.annotate(profile="continuous")
    on.wait_for_target(on.other_jvm, state=PROFILING, reason=0)


def pods_alone_suffice_where_namespaces_are_not_read(on):
    on.cluster.make_account("hotstack", "pods-only", ["pods"])
    token = on.cluster.make_token("hotstack", "pods-only")
    for what in ("namespaces", "secrets", "nodes"):
        same(what, on.cluster.status_of(f"/api/v1/{what}", token), 403)
    on.stop_collector()
    on.write_token(token)
    on.namespaces = False
    on.start_collector()
    on.wait_for_target(on.jvm, state=PROFILING, reason=0)
    new_windows(on, on.jvm)
    on.web.annotate(profile=None)
    on.wait_for_target(on.jvm, state=OFF, reason=DISABLED)
    same("failures", on.metrics()["kubernetes_failures_total"], 0)
    on.proxy.end()


STEPS = (
    profiled_through_a_proxy,
    garbage_in_watches_changes_nothing,
    garbage_in_lists_changes_nothing,
    a_slow_server_is_followed,
    what_happened_while_it_was_away_is_made_up_for,
    both_forms_of_410_lead_to_a_new_list,
    pods_alone_suffice_where_namespaces_are_not_read,
)

sys.exit(node.run(STEPS, sys.argv[1:6], node.missing()))
