#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows the changes between two recordings: a table, a plot, and a page coloured by change."""

import argparse
import sys

import matplotlib

import hotstack

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  # behind the choice of its backend


def plot(changes: list[hotstack.Change], title: str, path: str) -> None:
    """Bars of the greatest changes, with their 99 % intervals where there are any."""
    rows = list(reversed(changes))
    figure, axes = pyplot.subplots(figsize=(10, 1 + 0.35 * len(rows)), layout="constrained")
    colours = ["tab:red" if row.change > 0 else "tab:green" for row in rows]
    axes.barh([row.name for row in rows], [row.change * 100 for row in rows], color=colours)
    for place, row in enumerate(rows):
        if row.low is not None and row.high is not None:
            axes.plot([row.low * 100, row.high * 100], [place, place], color="black", linewidth=1)
    axes.axvline(0, color="black", linewidth=0.5)
    axes.set_xlabel("change of the share, percentage points")
    axes.set_title(title)
    figure.savefig(path)
    pyplot.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--type", default="cpu")
    parser.add_argument("--plot", default="change.png", help="file to write (default %(default)s)")
    parser.add_argument("--page", help="also write this HTML page")
    parser.add_argument("--limit", type=int, default=15)
    parser.add_argument("--fail-on", type=float, help="exit with 4 when a method grew by more points")
    options = parser.parse_args()
    diff = hotstack.open(options.before).diff(hotstack.open(options.after), options.type)
    changes = diff.changes(limit=options.limit)
    for row in changes:
        mark = "*" if row.is_certain else " "
        print(f"{row.change * 100:+7.2f} {mark} {row.before_share:7.2%} {row.after_share:7.2%}  {row.name}")
    print("* the change's 99 % interval leaves out zero")
    plot(changes, f"{options.type}: {options.after} against {options.before}", options.plot)
    if options.page:
        diff.save(options.page)
    failed = options.fail_on is not None and diff.regressions(options.fail_on / 100)
    return 4 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
