# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks: ours and its peers in one run, on the same data. Usage: bench.py [--quick] [NAME...]

Prints each one's tables, writes them to docs/benchmarks.md, and exits 1 when a target is missed.
`./dev bench` calls it with everything in place.
"""

import argparse
import importlib
import sys

from hotbench import report
from hotbench.measure import BenchError

BENCHES = {
    "jfr": "recordings to totals: CPU, memory and cores, against jfrconv, JMC, jfrs and the JDK's reader",
    "upload": "what a live collector sends, against gzip pprof of the same windows, and what it costs",
    "store": "rows into ClickHouse, embedded and over HTTP, against clickhouse-connect",
    "ingest": "a backend under made-up collectors",
    "backend": "a backend under a simulated fleet at the real cadence, then twice as large until something breaks",
    "storage": "bytes in the store a JVM-day, and a row of each table and column",
    "pages": "one HTML page of a recording: bytes and time to the graph in Chromium, against jfrconv's",
    "profile": "hotstack profile of one JVM: time beyond the recording, bytes of a page, against asprof",
    "python": "tables of samples in Python, against jfr print --json with json.load, and against C",
    "policy": "how soon an annotation on a real API server takes effect on the JVM, with 200 pods on the node",
    "pods": "what collector and attachd take for 50 annotated pods of a real API server over 15 minutes, snapshots included",
    "queries": "how long the threads and locks of a service over an hour take to come from the backend",
    "threads": "how long thread snapshots stop a JVM, against the JDK's own dumps",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(f"{k}: {v}" for k, v in BENCHES.items()))
    parser.add_argument("--quick", action="store_true", help="fewer recordings, rounds and peers")
    parser.add_argument("--check", action="store_true", help="only look whether the arguments are right")
    parser.add_argument("--list", action="store_true", help="only name the benchmarks")
    parser.add_argument("--no-page", action="store_true", help="leave docs/benchmarks.md as it is")
    asked = parser.parse_args()
    for name in asked.names:
        if name not in BENCHES:
            parser.error(f"there is no benchmark {name!r}; there are {', '.join(BENCHES)}")
    return asked


def run_one(name, quick):
    """The section, or None with the reason on standard error."""
    print(f"==> {name}: {BENCHES[name]}", file=sys.stderr, flush=True)
    try:
        section = importlib.import_module(f"hotbench.{name}").bench(quick)
    except BenchError as error:
        print(f"error: {name}: {error}", file=sys.stderr)
        return None
    print(section.markdown(), flush=True)
    return section


def main():
    asked = arguments()
    if asked.list:
        print("\n".join(f"{name:10} {about}" for name, about in BENCHES.items()))
    if asked.list or asked.check:
        return 0
    names = asked.names or list(BENCHES)
    print(report.conditions(asked.quick), flush=True)
    sections = [run_one(name, asked.quick) for name in names]
    done = [section for section in sections if section]
    if not asked.no_page:
        report.write(done, asked.quick)
    missed = [target for section in done for target in section.missed()]
    for target in missed:
        print(f"missed: {' | '.join(target.row())}")
    held = sum(len(section.targets) for section in done) - len(missed)
    print(f"{held} targets held, {len(missed)} missed, {len(sections) - len(done)} benchmarks failed")
    return 1 if missed or len(done) < len(sections) else 0


if __name__ == "__main__":
    sys.exit(main())
