#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Twenty JVMs, of which five hang, five exit at random and one floods: the other nine lose nothing.

Those that exit are replaced at once, as a container that is started again. Prints TAP, and as
comments what was measured.

usage: collector_isolation.py ATTACHD WORKER COLLECTOR CLASSES SOURCE_ROOT HOTSTACK WINDOWS [SEED]
"""

import os
import random
import signal
import sys
import time

from collector_world import (
    PATIENCE, leftovers, mine, recorded_since, recordings, run_in_world, same, timeline, totals, truth,
    wait_for)

WINDOWS = int(sys.argv[7])
SEED = int(sys.argv[8]) if len(sys.argv) > 8 else int.from_bytes(os.urandom(4), "little")
CALM, HANGING, EXITING = 9, 5, 5
WINDOW = 4000
SMALL = ("-Xmx32m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
CALM_SERVICE = ("Service", "100", "2", "64")
FLOOD = ("-Drole=flood", "Service", "0", "2", "8192")


def start(world, role, *command):
    """Starts a JVM, whose output is kept with that of the others of its role."""
    return world.start_jvm(role, *SMALL, *command)


def all_are_profiled(world):
    everybody = [*world.calm, *world.hanging, *world.exiting, world.flood]
    wait_for("a window of each JVM", lambda: recorded_since(world, everybody, 0))


def some_hang_some_exit_one_floods(world):
    chance = random.Random(SEED)
    for jvm in world.hanging:
        jvm.send_signal(signal.SIGSTOP)
    began = time.time() * 1000
    while not recorded_since(world, world.calm, began, WINDOWS):
        slot = chance.randrange(EXITING)
        world.exiting[slot].send_signal(chance.choice((signal.SIGKILL, signal.SIGTERM)))
        world.exiting[slot].wait()
        world.exits += 1
        world.exiting[slot] = start(world, "exiting", *CALM_SERVICE)
        time.sleep(chance.uniform(0, WINDOW / 1000))
    print(f"# {world.exits} JVMs ended", flush=True)


def those_that_hang_say_so_and_come_back(world):
    wait_for("a reason for each JVM that hangs", lambda: len(world.hanging) == len(
        [t for t in world.state()["targets"] if t["reason"] != 0 and t["pid"] in [jvm.pid for jvm in world.hanging]]))
    for jvm in world.hanging:
        jvm.send_signal(signal.SIGCONT)
    now = time.time() * 1000
    wait_for("windows of those that hung", lambda: recorded_since(world, world.hanging, now))


def the_flood_is_bounded(world):
    """The events of the flooding JVM reach limits.events."""
    wait_for("events past the limit", lambda: world.metrics().get("hotstack_collector_excess_events_total", 0) > 0)


def nothing_is_left(world):
    world.collector.terminate()
    same("collector's exit", world.collector.wait(PATIENCE), 0)
    world.attachd.terminate()
    same("attachd's exit", world.attachd.wait(PATIENCE), 0)
    same("leftovers", leftovers(world), [])
    same("calm JVMs that ended", [jvm.pid for jvm in world.calm if jvm.poll() is not None], [])


def the_others_windows_are_whole(world):
    state = world.state()
    for jvm in world.calm:
        windows = timeline(state, jvm.pid)
        same("time told as lost", [w for w in windows if w["reason"] != 0], [])
        apart = [(one, other) for one, other in zip(windows, windows[1:]) if other["start"] != one["start"] + one["length"]]
        same("windows that do not follow one another", apart, [])
        # the last one ends when the collector is answered, a moment after the recording
        same("windows not covered", [w for w in windows[1:-1] if w["covered"] < w["length"]], [])


def nothing_is_lost_or_doubled(world):
    """No sample of the flooding JVM is lost either: events past limits.events are in its sums."""
    pids = [jvm.pid for jvm in (*world.calm, world.flood)]
    same("sessions of each JVM", [len(recordings(world, pid)) for pid in pids], [1] * len(pids))
    expected = truth(world, *pids)
    print(f"# {expected}")
    same("acknowledged = the JDK's", totals(mine(world.state(), *pids)), expected)


STEPS = (all_are_profiled, some_hang_some_exit_one_floods, those_that_hang_say_so_and_come_back, the_flood_is_bounded,
         nothing_is_left, the_others_windows_are_whole, nothing_is_lost_or_doubled)


def set_up(world):
    print(f"# seed {SEED}", flush=True)
    world.exits = 0
    world.write_token("e2e-token")
    world.configure(
        events="cpu=10ms,alloc=64k,lock=100us", threads="5s", window=f"{WINDOW}ms", flush="1s",
        session="{cooldown_min: 1s, cooldown_max: 2s, rate_limit: 1000000}",
        limits="{events: 5000}",
        first_rule=f"  - {{command_line: '-Dworld={world.installation}.*-Drole=flood', workload: flood, "
                   "events: 'cpu=1ms,alloc=64k,lock=10us', startup_delay: 0s}\n")
    world.start_attachd()
    world.calm = [start(world, "calm", *CALM_SERVICE) for _ in range(CALM)]
    world.hanging = [start(world, "hanging", *CALM_SERVICE) for _ in range(HANGING)]
    world.exiting = [start(world, "exiting", *CALM_SERVICE) for _ in range(EXITING)]
    world.flood = start(world, "flood", *FLOOD)


sys.exit(run_in_world(STEPS, set_up, ("collector", "attachd", "ingest", "flood")))
