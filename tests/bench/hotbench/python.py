# SPDX-License-Identifier: Apache-2.0
"""P5: the Python package's tables of samples, against `jfr print --json` with json.load, and against C."""

import os
import pathlib
import tempfile

from . import measure, place, recordings, report
from .measure import BenchError, median, say

KINDS = ("arrow", "pandas", "polars")
SMALL, LARGE = "jdk25-profile", "medium"
OVER_JSON, OVER_C = 100, 1.5
ROUNDS, QUICK_ROUNDS = 7, 3
TIMES = 5  # of ours in one process: it is over in milliseconds
PYTHON = place.CACHE / "python" / "bin" / "python"


def package():
    """The environment in which the package that was built is imported."""
    folder = place.BUILD / "bindings" / "python"
    if not list(folder.glob("hotstack/_native*.so")):
        raise BenchError(f"{folder} has no Python package: is libpython3-dev there? deploy/dependencies/install bench")
    if not PYTHON.exists():
        raise BenchError(f"{PYTHON} is missing: deploy/dependencies/install bench")
    return dict(place.installed_environment(), PYTHONPATH=str(folder))


def tables(kind, path):
    """(rows, sum of values, CPU seconds) of our table."""
    command = [PYTHON, place.HERE / "sample_tables.py", kind, path, TIMES]
    rows, total, *spent = measure.run(command, env=package()).out.split()
    return int(rows), int(total), median([float(one) for one in spent])


def by_c(path):
    """Measures the same with the C driver."""
    rows, total, cpu = measure.run([place.BUILD / "tests" / "bench" / "sample-rows", path], env=place.installed_environment()).out.split()
    return int(rows), int(total), float(cpu)


def by_json(path, work):
    """CPU seconds of the JDK's tool and of json.load, and how many events there are."""
    out = work / "events.json"
    shell = ["sh", "-c", '"$0" print --json "$1" > "$2"', place.CACHE / "jdk" / "25" / "bin" / "jfr", path, out]
    tool = measure.run(shell).cpu
    events, load = measure.run([PYTHON, place.HERE / "json_load.py", out], env=dict(os.environ)).out.split()
    return tool, float(load), int(events)


def measure_one(path, rounds, work, with_json):
    """{program: median CPU seconds}, rows, events; all tables have the same rows and sums."""
    programs = {kind: (lambda kind=kind: tables(kind, path), None) for kind in KINDS}
    programs["C"] = (lambda: by_c(path), None)
    if with_json:
        programs["json"] = (lambda: by_json(path, work), 2)
    runs = measure.alternated(programs, rounds, lambda text: say(f"{path.stem}, {text}"))
    seen = {run[:2] for name in (*KINDS, "C") for run in runs[name]}
    if len(seen) != 1:
        raise BenchError(f"{path}: rows and sums differ: {sorted(seen)}")
    cpu = {name: median([run[2] for run in runs[name]]) for name in (*KINDS, "C")}
    if with_json:
        cpu["jfr print --json"] = median([run[0] for run in runs["json"]])
        cpu["json.load"] = median([run[1] for run in runs["json"]])
    return cpu, seen.pop()[0]


def row_of(name, rows, cpu):
    cells = [report.seconds(cpu.get(program)) for program in ("C", *KINDS, "jfr print --json", "json.load")]
    return [name, f"{rows:,}", *cells]


def bench(quick):
    section = report.Section("python", "The Python package's tables of samples")
    rounds = QUICK_ROUNDS if quick else ROUNDS
    shown = []
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as folder:
        small, rows = measure_one(recordings.get(SMALL), rounds, pathlib.Path(folder), True)
        shown.append(row_of(SMALL, rows, small))
        large, rows = measure_one(recordings.file_of(LARGE), rounds, pathlib.Path(folder), False)
        shown.append(row_of(LARGE, rows, large))
    section.text("P5: from a recording's name to a table of its samples with the columns of `samples()` (time, type, value, thread, state, source,"
                 " class, leaf), CPU seconds without start and imports. C: libjfr alone into the same columns (tests/bench/sample-rows.c)."
                 " The other way is the JDK 25's `jfr print --json`, which writes five frames of each stack, and Python's json.load of what it"
                 " wrote, which is not yet a table.")  # fmt: skip
    section.table(["recording", "rows", "C", *KINDS, "jfr print --json", "json.load"], shown)
    other = small["jfr print --json"] + small["json.load"]
    for kind in KINDS:
        section.target(f"P5 {SMALL}: jfr print --json and json.load over {kind}", OVER_JSON, other / small[kind])
        section.target(f"P5 {LARGE}: {kind} over C", OVER_C, large[kind] / large["C"], False)
    return section
