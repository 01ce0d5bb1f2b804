#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack threads on real JVMs.

usage: threads_test.py HOTSTACK WORKER AGENT CLASSES
  HOTSTACK  the program
  WORKER    hotstack-attach-worker
  AGENT     libhotstackthreads.so
  CLASSES   the folder with Threads.class
Prints TAP. Skips, naming the command that helps, where there is no JDK.
"""
import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
HOTSTACK, WORKER, AGENT, CLASSES = sys.argv[1:5]
ENVIRONMENT = dict(os.environ, HOTSTACK_ATTACH_WORKER=WORKER, HOTSTACK_THREAD_AGENT=AGENT)


def find_java():
    for java in (CACHE / "jdk/21/bin/java", CACHE / "jdk/17/bin/java",
                 pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64/bin/java"),
                 pathlib.Path("/usr/lib/jvm/java-17-openjdk-arm64/bin/java")):
        if java.exists():
            return java
    return None


@contextlib.contextmanager
def jvm(*arguments):
    """A JVM that runs Threads with these arguments; at the end its /tmp must have no files of ours."""
    child = subprocess.Popen([find_java(), "-XX:+EnableDynamicAgentLoading", "-Xmx64m", "-cp", CLASSES, "Threads",
                              *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        yield child
        maps = pathlib.Path(f"/proc/{child.pid}/maps").read_text()
        left = [path for path in re.findall(r"(/\S*/hotstack-threads-\S+)/lib", maps) if pathlib.Path(path).exists()]
        assert not left, left
    finally:
        child.kill()
        printed = child.stdout.read()
        child.wait()
        pathlib.Path(f"/tmp/.java_pid{child.pid}").unlink(missing_ok=True)
    assert printed == "", printed


UNBOUNDED = ("--pause", "1m")  # the tests do not depend on how long a busy machine takes


def hotstack(*arguments, pause=UNBOUNDED):
    return subprocess.run([HOTSTACK, "threads", *pause, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=ENVIRONMENT)


def document(*arguments, statuses=(0,), pause=UNBOUNDED):
    result = hotstack("--json", *arguments, pause=pause)
    assert result.returncode in statuses, (result.returncode, result.stderr)
    assert result.stderr == "", result.stderr
    return json.loads(result.stdout)


def named(threads, name):
    found = [thread for thread in threads if thread["name"] == name]
    assert len(found) == 1, (name, [thread["name"] for thread in threads])
    return found[0]


LISTS = ("busy", "blocked", "unknown_holder", "class_initialisation", "waiting")


def all_threads(found):
    return [thread for part in LISTS for thread in found[part]]


def deadlock_as_a_cycle():
    for kind, n, method in (("monitors", 2, "lockMonitors"), ("locks", 5, "lockLocks")):
        with jvm(kind, n) as child:
            found = document("-d", "0", child.pid)
            assert len(found["deadlocks"]) == 1, found["deadlocks"]
            cycle = found["deadlocks"][0]
            assert cycle["inferred"] is False and cycle["id"] == document("-d", "0", child.pid)["deadlocks"][0]["id"], cycle
            assert sorted(thread["name"] for thread in cycle["threads"]) == [f"stuck-{i}" for i in range(n)]
            tids = [thread["java_tid"] for thread in cycle["threads"]]
            for i, lock in enumerate(cycle["locks"]):
                assert lock["wanted_by"] == tids[i] and lock["held_by"] == tids[(i + 1) % n], cycle
                stuck = named(found["blocked"], cycle["threads"][i]["name"])
                assert stuck["wait"] == "deadlocked" and stuck["holder"]["kind"] == "java", stuck
                assert stuck["lock"]["identity_hash"] == lock["identity_hash"], stuck
                assert any(frame["method"] == method for frame in stuck["stack"]), stuck
                assert stuck["deadlocked"] is True
            text = hotstack("-d", "0", child.pid)
            assert text.returncode == 0 and f"DEADLOCK 1: a cycle of {n} threads" in text.stdout, text
            for i in range(n):
                assert f'held by "stuck-{i}"' in text.stdout, text.stdout
            assert f"Threads.{method} (Threads.java:" in text.stdout, text.stdout


def blocked_with_its_owner():
    with jvm("contend") as child:
        found = document("-d", "200ms", child.pid)
        for i in range(3):
            wanting = named(found["blocked"], f"wanting-{i}")
            assert wanting["state"] == "blocked" and wanting["lock"]["class"] == "Threads", wanting
            assert [owner["name"] for owner in wanting["holder_chain"]] == ["holder"], wanting
            assert wanting["wait"] == "blocked" and wanting["holder"]["name"] == "holder", wanting
        holder = named(found["waiting"], "holder")
        assert "owner" in holder["why"], holder
        hashes = [lock["identity_hash"] for frame in holder["stack"] for lock in frame.get("locked", [])]
        assert hashes == [wanting["lock"]["identity_hash"]], holder
        assert "blocked_ms" not in wanting and found["meta"]["contention"] is False
        timed = document("-d", "200ms", "--contention", child.pid)
        assert named(timed["blocked"], "wanting-0")["blocked_ms"] >= 0 and timed["meta"]["contention"] is True
        assert document("-d", "0", child.pid)["meta"]["contention"] is False  # and back after
        text = hotstack("-d", "200ms", child.pid).stdout
        assert 'held by "holder" (waiting), locked in Threads.hold (Threads.java:' in text, text


def busy_by_cpu():
    with jvm("burn", 80) as child:
        found = document("-d", "2s", child.pid)
        first = found["busy"][0]
        assert first["name"] == "burn-80" and first["cpu_share"] > 0.01, first
        assert any(frame["method"] == "burnShare" for frame in first["stack"]), first
        assert first["os_tid"] in map(int, os.listdir(f"/proc/{child.pid}/task")), first
        window = found["meta"]["window_s"]
        assert window >= 2 and abs(first["cpu_share"] - first["cpu_ns"] / 1e9 / window) < 1e-6, found["meta"]
        everybody = {thread["java_tid"] for thread in all_threads(found)}
        assert len(everybody) == found["meta"]["threads_total"] == found["meta"]["threads"], found["meta"]
        text = hotstack(child.pid).stdout
        assert re.search(r'BUSY: 2 % of a core or more\n +\d+\.\d % +"burn-80"', text), text


def all_stacks_on_demand():
    with jvm("locks", 2) as child:
        found = document("-d", "0", "--full", "--synchronizers", child.pid)
        assert found["meta"]["full"] is True and found["meta"]["cut"] == [], found["meta"]
        threads = {t["java_tid"]: t for t in all_threads(found)}
        assert all(t["why"] == ["full"] and "stack" in t for t in threads.values()), threads
        stuck = named(found["blocked"], "stuck-0")
        assert [lock["class"] for lock in stuck["owns"]] == ["java.util.concurrent.locks.ReentrantLock$NonfairSync"]
        shallow = document("-d", "0", "--full", "--depth", 1, child.pid)
        assert all(len(t["stack"]) <= 1 for t in shallow["waiting"]), shallow
        assert shallow["meta"]["cut"] == ["depth"], shallow["meta"]


def what_is_cut_is_told():
    with jvm("many", 300) as child:
        found = document("-d", "0", "--max-threads", 50, "--stacks", 5, child.pid, statuses=(3,))
        assert found["meta"]["threads_total"] >= 300 and found["meta"]["threads"] == 50, found["meta"]
        assert found["meta"]["cut"] == ["threads"] and found["meta"]["stacks_wanted"] == 5
        text = hotstack("-d", "0", child.pid)
        assert text.returncode == 0 and re.search(r'\d+  "idle-#"  waiting', text.stdout), text.stdout
        cut = hotstack("-d", "0", "--max-threads", 50, child.pid)
        assert cut.returncode == 3 and "cut short: threads" in cut.stdout, cut.stdout


def pauses_end_and_are_told():
    with jvm("mixed", 200, 1000) as child:
        asked = ("-d", "100ms", "--depth", 2048, "--stacks", 200, child.pid)
        whole = document(*asked)["meta"]
        assert whole["cut"] == [] and whole["stacks"] == whole["stacks_wanted"] == 200, whole
        assert 0 < whole["longest_pause_ms"] < whole["paused_ms"] and whole["pauses"] > 2, whole
        found = document(*asked, statuses=(0, 3), pause=("--pause", "1ms"))
        meta = found["meta"]
        assert "pause" in meta["cut"] and 8 <= meta["stacks"] < 200 == meta["stacks_wanted"], meta
        assert all("stack" in named(found["blocked"], f"stuck-{i}") for i in range(2)), found["blocked"]
        text = hotstack(*asked, pause=("--pause", "1ms"))
        assert text.returncode in (0, 3) and re.search(r"cut short: (stacks, )?pause", text.stdout), text.stdout
        assert re.search(r"; stacks of \d+; stopped for at most \d+\.\d ms in all, \d+\.\d ms at a time\n", text.stdout)


def carriers_name_what_they_carry():
    with jvm("virtual") as child:
        found = document("-d", "1s", "--busy", "0.1", child.pid)
        assert found["blocked"] == [] and found["deadlocks"] == [] and found["locks"] == [], found
        carrier, = [thread for thread in found["busy"] if "carries" in thread]
        assert carrier["carries"]["name"] == "vt-computes" and carrier["carries"]["java_tid"] > 0, carrier
        assert carrier["wait"] == "none" and "lock" not in carrier and "holder" not in carrier, carrier
        text = hotstack("--busy", "0.1", child.pid).stdout
        number = carrier["carries"]["java_tid"]
        assert re.search(rf'"ForkJoinPool-1-worker-\d+"  carries virtual thread #{number} \(vt-computes\)', text), text
        assert ", 0 blocked, " in text and "VirtualThread@" not in text, text


def classes_that_wait_for_each_other():
    with jvm("initialise") as child:
        found = document("-d", "1s", child.pid)
        assert found["blocked"] == [], found["blocked"]
        first = named(found["class_initialisation"], "init-First")
        assert first["state"] == "runnable" and first["awaited_class"] == "Threads$Second", first
        assert first["holder"]["name"] == "init-Second" and first["holder"]["kind"] == "java", first
        assert "stalled" in first["why"] and first["stack"][0]["method"] == "<clinit>", first
        cycle, = found["deadlocks"]
        assert cycle["inferred"] is True, cycle
        assert [lock["awaited_class"] for lock in cycle["locks"]] == ["Threads$Second", "Threads$First"], cycle
        text = hotstack("-d", "1s", child.pid).stdout
        assert "PROBABLE DEADLOCK 1 (inferred, not found by the JVM): a cycle of 2 threads" in text, text
        assert 'probably waits for the initialisation of class Threads$Second by "init-Second"' in text, text
        once = document("-d", "0", child.pid)  # one look cannot tell it
        assert once["deadlocks"] == [] and once["class_initialisation"] == [], once


def locks_without_a_known_holder():
    with jvm("ownerless") as child:
        found = document("-d", "0", child.pid)
        assert found["blocked"] == [], found["blocked"]
        for name, lock in (("stamped", "java.util.concurrent.locks.StampedLock"),
                           ("writer", "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync"),
                           ("permitted", "java.util.concurrent.Semaphore$NonfairSync")):
            thread = named(found["unknown_holder"], name)
            assert thread["lock"]["class"] == lock and thread["holder"] == {"kind": "unknown"}, thread
            assert "stack" in thread and thread["holder_chain"] == [], thread
        assert {lock["holder"]["kind"] for lock in found["locks"]} == {"unknown"} and len(found["locks"]) == 3, found["locks"]
        text = hotstack("-d", "0", child.pid).stdout
        assert "HOLDER UNKNOWN: the JVM does not know who holds these locks\n" in text, text
        assert re.search(r"1 thread waits for java\.util\.concurrent\.locks\.StampedLock@[0-9a-f]+, holder unknown\n", text), text
        assert "3 waiting for locks of unknown holders" in text and "StampedLock.readLock" in text, text


def holder_that_has_ended():
    with jvm("orphans") as child:
        found = document("-d", "0", child.pid)
        for i in range(3):
            orphan = named(found["blocked"], f"orphan-{i}")
            assert orphan["holder"]["kind"] == "ended" and orphan["holder"]["name"] == "XNIO-died", orphan
            assert orphan["wait"] == "waiting_for_lock" and orphan["holder_chain"] == [], orphan
        text = hotstack("-d", "0", child.pid).stdout
        assert re.search(r'3 threads wait for \S+ReentrantLock\S+, held by "XNIO-died", which has ended\n', text), text


def equal_stacks_are_printed_once():
    with jvm("pool", 40) as child:
        found = document("-d", "0", child.pid)
        lock, = found["locks"]
        assert len(lock["waiters"]) == 40 and lock["holder"]["name"] == "pool-holder", lock
        text = hotstack("-d", "0", child.pid).stdout
        assert re.search(r'40 threads wait for \S+ReentrantLock\S+, held by "pool-holder"\n', text), text
        assert '40 threads  "pool-#"  waiting, with this stack\n' in text, text
        assert text.count("Threads.take (") == 1, text


def busy_from_a_share_on():
    with jvm("burn", 20) as child:
        assert document("-d", "1s", "--busy", "0.1", child.pid)["busy"][0]["name"] == "burn-20"
        assert document("-d", "1s", "--busy", "99%", child.pid)["busy"] == []


def watch_until_interrupted():
    with jvm("burn", 50) as child:
        watch = subprocess.Popen([HOTSTACK, "threads", *UNBOUNDED, "--watch", "--json", "-d", "100ms", str(child.pid)],
                                 stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        for _ in range(3):
            found = json.loads(watch.stdout.readline())
            assert found["meta"]["window_s"] >= 0.1 and "busy" in found
        watch.send_signal(signal.SIGINT)
        watch.stdout.read()
        assert watch.wait() == 0
        ours, theirs = pty.openpty()
        screen = subprocess.Popen([HOTSTACK, "threads", *UNBOUNDED, "--watch", "-d", "100ms", str(child.pid)], stdout=theirs,
                                  env=ENVIRONMENT)
        os.close(theirs)
        text = b""
        while text.count(b"\x1b[H\x1b[J") < 2:
            text += os.read(ours, 4096)
        screen.send_signal(signal.SIGTERM)
        with contextlib.suppress(OSError):  # the terminal's other end is closed
            while os.read(ours, 4096):
                pass
        os.close(ours)
        assert screen.wait() == 0


def mistakes_are_named():
    for arguments, words in (((), "name one JVM"), (("1", "2"), "name one JVM"), (("-d", "x", "1"), "--duration"),
                             (("-d", "-1", "1"), "--duration"), (("--top", "0", "1"), "--top"),
                             (("--synchronizers", "1"), "--full"), (("--watch", "-d", "0", "1"), "--watch"),
                             (("--stacks", "5000", "1"), "--stacks"), (("--pause", "0", "1"), "--pause"),
                             (("--pause", "2m", "1"), "--pause"), (("--busy", "101", "1"), "--busy"),
                             (("--busy", "x", "1"), "--busy")):
        result = hotstack(*arguments)
        assert result.returncode == 2 and words in result.stderr, (arguments, result.stderr)
    nobody = hotstack("-d", "0", os.getpid())
    assert nobody.returncode == 1 and "HotSpot" in nobody.stderr, nobody.stderr
    help_text = hotstack("--help")
    assert help_text.returncode == 0 and "--contention" in help_text.stdout


TESTS = [deadlock_as_a_cycle, blocked_with_its_owner, busy_by_cpu, all_stacks_on_demand, what_is_cut_is_told,
         pauses_end_and_are_told, carriers_name_what_they_carry, classes_that_wait_for_each_other,
         locks_without_a_known_holder, holder_that_has_ended, equal_stacks_are_printed_once, busy_from_a_share_on,
         watch_until_interrupted, mistakes_are_named]


def main():
    if find_java() is None:
        print("1..0 # SKIP no JDK: run deploy/dependencies/install test")
        return 0
    failed = 0
    print(f"1..{len(TESTS)}")
    for number, test in enumerate(TESTS, 1):
        try:
            test()
            print(f"ok {number} - {test.__name__}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {test.__name__}")
            print("# " + repr(error)[:3000].replace("\n", "\n# "), flush=True)
    return 1 if failed else 0


sys.exit(main())
