# SPDX-License-Identifier: Apache-2.0
"""The results of a benchmark: tables, and targets met or missed; printed, and written to docs/benchmarks.md."""

import re
import time
from dataclasses import dataclass, field

from . import machine, place

PAGE = place.TREE / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by `./dev bench`, which measures ours and its peers in one run, on the same data, on one machine. Ratios carry over to
other machines, absolute figures do not. How each figure is taken: [tests/bench](../tests/bench/README.md).
CPU is user + system time of the whole process, start and file reading included; a figure is the median of the rounds, and
programs take turns within a round.
"""


@dataclass
class Target:
    what: str
    wanted: float
    found: float | None  # None: cannot be measured yet
    at_least: bool  # or at most
    unit: str = ""

    @property
    def held(self):
        if self.found is None:
            return False
        return self.found >= self.wanted if self.at_least else self.found <= self.wanted

    def verdict(self):
        if self.found is None:
            return "not measured"
        if self.held:
            return "held"
        by = (self.found / self.wanted - 1) * 100 if self.wanted else float("inf")
        return f"MISSED by {abs(by):.0f} %"

    def row(self):
        sign = "≥" if self.at_least else "≤"
        found = "-" if self.found is None else f"{number(self.found)}{self.unit}"
        return [self.what, f"{sign} {number(self.wanted)}{self.unit}", found, self.verdict()]


@dataclass
class Section:
    """One benchmark's part of the page."""

    name: str
    title: str
    parts: list = field(default_factory=list)
    targets: list = field(default_factory=list)

    def text(self, text):
        self.parts.append(text.strip() + "\n")

    def table(self, head, rows):
        self.parts.append(table(head, rows))

    def target(self, what, wanted, found, at_least=True, unit=""):
        self.targets.append(Target(what, wanted, found, at_least, unit))

    def missed(self):
        return [target for target in self.targets if not target.held]

    def markdown(self):
        parts = [f"## {self.title}\n", *self.parts]
        if self.targets:
            parts.append(table(["target", "wanted", "found", ""], [target.row() for target in self.targets]))
        return "\n".join(parts)


def number(value):
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    for limit, digits in ((0.01, 5), (0.1, 4), (10, 3), (100, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def seconds(value):
    return "-" if value is None else f"{value:.{4 if value < 0.1 else 3 if value < 1 else 2}f}"


def mib(value):
    return "-" if value is None else f"{value / (1 << 20):.1f}"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def conditions(quick):
    rows = [*machine.describe(), ("run", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()) + (", --quick" if quick else ""))]
    return table(["machine", ""], rows)


def write(sections, quick):
    """Replaces the sections' parts of the page and keeps the others."""
    parts = {}
    if PAGE.exists():
        text = PAGE.read_text(encoding="utf-8")
        parts = dict(re.findall(r"<!-- (\S+) -->\n(.*?)<!-- end -->\n", text, re.DOTALL))
    for section in sections:
        parts[section.name] = section.markdown() + "\n" + conditions(quick)
    body = "\n".join(f"<!-- {name} -->\n{parts[name]}<!-- end -->\n" for name in sorted(parts, key=order))
    PAGE.write_text(f"{HEAD}\n{body}", encoding="utf-8")


ORDER = ("jfr", "upload", "store", "ingest", "backend", "storage", "python", "profile", "policy", "threads")


def order(name):
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)
