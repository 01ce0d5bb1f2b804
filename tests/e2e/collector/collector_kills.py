#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills of the collector, of attachd and of attach workers at random moments, with real JVMs.

Whatever is killed: the JVMs live, their sessions go on, what the backend acknowledged equals what
the JDK's own API reads from the whole recording of each JVM, and no file is left. Of a JVM that ends
while no collector runs, and of one whose session begins anew with each window, all time is either
recorded or told as lost. Prints TAP.

usage: collector_kills.py ATTACHD WORKER COLLECTOR CLASSES SOURCE_ROOT HOTSTACK KILLS [SEED]
"""

import os
import pathlib
import random
import signal
import sys
import time

from collector_world import (
    CACHE, JAVA, PATIENCE, WORKER, Failed, leftovers, mine, recorded_since, recordings, run_in_world,
    same, timeline, totals, truth, wait_for)

KILLS = int(sys.argv[7])
SEED = int(sys.argv[8]) if len(sys.argv) > 8 else int.from_bytes(os.urandom(4), "little")
WINDOW = 2000
PROCESS_EXITED = 11  # the reason's number in the contract


def javas():
    """Returns Debian's Java, and the oldest and the newest of the others."""
    others = [CACHE / f"jdk/{release}/bin/java" for release in (11, 25)]
    return [JAVA] + [java for java in others if java.exists()]


def workers(world):
    """Returns the pids of the attach workers that run now."""
    children = pathlib.Path(f"/proc/{world.attachd.pid}/task").glob("*/children")
    found = []
    for child in " ".join(path.read_text(encoding="ascii") for path in children).split():
        try:
            if os.path.samefile(f"/proc/{child}/exe", WORKER):
                found.append(int(child))
        except OSError:
            pass  # it has ended
    return found


def start_mortal(world):
    return world.start_jvm("mortal", "-Xmx64m", "Service", "10", "2", "16")


def kill_collector(world, chance):
    """Kills the collector, and one JVM before there is another collector."""
    wait_for("windows of the JVM that is to end", lambda: recorded_since(world, [world.mortal], 0))
    time.sleep(chance.uniform(0, 2 * WINDOW / 1000))
    world.collector.kill()
    world.collector.wait()
    world.mortal.kill()
    world.mortal.wait()
    world.dead.append(world.mortal)
    world.start_collector()
    world.mortal = start_mortal(world)


def kill_attachd(world, _):
    world.attachd.kill()
    world.attachd.wait()
    world.start_attachd()


def kill_worker(world, chance):
    """Kills an attach worker at any moment of its life, which lasts some tens of ms."""
    for _ in range(1000):
        pid = wait_for("an attach worker", lambda: workers(world))[0]
        time.sleep(chance.uniform(0, 0.05))
        if pid in workers(world):
            os.kill(pid, signal.SIGKILL)
            return
    raise Failed("no attach worker lived long enough to be killed")


def every_jvm_is_profiled(world):
    wait_for("windows of each JVM", lambda: recorded_since(world, world.jvms, 0))


def kills(world):
    """Half of the kills come while the programs still recover from the one before."""
    chance = random.Random(SEED)
    order = []
    while len(order) < KILLS:
        order += chance.sample((kill_collector, kill_attachd, kill_worker), 3)
    for number, kill in enumerate(order[:KILLS]):
        time.sleep(chance.uniform(0, 2 * WINDOW / 1000))
        kill(world, chance)
        print(f"# {number + 1}: {kill.__name__.replace('_', ' ')}", flush=True)
        if chance.random() < 0.5 or number == KILLS - 1:
            now = time.time() * 1000
            wait_for("windows after the kill", lambda: recorded_since(world, world.jvms, now))


def jvms_are_unharmed(world):
    same("JVMs that ended", [jvm.args for jvm in world.jvms if jvm.poll() is not None], [])
    for name in world.names:
        same(f"what {name} printed", world.log(name), "ready\n")


def nothing_is_left(world):
    sessions = len(world.jvms) + len((world.live, world.mortal))
    wait_for("a directory for each session, and no other", lambda: len(leftovers(world)) == sessions)
    world.collector.terminate()
    same("collector's exit", world.collector.wait(PATIENCE), 0)
    world.attachd.terminate()
    same("attachd's exit", world.attachd.wait(PATIENCE), 0)
    same("queue", sorted(p.name for p in (world.dir / "collector/queue").iterdir()), ["lock", "positions"])
    same("leftovers", leftovers(world), [])
    triggers = [path for jvm in world.jvms for path in pathlib.Path("/tmp").glob(f".attach_pid{jvm.pid}*")]
    same("trigger files", triggers, [])


def nothing_is_lost_or_doubled(world):
    pids = [jvm.pid for jvm in world.jvms]
    same("sessions of each JVM, all adopted", [len(recordings(world, pid)) for pid in pids], [1] * len(pids))
    expected = truth(world, *pids)
    print(f"# {expected}")
    same("acknowledged = the JDK's", totals(mine(world.state(), *pids)), expected)
    same("something of each type", all(expected.values()), True)


def apart(windows):
    """Returns the pairs of windows between which time is missing, or that overlap."""
    return [(one, other) for one, other in zip(windows, windows[1:]) if other["start"] != one["start"] + one["length"]]


def windows_follow_one_another(world):
    state = world.state()
    for jvm in world.jvms:
        windows = timeline(state, jvm.pid)
        same("time told as lost", [w for w in windows if w["reason"] != 0], [])
        same("windows that do not follow one another", apart(windows), [])


def what_is_lost_is_told(world):
    state = world.state()
    for jvm in (*world.dead, world.live):
        same("windows that do not follow one another", apart(timeline(state, jvm.pid)), [])
    for jvm in world.dead:
        same("the end is told", timeline(state, jvm.pid)[-1]["reason"], PROCESS_EXITED)


STEPS = (every_jvm_is_profiled, kills, jvms_are_unharmed, nothing_is_left, nothing_is_lost_or_doubled, windows_follow_one_another,
         what_is_lost_is_told)


def set_up(world):
    print(f"# seed {SEED}", flush=True)
    world.write_token("e2e-token")
    # windows wait for their batch, so that a kill meets some
    world.configure(events="cpu=10ms,alloc=64k,lock=100us", threads="1s", flush="5s",
                    session="{cooldown_min: 1s, cooldown_max: 2s}",
                    first_rule=f"  - {{command_line: '-Dworld={world.installation}.*-Drole=live', workload: live, "
                               "events: 'cpu=10ms,alloc=64k,live', startup_delay: 0s}\n")
    world.start_attachd()
    world.names = [f"jvm{number}" for number, _ in enumerate(javas())]
    world.jvms = [world.start_jvm(name, "-Xmx64m", "Service", "10", "2", "16", java=java)
                  for name, java in zip(world.names, javas())]
    world.live = world.start_jvm("live", "-Drole=live", "-Xmx64m", "Service", "10", "2", "16")
    world.mortal = start_mortal(world)
    world.dead = []


sys.exit(run_in_world(STEPS, set_up, ("collector", "attachd", "ingest")))
