#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector beside a real API server: pods, annotations, restarts, rights. Prints TAP.

usage: kubernetes_e2e.py ATTACHD WORKER COLLECTOR CLASSES THREAD_AGENT
"""

import datetime
import pathlib
import re
import signal
import subprocess
import sys
import urllib.error

import node
from cluster import annotations_of, wait_for
from node import OFF, PROFILING, UNKNOWN, WAITING, new_windows
from steps import Failed, contains, same

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "guides" / "kubernetes.md"
NOT_WANTED, TEMPORARY = 1, 3
CONTENTION_TIMES = 4  # offered by a snapshot
WARMING_UP = 8
DISABLED, EXPIRED, SWITCHED_OFF, INVALID_SETTING, POD_UNKNOWN = 9, 10, 34, 35, 36


def settings_of(container, program, secrets):
    """Returns the settings, one line each, of a program that is started with a manifest's arguments."""
    environment = {one["name"]: one.get("value", node.NAME) for one in container.get("env", [])}
    environment |= {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    arguments = [one.replace("=/etc/hotstack/", f"={secrets}/") for one in container["args"]]
    done = subprocess.run([program, *arguments, "--print-config"], env=environment, capture_output=True, text=True, check=False)
    same(f"what {program} says to {arguments}", done.stderr, "")
    return done.stdout


def our_manifests_are_understood(on):
    """The API server knows every field of our manifests, and our programs know every argument."""
    secrets = on.dir / "secrets"
    secrets.mkdir()
    for name in ("collector", "user"):
        (secrets / name).write_text(f"token-of-the-{name}\n", encoding="utf-8")
    backend = on.cluster.apply("backend.yaml")["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]
    beside = on.programs[0].parents[1]
    settings_of(backend, beside / "backend" / "hotstack-backend", secrets)
    contains(settings_of(on.container("attachd"), on.programs[0], secrets), f'allow_uids: ["{on.user}"]')
    in_force = settings_of(on.container("collector"), on.programs[2], secrets)
    contains(in_force, f'node: "{node.NAME}"')
    same("capabilities", [on.container(name)["securityContext"]["capabilities"].get("add") for name in ("attachd", "collector")],
         [["SYS_PTRACE", "KILL", "SETUID", "SETGID"], None])  # fmt: skip


def a_jvm_has_the_identity_of_its_pod(on):
    owner = ("ReplicaSet", "web-6d4b75cb6d", "apps/v1")
    labels = {"pod-template-hash": "6d4b75cb6d", "app.kubernetes.io/version": "7.2", "app.kubernetes.io/name": "web-shop"}
    on.web = on.cluster.make_pod("shop", "web-6d4b75cb6d-x2", node.NAME, ("app", "side"), owner=owner, labels=labels)
    on.elsewhere = on.cluster.make_pod("shop", "elsewhere", "node8")
    on.jvm = on.start_jvm(on.web)
    on.wait_for_target(on.jvm, state=UNKNOWN, reason=POD_UNKNOWN, workload="unknown")
    wait_for("the count of unknown ones", lambda: on.metrics()["jvms_in_unknown_pods"] == 1)
    on.web.set_running("app", "side")
    target = on.wait_for_target(on.jvm, state=OFF, reason=DISABLED)
    got = {k: target[k] for k in ("namespace", "kind", "workload", "pod", "container", "app", "image", "service", "pod_uid")}
    same("identity", got, {
        "namespace": "shop", "kind": "Deployment", "workload": "web", "pod": "web-6d4b75cb6d-x2", "container": "app",
        "app": "7.2", "image": "registry:5000/shop:7.1", "service": "web-shop",
        "pod_uid": on.web.uid})  # fmt: skip
    same("pods of this node", on.metrics()["pods"], 1)
    same("unknown ones", on.metrics()["jvms_in_unknown_pods"], 0)


def an_annotation_switches_it_on_and_off(on):
    on.web.annotate(profile="continuous")
    on.wait_for_target(on.jvm, state=PROFILING, reason=0)
    new_windows(on, on.jvm)
    window = on.windows(on.jvm)[-1]
    same("labels of its windows", [window[k] for k in ("namespace", "workload", "pod", "container", "app")],
         ["shop", "web", "web-6d4b75cb6d-x2", "app", "7.2"])  # fmt: skip
    on.web.annotate(profile="off")
    contains(on.wait_for_target(on.jvm, state=OFF, reason=SWITCHED_OFF)["detail"], "hotstack.dev/profile of pod shop/")
    on.web.annotate(profile=None)
    on.wait_for_target(on.jvm, state=OFF, reason=DISABLED)


def namespaces_and_containers_count(on):
    path = "/api/v1/namespaces/shop"
    on.cluster.patch(path, {"metadata": {"annotations": annotations_of({"profile": "continuous"})}})
    on.wait_for_target(on.jvm, state=PROFILING)
    on.web.annotate(app__profile="off")
    on.wait_for_target(on.jvm, state=OFF, reason=SWITCHED_OFF)
    on.web.annotate(app__profile=None, side__profile="off")
    on.wait_for_target(on.jvm, state=PROFILING)
    on.cluster.patch(path, {"metadata": {"annotations": annotations_of({"profile": None})}})
    on.wait_for_target(on.jvm, state=OFF, reason=DISABLED)
    on.web.annotate(side__profile=None)


def many_pods_of_several_workloads(on):
    batch, apps = "batch/v1", "apps/v1"
    for number in range(15):
        place = node.NAME if number % 2 == 0 else "node8"
        on.cluster.make_pod("shop", f"web-7c8-{number}", place, owner=("ReplicaSet", "web-7c8", apps),
                            labels={"pod-template-hash": "7c8"}).set_running("app")  # fmt: skip
    wanted = {}
    for name, owner, kind, workload in (
        ("db-0", ("StatefulSet", "db", apps), "StatefulSet", "db"),
        ("report-29403360-k7", ("Job", "report-29403360", batch), "CronJob", "report"),
        ("lonely", None, "Pod", "lonely"),
    ):
        pod = on.cluster.make_pod("shop", name, node.NAME, owner=owner, labels={"hotstack.dev/profile": "continuous"})
        pod.set_running("app")
        wanted[on.start_jvm(pod)] = (pod, kind, workload)
    for jvm, (_, kind, workload) in wanted.items():
        on.wait_for_target(jvm, state=PROFILING, kind=kind, workload=workload, app="7.1")
    for jvm in wanted:
        new_windows(on, jvm)
    same("pods of this node", on.metrics()["pods"], 1 + 8 + 3)
    for jvm, (pod, _, _) in wanted.items():
        jvm.kill()
        jvm.wait()
        pod.delete()
    wait_for("their end", lambda: on.sum_of("jvms_active") == 0)


def a_mistake_is_told(on):
    on.web.annotate(profile="allways")
    detail = on.wait_for_target(on.jvm, state=OFF, reason=INVALID_SETTING)["detail"]
    contains(detail, 'annotation hotstack.dev/profile of pod shop/web-6d4b75cb6d-x2: "allways"')
    on.web.annotate(profile="continuous", threads="sometimes")
    contains(on.wait_for_target(on.jvm, state=PROFILING, reason=0)["detail"], "hotstack.dev/threads")
    on.web.annotate(threads=None)
    on.wait_for_target(on.jvm, state=PROFILING, detail="")


def the_guide_names_the_annotations_that_have_a_meaning(on):
    on.web.annotate(dump="before-the-rollout;60s")
    meaning = re.compile("hotstack.dev/dump .* has no meaning: the keys are (.*)")
    said = wait_for("the mistake", lambda: meaning.search(on.target(on.jvm).get("detail", "")))
    named = re.findall(r"^\| `hotstack\.dev/([a-z-]+)` \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    same("annotations in the guide", sorted(named), sorted(said[1].split(", ")))
    on.web.annotate(dump=None)
    on.wait_for_target(on.jvm, state=PROFILING, detail="")


def an_annotation_sets_what_is_recorded(on):
    on.web.annotate(events="wall=20ms")
    wait_for("windows of wall-clock time", lambda: [w for w in on.windows(on.jvm) if w["source"] == "wall" and w["amount"] > 0])
    on.web.annotate(events=None)
    on.wait_for_target(on.jvm, state=PROFILING)


def an_annotation_sets_how_long_after_its_start_a_jvm_is_left_alone(on):
    wanted = annotations_of({"profile": "continuous", "startup-delay": "1h"})
    pod = on.cluster.make_pod("shop", "late", node.NAME, annotations=wanted)
    pod.set_running("app")
    jvm = on.start_jvm(pod)
    on.wait_for_target(jvm, state=WAITING, reason=WARMING_UP)
    pod.annotate(startup_delay="1s")
    on.wait_for_target(jvm, state=PROFILING, reason=0)
    jvm.kill()
    jvm.wait()
    pod.delete()


def an_annotation_sets_how_often_threads_are_looked_at(on):
    on.web.annotate(threads="1s")
    before = on.snapshots()
    wait_for("five snapshots", lambda: on.snapshots() >= before + 5)
    same("failed ones", on.sum_of("snapshot_failures_total"), 0)
    on.web.annotate(threads="off")
    new_windows(on, on.jvm)
    before = on.snapshots()
    new_windows(on, on.jvm)
    same("further snapshots", on.snapshots(), before)


def a_restart_of_the_server_stops_nothing(on):
    new_windows(on, on.jvm, 1)
    before = len(on.windows(on.jvm))
    starts = on.metrics()["session_starts_total"]
    gone = on.metrics()["kubernetes_versions_gone_total"]
    on.cluster.kill_api()
    wait_for("the trouble", lambda: on.metrics()["kubernetes_reachable"] == 0)
    new_windows(on, on.jvm)
    on.cluster.start_api()
    wait_for("the server again", lambda: on.metrics()["kubernetes_reachable"] == 1)
    new_windows(on, on.jvm)
    same("sessions begun meanwhile", on.metrics()["session_starts_total"], starts)
    node.follow_one_another([w for w in on.windows(on.jvm)[before - 1 :] if w["source"] == "cpu"])
    on.web.annotate(profile="off")
    on.wait_for_target(on.jvm, state=OFF, reason=SWITCHED_OFF)
    # Versions from before the compaction are gone; the lists go on from the newest.
    on.cluster.kill_api()
    on.cluster.compact()
    on.cluster.start_api()
    on.web.annotate(profile="continuous")
    on.wait_for_target(on.jvm, state=PROFILING)
    same("versions gone are counted", on.metrics()["kubernetes_versions_gone_total"] >= gone, True)


def a_temporary_has_an_end_and_may_measure_waits_for_locks(on):
    before = len(on.offers())
    end = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(hours=1)
    on.web.annotate(profile=None, profile_until=end.strftime("%Y-%m-%dT%H:%M:%SZ"), threads="1s", contention_monitoring="true")
    on.wait_for_target(on.jvm, state=PROFILING, mode=TEMPORARY, until=int(end.timestamp() * 1000))
    wait_for("times of waiting for locks", lambda: [one for one in on.offers()[before:] if one & CONTENTION_TIMES])
    on.web.annotate(profile_until="2020-01-01T00:00:00Z")
    on.wait_for_target(on.jvm, state=OFF, reason=EXPIRED, mode=NOT_WANTED, until=0)
    on.web.annotate(profile_until=None, threads=None, contention_monitoring=None)
    on.wait_for_target(on.jvm, state=OFF, reason=DISABLED)


def a_temporary_ends_and_does_not_come_back(on):
    on.web.annotate(profile=None, profile_for="5s")
    same("an end", on.wait_for_target(on.jvm, state=PROFILING, mode=TEMPORARY)["until"] > on.started_ms, True)
    on.wait_for_target(on.jvm, state=OFF, reason=EXPIRED, mode=NOT_WANTED, until=0)
    on.stop_collector()
    on.start_collector()
    on.wait_for_target(on.jvm, state=OFF, reason=EXPIRED)
    on.stop_collector()
    (on.dir / "collector/first-seen").unlink()
    on.start_collector()
    on.wait_for_target(on.jvm, state=OFF, reason=EXPIRED)
    on.web.annotate(profile_for="10m")
    on.wait_for_target(on.jvm, state=PROFILING)
    on.web.annotate(profile_for=None)
    on.wait_for_target(on.jvm, state=OFF, reason=DISABLED)


def it_ends_well_while_all_others_hang(on):
    on.web.annotate(profile="continuous")
    on.wait_for_target(on.jvm, state=PROFILING)
    new_windows(on, on.jvm, 1)
    before = len(on.windows(on.jvm))
    hung = (on.ingest, on.cluster.api)
    for process in hung:
        process.send_signal(signal.SIGSTOP)
    wait_for("a batch that waits", lambda: on.queue_length() > 0)
    on.stop_collector()
    left = on.queue_length()
    same("what could not be sent is kept", left > 0, True)
    same("the session's files are gone", on.leftovers(), [])
    for process in hung:
        process.send_signal(signal.SIGCONT)
    on.start_collector()
    wait_for("the kept windows", lambda: len(on.windows(on.jvm)) > before)
    on.wait_for_target(on.jvm, state=PROFILING)
    new_windows(on, on.jvm)
    on.web.annotate(profile=None)
    on.wait_for_target(on.jvm, state=OFF, reason=DISABLED)


def pods_and_namespaces_are_all_it_may_read(on):
    token = on.token.read_text(encoding="utf-8").strip()
    for path, expected in (("pods", 200), ("namespaces", 200), ("secrets", 403), ("configmaps", 403), ("nodes", 403)):
        same(path, on.cluster.status_of(f"/api/v1/{path}", token), expected)
    try:
        on.cluster.request("DELETE", on.web.path, {}, token=token)
        raise Failed("it may delete pods")
    except urllib.error.HTTPError as error:
        same("deleting a pod", error.code, 403)


def another_token_is_taken_up(on):
    on.write_token("nonsense")
    on.cluster.kill_api()
    on.cluster.start_api()
    wait_for("the refusal", lambda: "refuses the token" in on.log("collector"))
    on.web.annotate(profile="continuous")
    on.write_token(on.make_token())
    on.wait_for_target(on.jvm, state=PROFILING)


def a_pod_that_is_gone_is_let_go(on):
    on.web.delete()
    on.wait_for_target(on.jvm, state=UNKNOWN, reason=POD_UNKNOWN)
    same("the JVM still runs", on.jvm.poll(), None)


STEPS = (
    our_manifests_are_understood,
    a_jvm_has_the_identity_of_its_pod,
    an_annotation_switches_it_on_and_off,
    namespaces_and_containers_count,
    many_pods_of_several_workloads,
    a_mistake_is_told,
    the_guide_names_the_annotations_that_have_a_meaning,
    an_annotation_sets_what_is_recorded,
    an_annotation_sets_how_long_after_its_start_a_jvm_is_left_alone,
    an_annotation_sets_how_often_threads_are_looked_at,
    a_restart_of_the_server_stops_nothing,
    a_temporary_has_an_end_and_may_measure_waits_for_locks,
    a_temporary_ends_and_does_not_come_back,
    it_ends_well_while_all_others_hang,
    pods_and_namespaces_are_all_it_may_read,
    another_token_is_taken_up,
    a_pod_that_is_gone_is_let_go,
)

sys.exit(node.run(STEPS, sys.argv[1:6], node.missing()))
