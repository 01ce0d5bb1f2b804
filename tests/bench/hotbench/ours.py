# SPDX-License-Identifier: Apache-2.0
"""The installed hotstack as a reader of recordings."""

import functools
import json
import pathlib
import subprocess

from . import measure, place

RUNS_A_ROUND = 3  # ours is over in milliseconds

# Which of our types each kind of the peers is; the value compared is the one as recorded.
TYPES = {"cpu": "cpu", "alloc": "alloc_bytes", "lock": "lock_count"}


def environment():
    return place.installed_environment()


@functools.cache
def understands(*words):
    """Whether the installed program knows a command or an option, by its help."""
    command = [place.installed("hotstack"), *words[:-1], "--help"]
    done = subprocess.run(measure.words(command), capture_output=True, text=True, env=environment(), check=False)
    return done.returncode == 0 and words[-1] in done.stdout


def has_totals():
    return understands("jfr", "totals", "usage")


def has_threads():
    return has_totals() and understands("jfr", "totals", "--jobs")


def threads_option(command, threads):
    return ["--jobs", threads] if understands(*command, "--jobs N") else []


def totals_command(path, threads=1):
    return [place.installed("hotstack"), "jfr", "totals", path, "--json", *(["--jobs", threads] if has_threads() else [])]


def convert_command(path, out, threads=1):
    """Collapsed text, a file for each kind that jfrconv writes one for."""
    command = [place.installed("hotstack"), "convert", path, "-t", ",".join(TYPES.values()), "-o", out]
    return [*command, "--jobs", threads] if understands("convert", "--jobs") else command


def totals(path):
    """{kind: {"samples", "value"}} as the peers tell it; kinds without samples are left out."""
    found = json.loads(measure.run(totals_command(path), env=environment()).out)["types"]
    return {
        kind: {"samples": found[name]["events"], "value": found[name]["raw_value"], "stacks": found[name]["stacks"]}
        for kind, name in TYPES.items()
        if name in found
    }


def collapsed_files(out: pathlib.Path):
    return sorted(out.parent.glob(f"{out.stem}*.collapsed"))
