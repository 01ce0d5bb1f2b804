#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows which threads waited for which lock, and what else they did: monitors entered and locks parked for, joined with
the threads' profiles."""

import argparse

import pandas

import hotstack


def waits(recording: hotstack.Recording) -> pandas.DataFrame:
    """Time waited by thread and class of the lock: what the profile counts as contention."""
    samples = recording.samples(["lock_delay"], columns=["thread", "os_tid", "class", "lock", "value"]).to_pandas()
    keys = ["thread", "os_tid", "class", "lock"]
    groups = samples.groupby(keys, observed=True, dropna=False)["value"]
    return groups.agg(waited="sum", waits="count").reset_index()


def threads(recording: hotstack.Recording) -> pandas.DataFrame:
    """Returns the values of each thread, with a column for each type."""
    rows = [
        {"os_tid": row.os_tid, "pool": row.pool, "type": name, "value": row.value}
        for name in recording.totals()
        if name in ("cpu", "alloc_bytes")
        for row in recording.threads(name)
    ]
    table = pandas.DataFrame(rows, columns=["os_tid", "pool", "type", "value"])
    return table.pivot_table(index="os_tid", columns="type", values="value", aggfunc="sum").reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recording")
    parser.add_argument("--limit", type=int, default=20)
    options = parser.parse_args()
    recording = hotstack.open(options.recording)
    if "lock_delay" not in recording.totals():
        parser.error(f"{options.recording} has no lock samples")
    table = waits(recording).merge(threads(recording), on="os_tid", how="left")
    table["waited_ms"] = table.pop("waited") / 1e6
    if "cpu" in table:
        table["cpu_ms"] = table.pop("cpu") / 1e6
    table = table.sort_values("waited_ms", ascending=False).head(options.limit)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.1f}"))


if __name__ == "__main__":
    main()
