#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the promises of the README and docs/python.md for an empty machine, in a fresh Debian 12. Prints TAP.

usage: fresh_root_test.py install
       fresh_root_test.py pip NODE BUILD.SH
  install   ./dev install --prefix, then the product on a live JVM (installed_test.py)
  pip       pip install ., then the package (package_test.py); its notebook is shown in this machine's Chromium
  BUILD.SH  ui/build.sh, which knows where the npm packages are
Takes what is committed. Needs root, mmdebstrap, and the registries that this machine is configured for; some minutes.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "bindings/python/tests"))
import tap  # noqa: E402

CHROMIUM = pathlib.Path(os.environ.get("HOTSTACK_CHROMIUM") or "/usr/bin/chromium")


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("mmdebstrap"), "needs root, and mmdebstrap: apt-get install mmdebstrap")
class FreshRoot(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(subprocess.run, ["rm", "-rf", "--one-file-system", self.root], check=True)

    def inside(self, script):
        command = [TREE / "tests/support/fresh-root", "--root", self.root, f"tests/soak/fresh_root/{script}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn(str(self.root), pathlib.Path("/proc/mounts").read_text(encoding="utf-8"))

    def shown_in_chromium(self, notebook):
        """Returns the content that notebook.mjs finds in the frames of a notebook."""
        node, build = sys.argv[2:]
        packages = subprocess.run([build, "packages"], env=dict(os.environ, NODE=node), capture_output=True, text=True, check=True)
        script = TREE / "bindings/python/tests/notebook.mjs"
        done = subprocess.run([node, script, packages.stdout.strip(), notebook, "burnCpu"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)


class Install(FreshRoot):
    def test_the_installed_product_works(self):
        self.inside("install.sh")


class Pip(FreshRoot):
    def test_the_package_works(self):
        self.inside("pip.sh")
        if not CHROMIUM.exists():
            self.skipTest(f"{CHROMIUM} is missing: run deploy/dependencies/install test")
        shown = self.shown_in_chromium(self.root / "root/out/notebook.html")
        self.assertEqual(shown["complaints"], [])
        self.assertEqual([frame["matched"] for frame in shown["frames"]], ["70.0 % matched"] * 2)


if __name__ == "__main__":
    tap.main({"install": Install, "pip": Pip}[sys.argv[1]])
