#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed product on a live JVM: every format, the other commands, a prefix that moves. Prints TAP.

usage: installed_test.py PREFIX
Needs javac. Run by install.sh.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "bindings/python/tests"))
import tap  # noqa: E402

PREFIX = pathlib.Path(sys.argv[1])
ENDINGS = ("html", "heatmap.html", "jfr", "collapsed", "json", "pb.gz", "speedscope.json", "csv", "top.json", "arrow")
JVMS_OWN = (".java_pid", "hsperfdata_")  # HotSpot's files in /tmp


def files():
    """Returns the files in the directories where a target keeps temporary files."""
    places = (pathlib.Path(place) for place in ("/tmp", "/var/tmp", "/dev/shm"))
    return {str(path) for place in places for path in place.rglob("*") if not any(own in str(path) for own in JVMS_OWN)}


def programs():
    """Programs of the prefix that run."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            exe = os.readlink(process / "exe")
        except OSError:
            continue
        if exe.startswith(f"{PREFIX}"):
            found.append(exe)
    return found


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(dir=pathlib.Path.home())
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run(["javac", "-d", cls.folder, TREE / "tests/support/recordings/Workload.java"], check=True)
        cls.jvm = subprocess.Popen(["java", "-cp", cls.folder, "Workload", "1000000"], stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.jvm.communicate)
        cls.addClassCleanup(cls.jvm.kill)
        assert cls.jvm.stdout.readline().strip() == "ready"
        cls.pid = str(cls.jvm.pid)

    def setUp(self):
        self.before = files()

    def tearDown(self):
        self.assertEqual(files() - self.before, set())
        self.assertEqual(programs(), [])
        self.assertIsNone(self.jvm.poll())

    def hotstack(self, *arguments, prefix=PREFIX, status=0):
        """Returns the output of the program, whose environment has none of our variables."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        command = [prefix / "bin/hotstack", *arguments]
        done = subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}{done.stderr}")
        self.assertNotIn("JDK's own recorder", done.stderr)
        return done.stdout

    def written(self, name):
        """Returns the files that were written for a name, without empty ones."""
        stem, _, ending = name.partition(".")
        return [path for path in self.folder.glob(f"{stem}.*{ending}") if path.stat().st_size > 0]

    def test_every_format_of_a_live_jvm(self):
        for ending in ENDINGS:
            with self.subTest(ending):
                name = f"live-{ENDINGS.index(ending)}.{ending}"
                self.hotstack("profile", "-d", "2", "-f", name, self.pid)
                self.assertTrue(self.written(name), sorted(self.folder.iterdir()))

    def test_every_format_of_a_recording(self):
        self.hotstack("profile", "-d", "2", "-f", "kept.jfr", self.pid)
        for ending in ENDINGS:
            if ending != "jfr":
                with self.subTest(ending):
                    name = f"converted-{ENDINGS.index(ending)}.{ending}"
                    self.hotstack("convert", "kept.jfr", "-o", name)
                    self.assertTrue(self.written(name), sorted(self.folder.iterdir()))
        self.hotstack("convert", "kept.jfr", "-t", "cpu", "-o", "only.collapsed")
        self.assertIn("Workload.burnCpu", (self.folder / "only.collapsed").read_text(encoding="utf-8"))
        self.assertIn("Workload.burnCpu", self.hotstack("top", "kept.jfr"))
        self.assertIn("jdk.ExecutionSample", self.hotstack("jfr", "summary", "kept.jfr"))
        self.hotstack("diff", "kept.jfr", "kept.jfr", "-o", "diff.html")

    def test_what_is_asked_of_a_live_jvm(self):
        self.assertIn(self.pid, self.hotstack("ps"))
        self.hotstack("doctor", self.pid)
        self.assertIn("monitor-1", self.hotstack("threads", self.pid, "--pause", "60s"))
        self.assertEqual(json.loads(self.hotstack("threads", self.pid, "--pause", "60s", "--json"))["meta"]["main_class"], "Workload")
        self.assertIn("OpenJDK", self.hotstack("jcmd", self.pid, "VM.version"))
        self.hotstack("attach", "status")

    def test_the_prefix_can_be_moved(self):
        moved = PREFIX.with_name(f"{PREFIX.name}-moved")
        PREFIX.rename(moved)
        try:
            self.hotstack("profile", "-d", "2", "-f", "moved.html", self.pid, prefix=moved)
            self.hotstack("threads", self.pid, "--pause", "60s", prefix=moved)
        finally:
            moved.rename(PREFIX)

    def test_every_manual_page_and_program_is_there(self):
        for program in ("hotstack", "hotstack-collector", "hotstack-attachd", "hotstack-backend"):
            done = subprocess.run([PREFIX / "bin" / program, "--version"], env={}, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((PREFIX / "share/man/man1" / f"{program}.1").exists(), program)


if __name__ == "__main__":
    tap.main(Installed)
