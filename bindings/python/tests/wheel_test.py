#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The source distribution and the wheel that is built from it. Prints TAP.

usage: wheel_test.py [fresh-root]
  fresh-root  instead: the wheel in a new Debian 12 root with python3 and venv alone, without network. Needs root, mmdebstrap, and a
              mirror of Debian for making the root
Runs in the cache's venv of Python packages; the environment holds HOTSTACK_PROGRAM and HOTSTACK_DATADIR. The distribution holds what is
committed.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import tap
from support import CACHE, EXAMPLE, TREE, totals_of_program

MANYLINUX = (2, 36)
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
USE = """
import base64, json, sys, zlib, hotstack
recording = hotstack.open(sys.argv[1])
page = recording.flamegraph("cpu").to_html()
data = page.split(b'id="hotstack-data">')[1].split(b"</script>")[0]
assert b"burnCpu" in zlib.decompress(base64.b64decode(data)) and recording.diff(recording).to_html()
assert sum(len(batch) for batch in recording.samples().batches()) > 0
print(json.dumps({"from": hotstack.__file__, "totals": {k: v._asdict() for k, v in recording.totals().items()}}))
"""


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        tools = [pathlib.Path(sys.executable).parent, CACHE / "venv/bin"]
        path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
        cls.environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PATH": path}
        # A clone without a build, so the page's template is made as well.
        run("git", "clone", "-q", TREE, cls.folder / "clone")
        code = "import mesonpy, sys; print(mesonpy.build_sdist(sys.argv[1]))"
        run(sys.executable, "-c", code, cls.folder, cwd=cls.folder / "clone", env=cls.environment)
        cls.sdist = next(cls.folder.glob("*.tar.gz"))
        run("tar", "-xzf", cls.sdist, "-C", cls.folder)
        sources = cls.folder / cls.sdist.name.removesuffix(".tar.gz")
        code = "import mesonpy, sys; print(mesonpy.build_wheel(sys.argv[1]))"
        run(sys.executable, "-c", code, cls.folder, cwd=sources, env=cls.environment)
        cls.wheel = next(cls.folder.glob("*.whl"))


class Wheel(Built):
    def test_the_sources_are_enough_to_build_it(self):
        with tarfile.open(self.sdist) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
        self.assertTrue({"pyproject.toml", "LICENSE", "bindings/python/hotstack/flamegraph.html"} <= names)

    def test_its_name_says_which_pythons_take_it(self):
        self.assertRegex(self.wheel.name, r"^hotstack-[0-9.]+-cp311-abi3-linux_\w+\.whl$")

    def test_it_holds_the_package_and_nothing_else(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        self.assertTrue(all(name.startswith(("hotstack/", "hotstack-")) for name in names), names)
        inside = {name.removeprefix("hotstack/") for name in names if name.startswith("hotstack/")}
        sources = {path.name for path in (TREE / "bindings/python/hotstack").glob("*.py*")} | {"py.typed"}
        self.assertEqual(inside, sources | {"flamegraph.html", "_native.abi3.so"})
        self.assertIn("Requires-Python: >=3.11", metadata)
        self.assertNotIn("Requires-Dist", metadata)

    def test_it_needs_nothing_but_an_old_c_library(self):
        shown = run(sys.executable, "-m", "auditwheel", "show", self.wheel, env=self.environment)
        text = " ".join(shown.split())
        tag = re.search(r'is consistent with the following platform tag: "manylinux_(\d+)_(\d+)_', text)
        self.assertIsNotNone(tag, text)
        self.assertLessEqual((int(tag[1]), int(tag[2])), MANYLINUX)
        with zipfile.ZipFile(self.wheel) as archive:
            library = archive.extract("hotstack/_native.abi3.so", self.folder)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library))
        self.assertTrue(set(needed) <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, needed)

    def test_it_installs_offline_and_works_without_a_compiler(self):
        base = os.path.realpath(sys.executable)
        run(base, "-m", "venv", self.folder / "fresh", env=self.environment)
        python = self.folder / "fresh/bin/python"
        bare = {"PATH": "/nonexistent", "HOME": str(self.folder)}
        run(python, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", self.wheel, env=bare)
        answer = json.loads(run(python, "-I", "-c", USE, EXAMPLE, env=bare, cwd=self.folder))
        self.assertTrue(answer["from"].startswith(str(self.folder / "fresh")), answer["from"])
        self.assertEqual(answer["totals"], totals_of_program(EXAMPLE))
        code = "import hotstack\ntry: hotstack.jvms()\nexcept hotstack.ProgramError as error: print(error)"
        self.assertIn("install it with", run(python, "-I", "-c", code, env=bare, cwd=self.folder))


class FreshRoot(Built):
    """A Debian 12 with python3 and venv, and nothing else: no compiler, no library of ours, no -dev package, no network."""

    def inside(self, *command):
        bare = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
        return run("unshare", "--net", "chroot", self.root, *command, env=bare)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mmdebstrap"), "needs root, and mmdebstrap: apt-get install mmdebstrap")
    def test_it_installs_and_works_in_a_fresh_root(self):
        self.root = self.folder / "root"
        self.addCleanup(subprocess.run, ["rm", "-rf", "--one-file-system", self.root], check=True)
        sources = next(path for path in map(pathlib.Path, SOURCES) if path.exists())
        run("mmdebstrap", "--quiet", "--variant=minbase", "--include=python3,python3-venv", "bookworm", self.root, sources)
        packages = self.inside("dpkg-query", "-W", "-f=${Package}\n").split()
        self.assertIn("python3-venv", packages)
        self.assertEqual([name for name in packages if name.endswith("-dev") or name.startswith(("libjfr", "libstackagg", "hotstack"))], [])
        for program in ("cc", "gcc", "hotstack"):
            self.assertIsNone(shutil.which(program, path=f"{self.root}/usr/bin:{self.root}/usr/local/bin"))
        for file in (self.wheel, EXAMPLE):
            shutil.copy(file, self.root / "root")
        self.inside("python3", "-m", "venv", "/root/venv")
        self.inside("/root/venv/bin/pip", "--disable-pip-version-check", "install", "--no-index", f"/root/{self.wheel.name}")
        self.inside("/root/venv/bin/python", "-c", "import hotstack")
        answer = json.loads(self.inside("/root/venv/bin/python", "-I", "-c", USE, f"/root/{EXAMPLE.name}"))
        self.assertEqual(answer["totals"], totals_of_program(EXAMPLE))


if __name__ == "__main__":
    tap.main(FreshRoot if sys.argv[1:] == ["fresh-root"] else Wheel)
