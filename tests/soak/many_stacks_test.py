#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hotstack convert over more distinct stacks than its caps let through: it ends within its memory, totals are exact, the loss is shown.

usage: many_stacks_test.py HOTSTACK STACKS
Prints TAP.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

CAP_MIB = 64
# Of the program itself, its libraries and the pages of the input that are in memory at one time but no longer needed.
BESIDE_MIB = 64
PIECE = 20000


def write_stacks(path, count):
    """Each stack once, with values 1 to 1000 in turn. Returns their sum."""
    with path.open("w") as file:
        for begin in range(0, count, PIECE):
            numbers = range(begin, min(begin + PIECE, count))
            file.write("".join(f"a.Main.run;a.Part{i % 97}.go;a.Big.m{i // 1000};a.Leaf.x{i % 1000} {i % 1000 + 1}\n" for i in numbers))
    return sum(i % 1000 + 1 for i in range(count))


def main():
    program, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        stacks, out = pathlib.Path(name) / "many.cpu.collapsed", pathlib.Path(name) / "many.json"
        total = write_stacks(stacks, count)
        done = subprocess.run([program, "convert", stacks, "--max-memory", str(CAP_MIB), "--max-stacks", "100000", "-o", out], capture_output=True,
                              text=True)
        anonymous = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024 - stacks.stat().st_size // (1 << 20)
        document = json.loads(out.read_text())
        profile = document["profiles"][0]
        points = {
            "it ends and says what is missing": done.returncode == 3 and "[dropped]" in done.stderr,
            "totals are exact": int(profile["value_total"]) == profile["total"] == total and profile["samples"] == count,
            "the loss is in the output": any("[dropped]" in note for note in document["meta"]["notes"]) and "[dropped]" in document["strings"],
            f"memory beside the input stays in its cap: {anonymous} MiB": anonymous <= CAP_MIB + BESIDE_MIB,
        }
    print(f"1..{len(points)}")
    for number, (label, good) in enumerate(points.items(), 1):
        print(f"{'ok' if good else 'not ok'} {number} - {label}")
    sys.exit(0 if all(points.values()) else 1)


main()
