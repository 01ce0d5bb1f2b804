#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during each public function. Prints TAP.

Runs in the cache's venv of Python packages; the environment holds PYTHONPATH (the package that was built) and HOTSTACK_DATADIR. As
`interrupt_test.py stuck|large PATH...` it is the child that is interrupted, and prints what it saw as JSON.
"""

import contextlib
import inspect
import io
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy
import pyarrow
import tap
from support import EXAMPLE, grown, unpacked

import hotstack

SIZE = 64 << 20
ALL = list(hotstack.SAMPLE_COLUMNS)
ENDLESS = ("jvms", "profile")
NODE_PROPERTIES = [name for name, value in vars(hotstack.Node).items() if isinstance(value, property) and name[0] != "_"]


def rows(table):
    return sum(1 for _ in table)


def interrupted(call, is_time):
    """Calls, and sends SIGINT to this process when `is_time` says so. This process's CPU time when it was sent, if it came as a
    KeyboardInterrupt, else None."""
    begun, sent = threading.Event(), []

    def watch():
        begun.wait()
        while not is_time():
            time.sleep(0.001)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        try:
            begun.set()
            call()
        except hotstack.UsageError:  # what an array is told
            pass
        except hotstack.HotstackError:
            raise
        except Exception:  # another library's exception; the interrupt itself follows
            pass
        watcher.join()
        time.sleep(10)  # the call ended before the signal came: it arrives here
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
        "stream": lambda: pyarrow.table(Samples(both()._inputs)),
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


# ---- every public function, on a large recording ----


def public_functions():
    """Names of all functions, methods and properties that the package offers, those that Python or Jupyter call included."""
    for name in hotstack.__all__:
        thing = getattr(hotstack, name)
        if inspect.isfunction(thing):
            yield name
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            for member, value in vars(thing).items():
                function = value.fget if isinstance(value, property) else value
                is_private = member.startswith("_") and not member.endswith("_")
                if inspect.isfunction(function) and function.__module__.startswith("hotstack.") and not is_private:
                    yield f"{name}.{member}"


def large_calls(path, folder):
    """A call for each of `public_functions`. Each begins with a recording of its own, so that nothing is known of it yet."""
    opened = lambda: hotstack.open(path)  # noqa: E731
    made = opened()
    samples = lambda: opened().samples(columns=ALL)  # noqa: E731
    graph = lambda: opened().flamegraph("cpu")  # noqa: E731
    diff = lambda: opened().diff(made, "cpu")  # noqa: E731
    node, change, kept = graph().root, diff().changes()[0], opened()
    progress = hotstack.ProgressBar(io.StringIO())
    program = folder / "program"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    os.environ["HOTSTACK_PROGRAM"] = str(program)
    return {
        "open": opened,
        "jvms": hotstack.jvms,
        "profile": lambda: hotstack.profile(1, 1000),
        "Change.is_certain": lambda: change.is_certain,
        "Loss.is_whole": lambda: opened().loss().is_whole,
        "ProgressBar.__init__": lambda: hotstack.ProgressBar(io.StringIO()),
        "ProgressBar.__call__": lambda: progress(1, 2),
        "Diff.__init__": diff,
        "Diff.__repr__": lambda: repr(diff()),
        "Diff._repr_html_": lambda: diff()._repr_html_(),
        "Diff.changes": lambda: diff().changes(),
        "Diff.regressions": lambda: diff().regressions(),
        "Diff.save": lambda: diff().save(folder / "diff.html"),
        "Diff.to_html": lambda: diff().to_html(),
        "Diff.types": lambda: diff().types,
        "FlameGraph.__init__": graph,
        "FlameGraph.__repr__": lambda: repr(graph()),
        "FlameGraph._repr_html_": lambda: graph()._repr_html_(),
        "FlameGraph.root": lambda: graph().root,
        "FlameGraph.save": lambda: graph().save(folder / "graph.html"),
        "FlameGraph.to_collapsed": lambda: graph().to_collapsed(),
        "FlameGraph.to_html": lambda: graph().to_html(),
        "FlameGraph.to_json": lambda: graph().to_json(),
        "FlameGraph.tree": lambda: graph().tree("cpu"),
        "FlameGraph.types": lambda: graph().types,
        **{f"Node.{name}": lambda name=name: getattr(node, name) for name in NODE_PROPERTIES},
        "Node.__init__": lambda: graph().root,
        "Node.__eq__": lambda: node == graph().root,
        "Node.__hash__": lambda: hash(node),
        "Node.__iter__": lambda: list(node),
        "Node.__repr__": lambda: repr(node),
        "Node.walk": lambda: [0 for _ in graph().root.walk()],
        "Profile.__init__": lambda: opened().select(start="+1ms").totals(),
        "Profile.diff": diff,
        "Profile.flamegraph": graph,
        "Profile.name": lambda: kept.name,
        "Profile.threads": lambda: opened().threads("cpu"),
        "Profile.timeline": lambda: opened().timeline("cpu", bucket=0.01),
        "Profile.top": lambda: opened().top("cpu"),
        "Profile.totals": lambda: opened().totals(),
        "Profile.unread_events": lambda: opened().unread_events(),
        "Recording.__init__": opened,
        "Recording.__enter__": lambda: opened().__enter__().totals(),
        "Recording.__exit__": lambda: opened().__exit__(None, None, None),
        "Recording.__reduce__": lambda: pickle.loads(pickle.dumps(opened())),
        "Recording.__repr__": lambda: repr(opened()),
        "Recording.chunks": lambda: opened().chunks(),
        "Recording.close": lambda: opened().close(),
        "Recording.duration": lambda: opened().duration,
        "Recording.end": lambda: opened().end,
        "Recording.event_types": lambda: opened().event_types(),
        "Recording.events": lambda: rows(opened().events("jdk.ExecutionSample")),
        "Recording.info": lambda: opened().info(),
        "Recording.loss": lambda: opened().loss(),
        "Recording.samples": lambda: rows(samples()),
        "Recording.select": lambda: opened().select(thread=lambda name: True, start="2001-01-01T00:00:00Z").totals(),
        "Recording.settings": lambda: opened().settings(),
        "Recording.start": lambda: opened().start,
        "Rows.__init__": lambda: opened().top("cpu"),
        "Rows.__repr__": lambda: repr(opened().top("cpu")),
        "Rows._repr_html_": lambda: opened().top("cpu")._repr_html_(),
        "Table.__init__": samples,
        "Table.__array__": lambda: numpy.asarray(samples()),
        "Table.__arrow_c_schema__": lambda: pyarrow.schema(samples()),
        "Table.__arrow_c_stream__": lambda: pyarrow.table(samples()),
        "Table.__bool__": lambda: bool(samples()),
        "Table.__getitem__": lambda: samples()["stack"],
        "Table.__iter__": lambda: rows(samples()),
        "Table.__len__": lambda: len(samples()),
        "Table.__repr__": lambda: repr(samples()),
        "Table._repr_html_": lambda: samples()._repr_html_(),
        "Table.batches": lambda: rows(samples().batches()),
        "Table.columns": lambda: opened().events("jdk.ExecutionSample").columns,
        "Table.dtypes": lambda: opened().events("jdk.ExecutionSample").dtypes,
        "Table.head": lambda: samples().head(1 << 40),
        "Table.schema": lambda: opened().events("jdk.ExecutionSample").schema,
        "Table.to_arrow": lambda: samples().to_arrow(),
        "Table.to_pandas": lambda: samples().to_pandas(),
        "Table.to_polars": lambda: samples().to_polars(),
    }


def run_large(path, folder):
    """For each function the CPU time that this process spent between the signal and the KeyboardInterrupt: on a busy machine time passes by itself."""
    said = {}
    for name, call in large_calls(path, pathlib.Path(folder)).items():
        whole = 1.0
        if name not in ENDLESS:
            start = time.monotonic()
            with contextlib.suppress(hotstack.UsageError):  # what an array is told
                call()
            whole = time.monotonic() - start
        until = time.monotonic() + whole * 0.4
        sent = interrupted(call, lambda until=until: time.monotonic() > until)
        said[name] = time.process_time() - sent if sent is not None else None
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
        said = self.child("large", path, self.folder)
        self.assertEqual(set(said), set(public_functions()))
        for name, spent in said.items():
            with self.subTest(name):
                self.assertIsNotNone(spent, "no KeyboardInterrupt came")
                self.assertLess(spent, 1)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps({"stuck": run_stuck, "large": run_large}[sys.argv[1]](*sys.argv[2:])), flush=True)
        os._exit(0)  # the work that was left behind still waits
    tap.main(Interrupt)
