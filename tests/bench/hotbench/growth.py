# SPDX-License-Identifier: Apache-2.0
"""P4: does the cost of a recording grow with what is in it, and with nothing else?"""

import tempfile

from . import measure, ours, recordings, report
from .measure import median, say

NAMES = ("grow-1m", "grow-flat", "grow-shallow", "grow-deep", "medium", "large", "cat", "grow-1g")
QUICK = ("grow-1m", "grow-flat", "grow-shallow", "grow-deep", "medium")
COUNTED_UP_TO = 60e6  # bytes; instructions are counted at a fiftieth of the speed
TOLERANCE = 15  # per cent
FIT_STEPS = 400
FACTORS = ("events", "pool_frames", "pool_stacks", "chunks")
WITHOUT_CHUNKS = FACTORS[:3]
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


def least_squares(points, weights):
    """Coefficients >= 0 with the least squares of weighted relative errors; points are (factors, cost)."""
    count = len(points[0][0])
    used = list(range(count))
    while True:
        scaled = [[weight * factors[i] / cost for i in used] for (factors, cost), weight in zip(points, weights)]
        matrix = [[sum(row[i] * row[k] for row in scaled) for k in range(len(used))] for i in range(len(used))]
        right = [sum(row[i] * weight for row, weight in zip(scaled, weights)) for i in range(len(used))]
        found = solve(matrix, right)
        if min(found) >= 0 or len(used) == 1:
            return [found[used.index(i)] if i in used else 0.0 for i in range(count)]
        used.remove(used[found.index(min(found))])


def fit(points):
    """Coefficients >= 0 whose worst relative error is the least that was found: what the target asks for.

    Lawson's way: least squares again and again, where a point weighs more the further off it was.
    """
    weights = [1.0] * len(points)
    best = None
    for _ in range(FIT_STEPS):
        found = least_squares(points, weights)
        off = [abs(error) for error in errors(points, found)]
        if best is None or max(off) < best[0]:
            best = (max(off), found)
        heavier = [weight * (error + 1e-9) ** 0.5 for weight, error in zip(weights, off)]
        heaviest = max(heavier)
        weights = [weight / heaviest for weight in heavier]
    return best[1]


def factors_of(name, factors):
    shape = recordings.shape(name)
    return [shape[factor] for factor in factors]


def errors(points, coefficients):
    return [(sum(f * c for f, c in zip(factors, coefficients)) / cost - 1) * 100 for factors, cost in points]


def measured(names, rounds):
    """CPU seconds of each recording, less those of a program that only starts."""
    commands = {name: ours.totals_command(recordings.get(name)) for name in names}
    commands["start"] = [ours.totals_command("x")[0], "--version"]
    programs = {
        name: (lambda command=command: measure.median_cpu(command, ours.RUNS_A_ROUND, ours.environment()), None)
        for name, command in commands.items()
    }
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
    """One cost's table by the formula, and by one that knows nothing of chunks; returns the errors of the first."""
    words, off = fitted(costs, FACTORS, scale, unit)
    without, off_without = fitted(costs, WITHOUT_CHUNKS, scale, unit)
    section.text(f"{title}: {words}. Without a term for chunks: {without}.")
    rows = []
    for (name, cost), error, error_without in zip(costs.items(), off, off_without):
        shape = recordings.shape(name)
        rows.append([
            name, f"{shape['bytes'] / 1e6:.1f}", f"{shape['events'] / 1e6:.3f}", f"{shape['pool_frames'] / 1e6:.3f}",
            f"{shape['pool_stacks'] / 1e3:.1f}", shape["chunks"], f"{cost * scale / 1e6:.2f}", f"{error:+.1f} %",
            f"{error_without:+.1f} %",
        ])  # fmt: skip
    head = ["recording", "MB", "M events", "M frames", "k stacks", "chunks", "ms" if unit == "ns" else "M instructions",
            "the formula says", "without chunks"]  # fmt: skip
    section.table(head, rows)
    return max(abs(error) for error in off)


def bench(quick):
    section = report.Section("growth", "Growth: CPU = a x events + b x frames of the pools + c x used stacks + d x chunks")
    names = QUICK if quick else NAMES
    for name in names:
        recordings.get(name)
    worst = None
    if ours.has_totals():
        base, costs = measured(names, 3 if quick else 5)
        section.text(
            f"Without the program's start, {base * 1e3:.1f} ms of CPU. One thread. The coefficients are those with the least"
            " worst error. A chunk's term is its metadata and the names in its pools:"
            " [ADR 0010](adr/0010-growth-has-a-term-for-chunks.md)."
        )
        worst = add_fit(section, costs, 1e9, "ns", "CPU")
        instructions = counted(names)
        if len(instructions) >= len(FACTORS):
            add_fit(section, instructions, 1, "instructions", "Instructions of the smaller ones")
    section.target("P4: the formula's worst error", TOLERANCE, worst, False, " %")
    return section
