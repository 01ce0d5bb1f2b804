# SPDX-License-Identifier: Apache-2.0
"""Where the tests of the Python package find recordings and programs. The build says so in the environment."""

import collections
import gzip
import json
import os
import pathlib
import struct
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[3]
DATA = TREE / "tests/data/jfr"
FIXTURES = TREE / "libjfr/tests/data"
CACHE = pathlib.Path(
    os.environ.get("HOTSTACK_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack"
)
HEADER = struct.Struct(">4sHHQQQQQQQI")  # of a chunk
INSTALL = "run deploy/dependencies/install test"

EXAMPLE = DATA / "async-profiler-4.5-jdk17.jfr.gz"
RECORDINGS = sorted(DATA.glob("*.jfr.gz")) + sorted((DATA / "cut").glob("*.jfr.gz"))
FIXTURE_FILES = sorted(FIXTURES.glob("*/*.jfr"))


def unpacked(path):
    """A recording's own bytes."""
    return gzip.decompress(path.read_bytes())


def grown(data, size):
    """A recording of one chunk whose events are repeated until it has `size` bytes."""
    spans, at = [], HEADER.size
    while at < len(data):
        length, behind = _number(data, at)
        spans.append((at, length, _number(data, behind)[0]))
        at += length
    events = b"".join(data[at : at + length] for at, length, kind in spans if kind > 1)
    out = bytearray(HEADER.size) + events * (size // len(events) + 1)
    moved = {}
    for at, length, kind in spans:
        if kind <= 1:  # metadata and constants
            moved[at] = len(out)
            out += data[at : at + length]
    magic, major, minor, _, constants, metadata, *rest = HEADER.unpack_from(data)
    HEADER.pack_into(out, 0, magic, major, minor, len(out), moved[constants], moved[metadata], *rest)
    return bytes(out)


def _number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


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
