#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Progress, signals, threads and memory. Prints TAP.

The environment holds PYTHONPATH (the package that was built) and HOTSTACK_DATADIR.
"""

import gc
import os
import resource
import signal
import sys
import tempfile
import threading
import unittest

import tap
from support import EXAMPLE, RECORDINGS, TREE, unpacked

import hotstack


class Behaviour(unittest.TestCase):
    def test_progress_is_told_and_can_end_the_reading(self):
        data = unpacked(EXAMPLE) * 5
        told = []
        recording = hotstack.open(data, progress=lambda done, total: told.append((done, total)))
        recording.totals()
        self.assertEqual([done for done, _ in told], [len(data) // 5 * i for i in range(1, 6)])
        self.assertEqual({total for _, total in told}, {len(data)})
        for read in (recording.event_types, lambda: list(recording.samples())):
            told.clear()
            read()
            self.assertEqual(told[-1], (len(data), len(data)))
            self.assertEqual(sorted(told), told)

        def stop(done, total):
            raise KeyError("enough")

        stopped = hotstack.open(data, progress=stop)
        for read in (stopped.totals, stopped.event_types, lambda: list(stopped.samples())):
            with self.assertRaisesRegex(KeyError, "enough"):
                read()

    def test_a_signal_ends_a_long_reading(self):
        recording = hotstack.open(*[unpacked(EXAMPLE)] * 3, progress=lambda done, total: signal.raise_signal(signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            recording.totals()

    def test_other_threads_run_while_c_works(self):
        """C waits for a pipe's writer, which can open it only if C does not keep the others from running."""
        said = []

        def read(path):
            try:
                hotstack._native.Inputs([path]).check()
            except hotstack.IoError as error:
                said.append(error)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pipe")
            os.mkfifo(path)
            reader = threading.Thread(target=read, args=[path])
            reader.start()
            os.close(os.open(path, os.O_WRONLY))
            reader.join()
        self.assertEqual([error.code for error in said], ["io"])
        self.assertEqual(str(said[0]).count(path), 1)

    def test_readings_side_by_side_agree(self):
        data = unpacked(RECORDINGS[0]) * 20
        totals = []
        threads = [threading.Thread(target=lambda: totals.append(hotstack.open(data).totals())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(totals, [hotstack.open(data).totals()] * 4)

    def test_two_threads_cannot_read_the_same_batches(self):
        source = iter(hotstack.open(unpacked(EXAMPLE) * 50)._inputs.samples(["time"], ["wall"], -(2**63), 2**63 - 1))
        errors = []

        def drain():
            try:
                for _ in source:
                    pass
            except hotstack.UsageError as error:
                errors.append(str(error))

        threads = [threading.Thread(target=drain) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all("Another thread" in error for error in errors))

    def test_a_buffer_stays_locked_while_a_table_reads_it(self):
        data = bytearray(unpacked(EXAMPLE))
        recording = hotstack.open(data)
        with self.assertRaises(BufferError):
            data.clear()
        batches = recording.samples().batches()
        next(batches)
        del recording
        with self.assertRaises(BufferError):
            data.clear()
        del batches
        gc.collect()
        data.clear()

    def test_nothing_leaks(self):
        def work():
            recording = hotstack.open(unpacked(EXAMPLE))
            list(recording.samples(columns=hotstack.SAMPLE_COLUMNS))
            list(recording.events("JavaMonitorEnter"))
            recording.event_types(), recording.settings(), recording.loss(), recording.info()
            recording.top(), recording.threads(), recording.timeline(by_pool=True)
            list(recording.flamegraph("cpu", inverted=True).root.walk())
            recording.flamegraph().to_json(), recording.flamegraph().to_html()
            recording.diff(recording).changes()
            recording.select(thread="burner", start="+0s").totals()
            recording.samples().__arrow_c_stream__()
            recording.samples().__arrow_c_schema__()
            next(recording.samples().batches()).__arrow_c_array__()
            for bad in (b"x" * 100, unpacked(EXAMPLE)[:2000]):
                try:
                    hotstack.open(bad).totals()
                except hotstack.FormatError:
                    pass

        for _ in range(20):
            work()
        gc.collect()
        blocks, size = sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(60):
            work()
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - blocks, 60)
        # One recording's bytes lost in each round would be 60 x 37 KB; KiB here.
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size, 1500)

    def test_the_version_is_the_trees(self):
        text = (TREE / "meson.build").read_text()
        self.assertIn(f"version: '{hotstack.__version__}'", text)


if __name__ == "__main__":
    tap.main(Behaviour)
