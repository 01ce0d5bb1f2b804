# SPDX-License-Identifier: Apache-2.0
"""Where the tests of the Python package find recordings and programs. The build says so in the environment."""

import collections
import gzip
import json
import os
import pathlib
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[3]
DATA = TREE / "tests/data/jfr"
FIXTURES = TREE / "libjfr/tests/data"
CACHE = pathlib.Path(
    os.environ.get("HOTSTACK_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack"
)
INSTALL = "run deploy/dependencies/install test"

EXAMPLE = DATA / "async-profiler-4.5-jdk17.jfr.gz"
RECORDINGS = sorted(DATA.glob("*.jfr.gz")) + sorted((DATA / "cut").glob("*.jfr.gz"))
FIXTURE_FILES = sorted(FIXTURES.glob("*/*.jfr"))


def unpacked(path):
    """A recording's own bytes."""
    return gzip.decompress(path.read_bytes())


def hotstack(*arguments, good=(0, 3)):
    """What the program that was built prints."""
    command = [os.environ["HOTSTACK_PROGRAM"], *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode in good, f"{command}: {done.returncode}: {done.stderr}"
    return done.stdout


def totals_of_program(path):
    return json.loads(hotstack("jfr", "totals", path, "--json"))["types"]


def sums(rows):
    """Sum of `value` by `type`."""
    result = collections.Counter()
    for row in rows:
        result[row["type"]] += row["value"]
    return dict(result)
