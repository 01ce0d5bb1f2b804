#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector and attachd beside JVMs in containers that work against them, and a neighbour that must not notice. Prints TAP.

usage: hostile_e2e.py ATTACHD WORKER COLLECTOR CLASSES THREAD_AGENT HOSTILE_CLASSES
"""

import concurrent.futures
import os
import pathlib
import socket
import sys
import unicodedata

import node
from cluster import wait_for
from containers import missing
from node import FAILED, OFF, PROFILING, new_windows
from steps import Failed, same

INTERNAL, PERMISSION_DENIED, EXTERNAL_PROFILER, PARSE_FAILED, BUDGET_TRIPPED = 31, 5, 7, 12, 13
ATTACH_TIMEOUT, LIBRARY_LOAD_FAILED, PROFILER_ERROR = 16, 17, 18
ATTACKS = {  # of Hostile.java, and the state and reasons of a JVM that does this
    "links": (FAILED, {INTERNAL}),
    "link": (FAILED, {PROFILER_ERROR}),
    "directory": (FAILED, {INTERNAL, LIBRARY_LOAD_FAILED, PROFILER_ERROR}),
    "pipe": (FAILED, {PROFILER_ERROR}),
    "huge": (FAILED, {BUDGET_TRIPPED}),
    "garbage": (FAILED, {PARSE_FAILED}),
    "open": (FAILED, {PARSE_FAILED}),
    "marker": (FAILED, {EXTERNAL_PROFILER}),
    "socket": (FAILED, {PERMISSION_DENIED}),
    "lock": (FAILED, {ATTACH_TIMEOUT}),
    "fork": (PROFILING, {0}),
}
FILES = ("recording.jfr", "session", "session.new", "log", "status", "settings.jfc", "expired.jfr", "libasyncProfiler.so",
         "libhotstackthreads.so", "1")  # fmt: skip  # to which Hostile.java links
SIDE_BY_SIDE = 3  # containers that are started at once
CLASSES = sys.argv.pop(6)


def make_precious(on):
    """A directory of the host with everything that the links lead to, open to all users, and last read long ago."""
    on.precious = on.dir / "precious"
    on.precious.mkdir()
    on.listener = socket.socket(socket.AF_UNIX)
    on.listener.bind(str(on.precious / "socket"))
    on.listener.listen()
    on.listener.setblocking(False)
    for name in FILES:
        (on.precious / name).write_text(f"the host's {name}\n", encoding="utf-8")
        os.utime(on.precious / name, ns=(0, 0))
    for path in (on.precious, *on.precious.iterdir()):
        path.chmod(0o777)
    on.untouched = traces(on)


def traces(on):
    """What reading, writing, making, removing and renaming there changes."""
    found = {"the directory": on.precious.stat().st_mtime_ns}
    for path in sorted(on.precious.iterdir()):
        one = path.lstat()
        found[path.name] = (one.st_ino, one.st_size, one.st_atime_ns, one.st_mtime_ns, one.st_ctime_ns)
    return found


def start_hostile(on, attack):
    pod = on.cluster.make_pod("shop", attack, node.NAME)
    arguments = ["-Xmx64m", "-Dname=\x1b[2J\n../../../etc\u202e", "-cp", "/hostile", "Hostile", attack, str(on.precious)]
    return pod, on.start_container(pod, arguments=arguments, binds=[(CLASSES, "/hostile")])


def each_hostile_jvm_has_a_state_with_a_reason(on):
    make_precious(on)
    on.neighbour = node.start_neighbour(on)
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        on.hostile = dict(zip(ATTACKS, pool.map(lambda attack: start_hostile(on, attack), ATTACKS)))
    for pod, _ in on.hostile.values():
        pod.annotate(profile="continuous", threads="1s")
    for attack, (_, jvm) in on.hostile.items():
        state, reasons = ATTACKS[attack]

        def fits():
            found = on.target(jvm)
            return found if found.get("state") == state and found["reason"] in reasons else None

        try:
            target = wait_for(f"state {state} with one of the reasons {reasons}", fits)
        except Failed as error:
            raise Failed(f"{attack}: {error}; there is {on.target(jvm)}") from error
        print(f"# {attack}: reason {target['reason']}: {target['detail']}")
        same(f"{attack}: there are words beside the reason", target["detail"] != "" or target["reason"] == 0, True)
    new_windows(on, on.hostile["fork"][1])


def the_neighbour_loses_nothing(on):
    node.check_unharmed(on, on.neighbour)


def nothing_outside_of_the_containers_is_read_or_written(on):
    same("what the links lead to", traces(on), on.untouched)
    try:
        on.listener.accept()
        raise Failed("somebody has connected to a socket of the host")
    except BlockingIOError:
        pass
    (on.precious / "log").read_bytes()
    if traces(on) == on.untouched:
        print("# the file system notes no reads: only writes were looked for")


def the_daemons_stay_whole(on):
    same("the daemons run", [on.collector.poll(), on.attachd.poll()], [None, None])
    wait_for("the end of all workers", lambda: on.metrics().get("attach_workers_unreaped") == 0)
    told = [target["detail"] for target in on.state()["targets"]]
    controls = [c for text in (*on.log("collector").split("\n"), *on.log("attachd").split("\n"), *told) for c in text
                if unicodedata.category(c) == "Cc"]  # fmt: skip
    same("control characters in logs and statuses", controls, [])
    written = [path.name for path in pathlib.Path("/tmp").iterdir() if on.installation in path.name]
    same("files of sessions in the host's /tmp", written, [])


def all_of_them_are_let_go(on):
    for pod, _ in on.hostile.values():
        pod.annotate(profile=None)
    for attack, (_, jvm) in on.hostile.items():
        on.wait_for_target(jvm, state=OFF)
        same(f"{attack}: the JVM lives", jvm.is_alive(), True)
    node.check_unharmed(on, on.neighbour)


STEPS = (
    each_hostile_jvm_has_a_state_with_a_reason,
    the_neighbour_loses_nothing,
    nothing_outside_of_the_containers_is_read_or_written,
    the_daemons_stay_whole,
    all_of_them_are_let_go,
)

sys.exit(node.run(STEPS, sys.argv[1:6], node.missing() or missing()))
