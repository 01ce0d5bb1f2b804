# SPDX-License-Identifier: Apache-2.0
"""Adds up what the lanes of ./dev test did; the last line is "N passed, N failed[, N skipped]".

For each lane LANE the results directory holds LANE.json (meson's log: one JSON object a test),
LANE.status (meson's exit status) and LANE.seconds (its build and tests together), or LANE.error (why
there is neither). A test that speaks TAP counts its
points, one that runs Vitest its tests, any other counts as one. Exit status 1 if anything failed, or did not run.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import re
import sys
from dataclasses import dataclass, field

TAP_PLAN = re.compile(r"^1\.\.\d+", re.MULTILINE)
TAP_POINT = re.compile(r"^(not )?ok\b(.*)$", re.MULTILINE)
TAP_DIRECTIVE = re.compile(r"#\s*(SKIP|TODO)\b", re.IGNORECASE)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
VITEST_SUMMARY = re.compile(r"Tests  +\d")
SAID_LINES = 24  # of a failed test, so that the end of a long log names the cause
SAID_WIDTH = 300
CLOSING_LINE = re.compile(r"(Tests?( Files)?|Ran) .*\b(passed|failed|tests?)\b")


@dataclass
class Lane:
    name: str
    passed: int = 0
    failed: int = 0
    seconds: int = 0
    skips: list = field(default_factory=list)  # names "lane/test" or "lane/test: point"
    problems: list = field(default_factory=list)  # sentences
    closing: list = field(default_factory=list)  # last lines of runners that are not TAP
    said: list = field(default_factory=list)  # of a failed test: its name, and lines of its output


def test_name(entry):
    """meson writes "suite - project:name", the suite only where there is one."""
    return entry["name"].split(" - ", 1)[-1].split(":", 1)[-1]


def add_tap(lane, name, output):
    """Counts the points of one TAP stream; returns how many of them failed."""
    failed = 0
    for negated, rest in TAP_POINT.findall(output):
        directive = TAP_DIRECTIVE.search(rest)
        if directive and directive.group(1).upper() == "SKIP":
            lane.skips.append(f"{lane.name}/{name}:{rest.rstrip()}")
        elif negated and not directive:
            failed += 1
            lane.problems.append(f"{lane.name}/{name}:{rest.rstrip()}")
        else:
            lane.passed += 1
    lane.failed += failed
    return failed


def add_vitest(lane, name, summaries):
    """Counts lines such as "Tests  1 failed | 12 passed | 2 skipped (15)"; returns how many failed."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for summary in summaries:
        for number, what in re.findall(r"(\d+) (passed|failed|skipped)", summary):
            counts[what] += int(number)
    lane.passed += counts["passed"]
    lane.failed += counts["failed"]
    lane.skips += [f"{lane.name}/{name}: skipped by Vitest"] * counts["skipped"]
    return counts["failed"]


def what_it_said(output, errors):
    """Returns the lines after each failed point of TAP, or else the last ones."""
    lines = [COLOUR.sub("", line).rstrip()[:SAID_WIDTH] for line in output.splitlines()]
    lines = [line for line in lines if line.strip(" #")]
    points = [at for at, line in enumerate(lines) if TAP_POINT.match(line)]
    kept = []
    for at, following in zip(points, [*points[1:], len(lines)]):
        if lines[at].startswith("not ok"):
            kept += lines[at:following][: SAID_LINES // 2]
    rest = [line.rstrip()[:SAID_WIDTH] for line in errors.splitlines() if line.strip()]
    kept = kept[:SAID_LINES] or lines[-SAID_LINES:]
    return kept + rest[-SAID_LINES // 3 :]


def add_test(lane, entry):
    name, result, output = test_name(entry), entry["result"], entry.get("stdout") or ""
    bad = result in ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS")
    lines = [COLOUR.sub("", line).strip() for line in output.splitlines()]
    lane.closing += [f"{name}: {line}" for line in lines if CLOSING_LINE.match(line)]
    summaries = [line for line in lines if VITEST_SUMMARY.match(line)]
    if TAP_PLAN.search(output):
        counted, failed_points = bool(TAP_POINT.search(output)), add_tap(lane, name, output)
    elif summaries:
        counted, failed_points = True, add_vitest(lane, name, summaries)
    else:
        counted, failed_points = False, 0
    if bad:
        lane.problems.append(f"{lane.name}/{name}: {result.lower()}")
        lane.said += [f"{lane.name}/{name}:"]
        lane.said += [f"  {line}" for line in what_it_said(output, entry.get("stderr") or "")]
        if not failed_points:
            lane.failed += 1
    elif counted:
        return
    elif result == "SKIP":
        lane.skips.append(f"{lane.name}/{name}: {reason_of_skip(lines)}")
    else:
        lane.passed += 1


def reason_of_skip(lines):
    said = [line for line in lines if line]
    return said[-1] if said else "no reason given"


def read_lane(results, name):
    lane = Lane(name)
    error = results / f"{name}.error"
    log = results / f"{name}.json"
    if error.exists():
        lane.problems.append(f"{name}: {error.read_text().strip()}")
        lane.failed += 1
        return lane
    for line in log.read_text().splitlines():
        add_test(lane, json.loads(line))
    status = (results / f"{name}.status").read_text().strip()
    lane.seconds = int((results / f"{name}.seconds").read_text())
    if not lane.passed and not lane.failed and not lane.skips:
        lane.problems.append(f"{name}: no test ran")
        lane.failed += 1
    elif status != "0" and not lane.failed:
        lane.problems.append(f"{name}: the runner ended with status {status}")
        lane.failed += 1
    return lane


def read_allowed(path):
    """Lines "PATTERN  # reason"; a pattern matches "lane/test"."""
    if not path.exists():
        return []
    lines = (line.split("#", 1)[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def forbid_skips(lanes, allowed):
    """In CI a skip is a failure, unless it is allowed by name."""
    for lane in lanes:
        kept = []
        for skip in lane.skips:
            name = skip.split(":", 1)[0]
            if any(fnmatch.fnmatch(name, pattern) for pattern in allowed):
                kept.append(skip)
            else:
                lane.failed += 1
                lane.problems.append(f"{skip} (skipped; in CI that is a failure, see {allowed_file})")
        lane.skips = kept


def print_report(lanes):
    print()
    for lane in lanes:
        for line in lane.closing:
            print(f"  {line}")
    print()
    print(f"  {'lane':<14}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for lane in lanes:
        print(f"  {lane.name:<14}{lane.passed:>8}{lane.failed:>8}{len(lane.skips):>9}{lane.seconds:>9}")
    for title, lines in (
        ("skipped", [skip for lane in lanes for skip in lane.skips]),
        ("what failed said", [line for lane in lanes for line in lane.said]),
        ("failed", [problem for lane in lanes for problem in lane.problems]),
    ):
        if lines:
            print(f"\n  {title}:")
            for line in lines:
                print(f"    {line}")


def main():
    global allowed_file
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--allowed-skips", type=pathlib.Path, required=True)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("lanes", nargs="+")
    arguments = parser.parse_args()
    allowed_file = arguments.allowed_skips.name

    lanes = [read_lane(arguments.results, name) for name in arguments.lanes]
    if os.environ.get("CI", "") not in ("", "false", "0"):
        forbid_skips(lanes, read_allowed(arguments.allowed_skips))
    print_report(lanes)

    failed = sum(lane.failed for lane in lanes)
    skipped = sum(len(lane.skips) for lane in lanes)
    print()
    print(
        f"{sum(lane.passed for lane in lanes)} passed, {failed} failed"
        + (f", {skipped} skipped" if skipped else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
