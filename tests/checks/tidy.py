# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over every C source of the tree, in TAP: one point a file.

Usage: tidy.py TREE BUILD. BUILD must be configured with clang. The first point is a canary: a file
with a planted fault that must be flagged, which proves that the analyser looks. A clean result is
remembered under the hash of the preprocessed file (comments included, NOLINT lives there), so a
second run checks what changed. BUILD/tidy.log says how each finding comes about.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

TIDY = "clang-tidy-14"
CANARY_CHECK = "clang-analyzer-core.NullDereference"


def commands(tree, build):
    """(source, arguments) of each hand-written C file; a file built twice is looked at once."""
    seen = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (build / entry["file"]).resolve()
        if source.suffix == ".c" and source.is_relative_to(tree) and not source.is_relative_to(build):
            seen.setdefault(source, shlex.split(entry["command"]))
    return sorted(seen.items())


def compiler_arguments(command):
    """The command without its output, its input and the request to compile."""
    kept, skip = [], False
    for word in command:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MQ"):
            skip = True
        elif word not in ("-c", "-MD"):
            kept.append(word)
    return kept[:-1]


def fingerprint(arguments, source, build, config):
    preprocessed = subprocess.run([*arguments, "-E", "-C", source], cwd=build, capture_output=True, check=False)
    if preprocessed.returncode:
        return None
    return hashlib.sha256(config + preprocessed.stdout).hexdigest()


def tidy(source, arguments, build):
    run = subprocess.run(
        [TIDY, "--quiet", source, "--", *arguments[1:]], cwd=build, capture_output=True, text=True, check=False
    )
    return run.returncode, run.stdout


def findings(output, tree):
    """Returns the first line of each finding; tidy.log explains how it arises."""
    lines = [line for line in output.splitlines() if " error: " in line or " warning: " in line]
    return [line.replace(f"{tree}/", "") for line in lines] or ["clang-tidy failed; see tidy.log"]


class Remembered:
    """The fingerprints of files that were clean."""

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir(exist_ok=True)

    def __contains__(self, key):
        return key is not None and (self.directory / key).exists()

    def add(self, key):
        if key is not None:
            (self.directory / key).touch()


def canary_is_flagged(here, tree):
    source = here / "tidy-canary.c"
    status, output = tidy(source, ["clang", "-std=gnu11", f"-I{tree}"], here)
    return status != 0 and CANARY_CHECK in output


def main():
    tree, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    here = pathlib.Path(__file__).resolve().parent
    files = commands(tree, build)
    if not files or "clang" not in pathlib.Path(files[0][1][0]).name and "clang" not in " ".join(files[0][1][:2]):
        print(f"1..0 # SKIP {build} is not a clang build: CC=clang-14 meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false")
        return 0
    config = (tree / ".clang-tidy").read_bytes()
    clean = Remembered(build / "tidy-clean")

    def check(item):
        source, command = item
        arguments = compiler_arguments(command)
        key = fingerprint(arguments, source, build, config)
        if key in clean:
            return source, 0, ""
        status, output = tidy(source, arguments, build)
        if status == 0:
            clean.add(key)
        return source, status, output

    print(f"1..{len(files) + 1}")
    flagged = canary_is_flagged(here, tree)
    print(f"{'ok' if flagged else 'not ok'} 1 - the planted fault is flagged", flush=True)
    failed = not flagged
    workers = int(os.environ.get("HOTSTACK_JOBS") or os.cpu_count() or 1)
    with open(build / "tidy.log", "w") as log, concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for number, (source, status, output) in enumerate(pool.map(check, files), start=2):
            print(f"{'not ok' if status else 'ok'} {number} - {source.relative_to(tree)}", flush=True)
            if status:
                failed = True
                log.write(output)
                print("\n".join(f"# {line}" for line in findings(output, tree)), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
