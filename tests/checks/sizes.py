# SPDX-License-Identifier: Apache-2.0
"""Sizes of C files and functions: a report, and one hard limit.

Usage: sizes.py TREE. Fails when a hand-written source file has more than 1000 lines. The medians
and 95th percentiles are printed beside what CONTRIBUTING.md aims at.
"""

import pathlib
import re
import statistics
import subprocess
import sys

HARD_LIMIT = 1000
SOURCES = ("*.c", "*.h", "*.py", "*.ts", "*.tsx", "*.js", "*.mjs", "*.java", "*.sh", "*.css")
FUNCTION_START = re.compile(r"^[A-Za-z_].*\)\s*\{$|^\{$")


def tracked(tree, patterns):
    listed = subprocess.run(
        ["git", "-C", tree, "ls-files", "-z", "--", *patterns], check=True, capture_output=True, text=True
    ).stdout
    return [tree / name for name in listed.split("\0") if name and (tree / name).is_file()]


def function_lengths(lines):
    """Lines of each function, in the tree's format: it starts at column 0 and ends with a lone brace."""
    start = None
    for number, line in enumerate(lines):
        if start is None and FUNCTION_START.match(line):
            start = number
        elif start is not None and line.startswith("}"):
            if line.rstrip() == "}":
                yield number - start - 1
            start = None


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main():
    tree = pathlib.Path(sys.argv[1])
    files, functions, too_long = [], [], []
    for path in tracked(tree, SOURCES):
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > HARD_LIMIT:
            too_long.append(f"{path.relative_to(tree)}: {len(lines)} lines, the limit is {HARD_LIMIT}")
        if path.suffix in (".c", ".h"):
            files.append(len(lines))
        if path.suffix == ".c":
            functions += function_lengths(lines)
    if files and functions:
        print(
            f"C files: {len(files)}, median {statistics.median(files):.0f} lines (aim 250),"
            f" p95 {percentile(files, 0.95)} (aim 600)"
        )
        print(
            f"C functions: {len(functions)}, median {statistics.median(functions):.0f} lines (aim 12),"
            f" p95 {percentile(functions, 0.95)} (aim 55),"
            f" over 100: {sum(length > 100 for length in functions)}"
        )
    print("\n".join(too_long) or f"no source file has more than {HARD_LIMIT} lines")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
