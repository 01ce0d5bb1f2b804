#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows which methods allocate which classes, over all recordings of a folder."""

import argparse
import pathlib
import sys

import polars

import hotstack


def allocations(path: pathlib.Path) -> polars.DataFrame:
    """Bytes by allocating method and class, of one recording."""
    samples = hotstack.open(path, progress=True).samples(["alloc_bytes"], columns=["leaf", "class", "value"])
    text = polars.col("leaf", "class").cast(polars.String)
    return (
        polars.DataFrame(samples)
        .with_columns(text)
        .group_by("leaf", "class")
        .agg(bytes=polars.col("value").sum(), samples=polars.len())
        .with_columns(recording=polars.lit(path.name))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=20)
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.jfr")) + sorted(options.folder.glob("*.jfr.gz"))
    if not paths:
        parser.error(f"there is no recording in {options.folder}")
    tables = []
    for path in paths:
        try:
            tables.append(allocations(path))
        except hotstack.HotstackError as error:
            print(f"{path} is left out: {error}", file=sys.stderr)
    if not tables:
        parser.error(f"no recording in {options.folder} can be read")
    table = (
        polars.concat(tables)
        .group_by("leaf", "class")
        .agg(
            polars.col("bytes", "samples").sum(),
            recordings=polars.col("recording").n_unique(),
        )
        .sort("bytes", "leaf", "class", descending=[True, False, False])
        .head(options.limit)
    )
    with polars.Config(tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=80, tbl_width_chars=200):
        print(table)


if __name__ == "__main__":
    main()
