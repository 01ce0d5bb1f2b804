#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jvms() and profile() on a real JVM, through the program that was built. Prints TAP.

usage: live_test.py WORKER CLASSES
  WORKER    hotstack-attach-worker
  CLASSES   the folder with Target.class
The environment holds PYTHONPATH (the package that was built) and HOTSTACK_PROGRAM.
"""

import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import tap
from support import CACHE, INSTALL

import hotstack

JAVA = CACHE / "jdk/21/bin/java"
ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "unknown")
PROFILER = CACHE / f"async-profiler/linux-{ARCH}/libasyncProfiler.so"


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for needed in (JAVA, PROFILER):
            if not needed.exists():
                raise unittest.SkipTest(f"{needed} is missing: {INSTALL}")
        os.environ.update(HOTSTACK_ATTACH_WORKER=sys.argv[1], HOTSTACK_ASYNC_PROFILER=str(PROFILER))
        cls.jvm = subprocess.Popen(
            [JAVA, "-Xmx64m", "-cp", sys.argv[2], "Target"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        cls.addClassCleanup(cls.end)
        assert cls.jvm.stdout.readline() == "ready\n"

    @classmethod
    def end(cls):
        cls.jvm.kill()
        cls.jvm.stdout.close()
        cls.jvm.wait()
        pathlib.Path(f"/tmp/.java_pid{cls.jvm.pid}").unlink(missing_ok=True)

    def test_jvms_are_listed(self):
        found = {jvm.pid: jvm for jvm in hotstack.jvms()}
        ours = found[self.jvm.pid]
        self.assertEqual((ours.main_class, ours.ok, ours.reason), ("Target", True, "none"))
        self.assertTrue(ours.version.startswith("21."))
        self.assertEqual(ours.facts["pid"], self.jvm.pid)

    def test_a_profile_is_a_recording(self):
        recording = hotstack.profile(self.jvm.pid, 2)
        self.assertEqual(recording.info().producer, "async-profiler")
        self.assertGreater(recording.totals()["cpu"].value, 0)
        self.assertTrue(recording.loss().is_whole)

    def test_a_profile_is_kept_where_it_is_wanted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kept.jfr"
            jvm = next(jvm for jvm in hotstack.jvms() if jvm.pid == self.jvm.pid)
            recording = hotstack.profile(jvm, 1, events=["cpu=1ms"], save=path)
            self.assertEqual(hotstack.open(path).totals(), recording.totals())
            self.assertEqual(set(recording.totals()), {"cpu"})

    def session(self):
        """What `hotstack attach status` says of the session in the JVM."""
        command = [os.environ["HOTSTACK_PROGRAM"], "attach", "status", "--json", str(self.jvm.pid)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["jvms"][0]["session"]

    def test_ctrl_c_leaves_nothing_behind(self):
        """No session in the JVM, no program, no file."""

        def interrupt():
            while self.session() != "hotstack":
                time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)

        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(tempfile, "tempdir", folder):
            watcher = threading.Thread(target=interrupt)
            watcher.start()
            with self.assertRaises(KeyboardInterrupt):
                hotstack.profile(self.jvm.pid, 1000)
            for thread in threading.enumerate():
                if thread is not threading.current_thread():
                    thread.join()
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(self.session(), "none")
        self.assertEqual(pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split(), [str(self.jvm.pid)])

    def test_what_the_program_says_comes_as_an_exception(self):
        with self.assertRaises(hotstack.ProgramError) as caught:
            hotstack.profile(2**22 + 17, 1)
        self.assertIn(str(2**22 + 17), str(caught.exception))
        self.assertEqual(caught.exception.code, "program")
        self.assertNotIn(caught.exception.status, (None, 0))

    def test_without_the_program_the_exception_says_what_to_install(self):
        program, path = os.environ.pop("HOTSTACK_PROGRAM"), os.environ["PATH"]
        os.environ["PATH"] = "/nonexistent"
        try:
            for call in (hotstack.jvms, lambda: hotstack.profile(1)):
                with self.assertRaisesRegex(hotstack.ProgramError, "install it with"):
                    call()
            os.environ["HOTSTACK_PROGRAM"] = "/nonexistent/hotstack"
            with self.assertRaisesRegex(hotstack.ProgramError, "cannot be run"):
                hotstack.jvms()
        finally:
            os.environ.update(HOTSTACK_PROGRAM=program, PATH=path)


if __name__ == "__main__":
    tap.main(Live)
