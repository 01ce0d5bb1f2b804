#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector beside a real API server, with JVMs in real containers of runc. Prints TAP.

usage: containers_e2e.py ATTACHD WORKER COLLECTOR CLASSES THREAD_AGENT
"""

import contextlib
import sys

import node
from cluster import wait_for
from containers import missing
from node import FAILED, OFF, PROFILING, follow_one_another, new_windows
from steps import Failed, contains, same

NO_EXEC_DIR, DISABLED, PARSE_FAILED, DISK_FULL = 1, 9, 12, 19


def nothing_is_left_in(jvm):
    """Waits until no file of ours is left; the thread agent's files go when its lease ends, after three intervals of snapshots."""
    wait_for("the end of our files in /tmp", lambda: not jvm.files())
    same("the JVM runs", jvm.is_alive(), True)
    same("what it printed", jvm.text(), "ready\n")


@contextlib.contextmanager
def annotated(on, name, **options):
    """Gives the body a pod with a container. After the body the annotation is removed, and nothing may be left in the container."""
    pod = on.cluster.make_pod("shop", name, node.NAME)
    jvm = on.start_container(pod, **options)
    on.wait_for_target(jvm, state=OFF, reason=DISABLED, pod=name, container="app", container_id=jvm.id)
    yield pod, jvm
    pod.annotate(profile=None)
    on.wait_for_target(jvm, state=OFF, reason=DISABLED)
    nothing_is_left_in(jvm)
    jvm.end()
    pod.delete()


def a_pod_with_a_container_is_profiled_by_annotation(on):
    with annotated(on, "cart") as (pod, jvm):
        pod.annotate(profile="continuous", threads="1s")
        on.wait_for_target(jvm, state=PROFILING, reason=0)
        new_windows(on, jvm)
        cpu = [w for w in on.windows(jvm) if w["source"] == "cpu" and w["amount"] > 0]
        same("there is CPU time", cpu != [], True)
        same("labels of its windows", [cpu[0][k] for k in ("namespace", "workload", "pod", "container")],
             ["shop", "cart", "cart", "app"])  # fmt: skip
        wait_for("snapshots", lambda: on.snapshots() > 0)


def is_profiled(on, name, recorder, detail, **options):
    """The container's JVM reaches the state `profiling`, and windows with CPU time come, from the JDK's recorder or not."""
    with annotated(on, name, **options) as (pod, jvm):
        pod.annotate(profile="continuous", threads="1s")
        contains(on.wait_for_target(jvm, state=PROFILING, reason=0)["detail"], detail)
        new_windows(on, jvm)
        windows = [w for w in on.windows(jvm) if w["amount"] > 0]
        same("it is the JDK's recorder", {w["engine"] == "jfr" for w in windows}, {recorder})
        same("pods", {w["pod"] for w in windows}, {name})


def fails(on, name, reason, detail, **options):
    """The container's JVM is `failed` with the reason, and so is the window that was not recorded."""
    with annotated(on, name, **options) as (pod, jvm):
        pod.annotate(profile="continuous", threads="1s")
        contains(on.wait_for_target(jvm, state=FAILED, reason=reason)["detail"], detail)
        wait_for("a window that was lost", lambda: [w for w in on.windows(jvm) if w["reason"] == reason])
        same("the coverage of its windows", sum(w["covered"] for w in on.windows(jvm)), 0)


def every_kind_of_container_is_profiled_or_says_why(on):
    for case, name, *expected, options in (
        (is_profiled, "user-namespace", False, "", {"userns": True}),
        (is_profiled, "not-pid-1", False, "", {"wrapped": True}),
        (is_profiled, "distroless", False, "", {"bare": True}),
        (is_profiled, "noexec-tmp", True, "/tmp: noexec", {"tmp": ["noexec"]}),
        (fails, "no-tmp", NO_EXEC_DIR, "/tmp: read-only", {"tmp": None}),
        (fails, "small-tmp", DISK_FULL, "/tmp: full", {"tmp": ["size=64k"]}),
    ):
        try:
            case(on, name, *expected, **options)
        except Failed as error:
            raise Failed(f"{name}: {error}") from error


def a_full_tmp_is_told_until_there_is_room(on):
    with annotated(on, "full-tmp", tmp=["size=16m"]) as (pod, jvm):
        jvm.fill_tmp()
        pod.annotate(profile="continuous", threads="1s")
        contains(on.wait_for_target(jvm, state=FAILED, reason=DISK_FULL)["detail"], "/tmp: full")
        (jvm.tmp() / "filler").unlink()
        on.wait_for_target(jvm, state=PROFILING, reason=0)
        new_windows(on, jvm)


def goes_on(on, jvm):
    """Waits for windows with data after others failed."""
    before = len([w for w in on.windows(jvm) if w["covered"] > 0])
    wait_for("windows with data", lambda: len([w for w in on.windows(jvm) if w["covered"] > 0]) >= before + 2)
    on.wait_for_target(jvm, state=PROFILING, reason=0)


def a_tmp_that_fills_up_costs_its_windows_only(on):
    neighbour = node.start_neighbour(on)
    with annotated(on, "filling-tmp", tmp=["size=16m"]) as (pod, jvm):
        pod.annotate(profile="continuous", threads="1s")
        on.wait_for_target(jvm, state=PROFILING, reason=0)
        new_windows(on, jvm)
        on.wait_for_target(jvm, meanwhile=jvm.fill_tmp, state=FAILED, reason=DISK_FULL)
        (jvm.tmp() / "filler").unlink()
        goes_on(on, jvm)
        reasons = {w["reason"] for w in on.windows(jvm)}
        same("other reasons of windows", reasons - {0, DISK_FULL, PARSE_FAILED}, set())
    node.check_unharmed(on, neighbour)
    neighbour.end()


def the_files_of_a_session_do_not_grow(on):
    """They count towards the container's limit of ephemeral storage, so windows that were read are given back."""
    with annotated(on, "long", tmp=["size=64m"]) as (pod, jvm):
        pod.annotate(profile="continuous", threads="off", events="cpu=1ms,wall=5ms,alloc=1k")
        on.wait_for_target(jvm, state=PROFILING, reason=0)
        recording = on.session_of(jvm)[0] / "recording.jfr"
        new_windows(on, jvm, 3 * 12)  # one of each source
        written, held = recording.stat().st_size, 512 * recording.stat().st_blocks
        print(f"# {written} bytes were recorded, {held} are held")
        same("less than half of them are held", held < written / 2, True)


def damage_until_it_is_told(on, jvm):
    """Damages the recording until the collector tells it: a window that ends at the same moment is not hit."""
    if on.target(jvm).get("reason") == PARSE_FAILED:
        return True
    with contextlib.suppress(OSError, ValueError):  # there is no session for a moment
        on.damage(jvm)
    return False


def a_damaged_recording_costs_its_windows_only(on):
    with annotated(on, "damaged") as (pod, jvm):
        pod.annotate(profile="continuous", threads="1s")
        on.wait_for_target(jvm, state=PROFILING, reason=0)
        new_windows(on, jvm)
        wait_for("the failure", lambda: damage_until_it_is_told(on, jvm))
        contains(on.wait_for_target(jvm, state=FAILED, reason=PARSE_FAILED)["detail"], "it was damaged")
        goes_on(on, jvm)
        on.damage(jvm)  # and it ends without a rest of files


def begun(on, jvm):
    """Returns the name of the session's directory, and when the session began."""
    directory, marker = on.session_of(jvm)
    return directory.name, marker["started_ms"]


def a_rollout_leaves_no_gap(on):
    on.stop_collector()
    on.stop_attachd()
    on.leave = True
    on.start_attachd()
    on.start_collector()
    with annotated(on, "rolled") as (pod, jvm):
        pod.annotate(profile="continuous", threads="1s")
        on.wait_for_target(jvm, state=PROFILING, reason=0)
        new_windows(on, jvm)
        session = begun(on, jvm)
        on.stop_collector()
        on.stop_attachd()
        on.start_attachd()
        on.start_collector()
        new_windows(on, jvm)
        same("the session after a rollout", begun(on, jvm), session)
        on.collector.kill()
        on.collector.wait()
        on.start_collector()
        new_windows(on, jvm)
        same("the session after the collector was killed", begun(on, jvm), session)
        windows = on.windows(jvm)
        follow_one_another(windows)
        same("windows that were lost", [w for w in windows if w["reason"] != 0], [])
        same("windows with gaps", [w for w in windows[1:] if w["covered"] < w["length"] / 2], [])


STEPS = (
    a_pod_with_a_container_is_profiled_by_annotation,
    every_kind_of_container_is_profiled_or_says_why,
    a_full_tmp_is_told_until_there_is_room,
    a_tmp_that_fills_up_costs_its_windows_only,
    the_files_of_a_session_do_not_grow,
    a_damaged_recording_costs_its_windows_only,
    a_rollout_leaves_no_gap,
)

sys.exit(node.run(STEPS, sys.argv[1:6], node.missing() or missing()))
