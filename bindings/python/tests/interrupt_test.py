#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during each public function. Prints TAP.

Runs in the cache's venv of Python packages; the environment holds PYTHONPATH (the package that was built) and HOTSTACK_DATADIR. As
`interrupt_test.py stuck|large PATH...` it is the child that is interrupted, and prints what it saw as JSON.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import tap
from support import EXAMPLE, grown, unpacked

import hotstack

SIZE = 64 << 20
ALL = list(hotstack.SAMPLE_COLUMNS)
PACKAGE = str(pathlib.Path(hotstack.__file__).parent)


def rows(table):
    return sum(1 for _ in table)


def interrupted(call, is_time):
    """Calls, and sends SIGINT to this process when `is_time` says so. When it was sent, if it came as a KeyboardInterrupt, else None."""
    begun, sent = threading.Event(), []

    def watch():
        begun.wait()
        while not is_time():
            time.sleep(0.001)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        try:
            begun.set()
            call()
        except hotstack.HotstackError:
            raise
        except Exception:  # another library's word for it: the interrupt itself comes then
            pass
        watcher.join()
        time.sleep(10)  # over before the signal came: it is answered here
    except KeyboardInterrupt:
        return sent[0]
    return None


# ---- a reading that never ends by itself ----


def stuck_calls(example, pipe):
    """On inputs of which the second is a pipe that nobody writes: C waits for it."""

    def recording(*paths):
        return hotstack.Recording(hotstack._native.Inputs(list(paths)), "stuck")

    both = lambda: recording(example, pipe)  # noqa: E731
    return {
        "open": lambda: hotstack._native.Inputs([example, pipe]).check(),
        "info": lambda: both().info(),
        "totals": lambda: both().totals(),
        "windows": lambda: both()._windowed(),
        "select": lambda: both().select(thread=lambda name: True, start="2001-01-01T00:00:00Z").totals(),
        "samples": lambda: both()._inputs.samples(ALL, ["cpu"], 0, 1 << 62).__next__(),
        "grow": lambda: [1 for _ in iter(both()._inputs.samples(ALL, ["cpu"], 0, 1 << 62).grow, False)],
        "events": lambda: both()._inputs.events("jdk.ExecutionSample", None, 0, 1 << 62),
        "stream": lambda: __import__("pyarrow").table(Samples(both()._inputs)),
    }


class Samples:
    def __init__(self, inputs):
        self.inputs = inputs

    def __arrow_c_stream__(self, requested_schema=None):
        return self.inputs.samples(ALL, ["cpu"], 0, 1 << 62).stream()


def is_still(main):
    """Whether the main thread has stood at one place for a while: it waits in C."""
    seen = []

    def look():
        frame = sys._current_frames()[main]
        here = (frame.f_code.co_name, frame.f_lasti)
        seen.append(here)
        return len(seen) > 50 and set(seen[-50:]) == {here}

    return look


def run_stuck(example, pipe):
    main = threading.get_ident()
    return {name: interrupted(call, is_still(main)) is not None for name, call in stuck_calls(example, pipe).items()}


# ---- a long reading ----


def large_calls(path):
    opened = lambda: hotstack.open(path)  # noqa: E731
    made = opened()
    return {
        "open": opened,
        "info": lambda: opened().info(),
        "loss": lambda: opened().loss(),
        "samples": lambda: rows(opened().samples(columns=ALL)),
        "events": lambda: rows(opened().events("jdk.ExecutionSample")),
        "columns": lambda: opened().events("jdk.ExecutionSample").columns,
        "to_pandas": lambda: opened().samples(columns=ALL).to_pandas(),
        "to_arrow": lambda: opened().samples(columns=ALL).to_arrow(),
        "to_polars": lambda: opened().samples(columns=ALL).to_polars(),
        "totals": lambda: opened().totals(),
        "top": lambda: opened().top("cpu"),
        "threads": lambda: opened().threads("cpu"),
        "timeline": lambda: opened().timeline("cpu", bucket=0.01),
        "flamegraph": lambda: opened().flamegraph("cpu").root,
        "to_html": lambda: opened().flamegraph().to_html(),
        "to_json": lambda: opened().flamegraph().to_json(),
        "to_collapsed": lambda: opened().flamegraph("cpu").to_collapsed(),
        "diff": lambda: opened().diff(made).to_html(),
        "select": lambda: opened().select(thread=lambda name: True, start="2001-01-01T00:00:00Z").totals(),
    }


def run_large(path):
    said = {}
    for name, call in large_calls(path).items():
        start = time.monotonic()
        call()
        whole = time.monotonic() - start
        until = time.monotonic() + whole * 0.4
        sent = interrupted(call, lambda until=until: time.monotonic() > until)
        said[name] = {"whole": whole, "late": time.monotonic() - sent}
    return said


class Interrupt(unittest.TestCase):
    def child(self, *arguments):
        done = subprocess.run([sys.executable, "-W", "ignore", __file__, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_c_that_never_ends_is_left_behind(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        said = self.child("stuck", EXAMPLE, pipe)
        self.assertEqual(said, dict.fromkeys(stuck_calls("", ""), True))

    def test_every_function_on_one_chunk_of_64_MB(self):
        path = self.folder / "large.jfr"
        path.write_bytes(grown(unpacked(EXAMPLE), SIZE))
        said = self.child("large", path)
        self.assertGreater(len(said), 15)
        for name, times in said.items():
            with self.subTest(name):
                self.assertLess(times["late"], 1 + times["whole"] / 2)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps({"stuck": run_stuck, "large": run_large}[sys.argv[1]](*sys.argv[2:])), flush=True)
        os._exit(0)  # what was left behind still waits
    tap.main(Interrupt)
