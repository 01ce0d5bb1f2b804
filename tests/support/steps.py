# SPDX-License-Identifier: Apache-2.0
"""Tests that go through steps in order on real programs: waiting, running, telling why one failed. Prints TAP."""

import socket
import stat
import time


class Failed(Exception):
    pass


def wait_for(what, condition, seconds):
    """Returns the result of `condition` once it is true; fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.05)
    raise Failed(f"did not come: {what}")


def same(name, got, expected):
    if got != expected:
        raise Failed(f"{name}: {got} is not {expected}")


def contains(text, part):
    if part not in text:
        raise Failed(f"{text!r} lacks {part!r}")


def is_open_to_all(path):
    """Every user can reach it: no directory above is one that only its owner may enter, such as /root."""
    return all(directory.stat().st_mode & stat.S_IXOTH for directory in path.resolve().parents)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_steps(world, steps):
    """Calls each step with the world, up to the first that fails. True = none did."""
    for number, step in enumerate(steps, 1):
        name = step.__name__.replace("_", " ")
        try:
            step(world)
            print(f"ok {number} - {name}", flush=True)
        except (Failed, OSError, KeyError, ValueError) as error:
            print(f"not ok {number} - {name}: {error!r}", flush=True)
            return False
    return True


def print_logs(log, names):
    """Returns the last lines of each program's log; `log` returns the text of one by name."""
    for name in names:
        for line in log(name).splitlines()[-30:]:
            print(f"# {name}: {line}")
