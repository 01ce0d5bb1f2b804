#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each metric that operators are promised has a value in one run of a collector to which everything happens. Prints TAP.

usage: collector_metrics.py ATTACHD WORKER COLLECTOR CLASSES SOURCE_ROOT HOTSTACK
"""

import os
import signal
import subprocess
import sys
import time

from collector_world import PATIENCE, PROFILER, leftovers, run_in_world, same, wait_for


def value(world, name, *labels):
    """Returns the sum of a metric's series that have these labels."""
    return sum(number for key, number in world.metrics().items()
               if key.split("{")[0] == f"hotstack_collector_{name}" and all(label in key for label in labels))


def comes(world, name, *labels):
    wait_for(f"{name} {' '.join(labels)}", lambda: value(world, name, *labels) > 0)


def jvms_are_counted(world):
    comes(world, "jvms_skipped", 'reason="external_profiler"', 'workload="demo"')
    comes(world, "jvms_skipped", 'reason="attach_disabled"', 'workload="demo"')
    wait_for("two sessions", lambda: value(world, "jvms_active", 'workload="demo"') == 2)
    same("discovered", value(world, "jvms_discovered", 'workload="demo"', 'namespace=""', 'node="'), 4)
    same("eligible", value(world, "jvms_eligible", 'workload="demo"') >= 2, True)
    comes(world, "covered_seconds_total", 'workload="demo"')
    comes(world, "window_seconds_total", 'workload="demo"')


def a_snapshot_hangs(world):
    world.halting.stdin.write(b"halt\n")
    world.halting.stdin.flush()
    comes(world, "snapshot_timeouts_total")
    world.halting.stdin.write(b"free\n")
    world.halting.stdin.flush()


def a_jvm_is_stopped(world):
    world.service.send_signal(signal.SIGSTOP)
    comes(world, "attach_failures_total", 'reason="target_stopped"')
    world.service.send_signal(signal.SIGCONT)
    wait_for("two sessions", lambda: value(world, "jvms_active") == 2)


def recording_files(world):
    return [path for directory in leftovers(world) for path in directory.glob("recording.jfr")]


def a_recording_is_damaged(world):
    """Gives the chunk that is being written a format that does not exist, so that the next window cannot be read."""
    def damage():
        for path in recording_files(world):
            with open(path, "r+b") as file:
                chunk = file.read().rfind(b"FLR\0")
                if chunk >= 0:
                    os.pwrite(file.fileno(), b"\x00\x63", chunk + 4)
        return value(world, "parse_failures_total") > 0

    wait_for("a recording that cannot be read", damage)


def a_recording_is_removed(world):
    def remove():
        for path in recording_files(world):
            path.unlink(missing_ok=True)
        return value(world, "profiler_command_failures_total", 'reason="profiler_error"') > 0

    wait_for("a command that the profiler cannot follow", remove)
    wait_for("two sessions", lambda: value(world, "jvms_active") == 2)


def the_backend_is_odd(world):
    comes(world, "batch_answers_total", 'outcome="accepted"')
    world.state("/behave?mode=retry&times=2")
    comes(world, "batch_answers_total", 'outcome="retry"')
    world.state("/behave?mode=reject&times=1")
    comes(world, "queue_dropped_total", 'cause="rejected"')
    same("oldest dropped", abs(value(world, "queue_oldest_dropped_timestamp_seconds", 'cause="rejected"') - time.time()) < PATIENCE, True)
    world.ingest.send_signal(signal.SIGSTOP)
    comes(world, "queue_bytes")
    world.ingest.send_signal(signal.SIGCONT)
    same("last success", value(world, "last_success_timestamp_seconds") > time.time() - PATIENCE, True)
    comes(world, "raw_sent_total", 'type="cpu"')


STEPS = (jvms_are_counted, a_snapshot_hangs, a_jvm_is_stopped, a_recording_is_damaged, a_recording_is_removed, the_backend_is_odd)


def set_up(world):
    world.write_token("e2e-token")
    world.configure(threads="1s", session="{operation_timeout: 3s, cooldown_min: 1s, cooldown_max: 2s}")
    world.start_attachd()
    service = ("Service", "100", "2", "64")
    own = f"-agentpath:{PROFILER}=start,event=ctimer,jfr,file={world.dir}/own.jfr"
    world.service = world.start_jvm("service", *service)
    world.start_jvm("conflict", own, *service)
    world.start_jvm("unsupported", "-XX:+DisableAttachMechanism", *service)
    world.halting = world.start_jvm("halting", "Halting", stdin=subprocess.PIPE)


sys.exit(run_in_world(STEPS, set_up, ("collector", "attachd", "ingest")))
