"""P4: does the cost of a recording grow with what is in it, and with nothing else?"""

import tempfile

from . import measure, ours, recordings, report
from .measure import median, say

NAMES = ("grow-1m", "grow-flat", "grow-shallow", "grow-deep", "medium", "large", "cat", "grow-1g")
QUICK = ("grow-1m", "grow-flat", "grow-shallow", "grow-deep", "medium")
COUNTED_UP_TO = 60e6  # bytes; instructions are counted at a fiftieth of the speed
TOLERANCE = 15  # per cent
FACTORS = ("events", "pool_frames", "pool_stacks")
NAMES_OF = {"events": "event", "pool_frames": "frame of the pools", "pool_stacks": "used stack", "chunks": "chunk"}


def solve(matrix, right):
    """Gauss with pivoting, for a few unknowns."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(size):
            if k != i and rows[i][i]:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [x - factor * y for x, y in zip(rows[k], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def fit(points):
    """Coefficients >= 0 with the least squares of relative errors; points are (factors, cost)."""
    count = len(points[0][0])
    used = list(range(count))
    while True:
        scaled = [[factors[i] / cost for i in used] for factors, cost in points]
        matrix = [[sum(row[i] * row[k] for row in scaled) for k in range(len(used))] for i in range(len(used))]
        found = solve(matrix, [sum(row[i] for row in scaled) for i in range(len(used))])
        if min(found) >= 0 or len(used) == 1:
            return [found[used.index(i)] if i in used else 0.0 for i in range(count)]
        used.remove(used[found.index(min(found))])


def factors_of(name, factors):
    shape = recordings.shape(name)
    return [shape[factor] for factor in factors]


def errors(points, coefficients):
    return [(sum(f * c for f, c in zip(factors, coefficients)) / cost - 1) * 100 for factors, cost in points]


def measured(names, rounds):
    """CPU seconds of each recording, less those of a program that only starts."""
    environment = ours.environment()
    programs = {
        name: (lambda path=recordings.get(name): measure.run(ours.totals_command(path), env=environment).cpu, None)
        for name in names
    }
    start = [ours.totals_command("x")[0], "--version"]
    programs["start"] = (lambda: measure.run(start, env=environment).cpu, None)
    runs = measure.alternated(programs, rounds, lambda text: None)
    cpu = {name: median(values) for name, values in runs.items()}
    base = cpu.pop("start")
    return base, {name: max(value - base, 1e-5) for name, value in cpu.items()}


def counted(names):
    """Instructions of the smaller recordings, less those of the start; {} without valgrind."""
    environment = ours.environment()
    with tempfile.TemporaryDirectory(prefix="hotstack-bench-") as work:
        start = measure.instructions([ours.totals_command("x")[0], "--version"], work, environment)
        if start is None:
            return {}
        found = {}
        for name in names:
            if recordings.shape(name)["bytes"] <= COUNTED_UP_TO:
                say(f"counting instructions: {name}")
                found[name] = measure.instructions(ours.totals_command(recordings.get(name)), work, environment) - start
    return found


def fitted(costs, factors, scale, unit):
    """The coefficients of the factors, said in words, and the errors per cent."""
    points = [(factors_of(name, factors), cost) for name, cost in costs.items()]
    coefficients = fit(points)
    words = ", ".join(f"{c * scale:.1f} {unit} a {NAMES_OF[factor]}" for c, factor in zip(coefficients, factors))
    return words, errors(points, coefficients)


def add_fit(section, costs, scale, unit, title):
    """One cost's table by the formula, and by one that knows of chunks, too; returns the errors of the first."""
    words, off = fitted(costs, FACTORS, scale, unit)
    with_chunks, off_with = fitted(costs, (*FACTORS, "chunks"), scale, unit)
    section.text(f"{title}: {words}. With what each chunk costs by itself, its metadata and the names in its pools: {with_chunks}.")
    rows = []
    for (name, cost), error, error_with in zip(costs.items(), off, off_with):
        shape = recordings.shape(name)
        rows.append([
            name, f"{shape['bytes'] / 1e6:.1f}", f"{shape['events'] / 1e6:.3f}", f"{shape['pool_frames'] / 1e6:.3f}",
            f"{shape['pool_stacks'] / 1e3:.1f}", shape["chunks"], f"{cost * scale / 1e6:.2f}", f"{error:+.1f} %",
            f"{error_with:+.1f} %",
        ])  # fmt: skip
    head = ["recording", "MB", "M events", "M frames", "k stacks", "chunks", "ms" if unit == "ns" else "M instructions",
            "the formula says", "with chunks"]  # fmt: skip
    section.table(head, rows)
    return max(abs(error) for error in off)


def bench(quick):
    section = report.Section("growth", "Growth: CPU = a x events + b x frames of the pools + c x used stacks")
    names = QUICK if quick else NAMES
    for name in names:
        recordings.get(name)
    worst = None
    if ours.has_totals():
        base, costs = measured(names, 5 if quick else 11)
        section.text(f"Without the program's start, {base * 1e3:.1f} ms of CPU. One thread.")
        worst = add_fit(section, costs, 1e9, "ns", "CPU")
        instructions = counted(names)
        if len(instructions) >= len(FACTORS):
            add_fit(section, instructions, 1, "instructions", "Instructions of the smaller ones")
    section.target("P4: the formula's worst error", TOLERANCE, worst, False, " %")
    return section
