#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack convert over more distinct stacks than its caps let through: it ends within its memory, totals are exact, the loss is shown.

usage: many_stacks_test.py HOTSTACK STACKS
Prints TAP.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

CAP_MIB = 64
# Memory of the program itself, and of the document that it makes from the stacks.
BESIDE_MIB = 32
PIECE = 20000


def write_stacks(path, count):
    """Each stack once, with values 1 to 1000 in turn. Returns their sum."""
    with path.open("w") as file:
        for begin in range(0, count, PIECE):
            numbers = range(begin, min(begin + PIECE, count))
            file.write("".join(f"a.Main.run;a.Part{i % 97}.go;a.Big.m{i // 1000};a.Leaf.x{i % 1000} {i % 1000 + 1}\n" for i in numbers))
    return sum(i % 1000 + 1 for i in range(count))


def watched(command):
    """Runs it. Returns its exit status, its standard error, and the most anonymous memory that was seen, in MiB."""
    most = 0
    with tempfile.TemporaryFile() as said, subprocess.Popen(command, stderr=said) as process:
        while process.poll() is None:
            found = re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())
            most = max(most, int(found[1]) // 1024 if found else 0)
            time.sleep(0.005)
        said.seek(0)
        return process.returncode, said.read().decode(), most


def main():
    program, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        stacks, out = pathlib.Path(name) / "many.cpu.collapsed", pathlib.Path(name) / "many.json"
        total = write_stacks(stacks, count)
        code, stderr, anonymous = watched([program, "convert", stacks, "--max-memory", str(CAP_MIB), "--max-stacks", "100000", "-o", out])
        document = json.loads(out.read_text())
        profile = document["profiles"][0]
        points = {
            "it ends and says what is missing": code == 3 and "[dropped]" in stderr,
            "totals are exact": int(profile["value_total"]) == total == sum(profile["nodes"]["self"]) + sum(profile["omitted"]["total"]) and profile["samples"] == count,
            "the loss is in the output": any("[dropped]" in note for note in document["meta"]["notes"]) and "[dropped]" in document["strings"],
            f"memory stays in its cap: {anonymous} MiB": 0 < anonymous <= CAP_MIB + BESIDE_MIB,
        }
    print(f"1..{len(points)}")
    for number, (label, good) in enumerate(points.items(), 1):
        print(f"{'ok' if good else 'not ok'} {number} - {label}")
    sys.exit(0 if all(points.values()) else 1)


main()
