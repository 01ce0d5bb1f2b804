# SPDX-License-Identifier: Apache-2.0
"""Samples of a recording as a table of one kind, some times over. Prints the rows, the sum of the values, and the CPU seconds of each
time, from the file's name to the whole table; imports apart. Usage: sample_tables.py arrow|pandas|polars FILE TIMES"""

import sys
import time


def maker(kind):
    """A function from a table of samples to (what the library has, its rows, the sum of its values)."""
    if kind == "arrow":
        import pyarrow
        import pyarrow.compute

        return pyarrow.table, lambda made: (made.num_rows, pyarrow.compute.sum(made["value"]).as_py())
    if kind == "polars":
        import polars

        return polars.DataFrame, lambda made: (made.height, made["value"].sum())
    import pandas  # noqa: F401  imported before the clock starts
    import pyarrow  # noqa: F401

    return lambda table: table.to_pandas(), lambda made: (len(made), int(made["value"].sum()))


def main():
    kind, path, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    make, look = maker(kind)
    import hotstack

    spent = []
    for _ in range(times):
        begin = time.process_time()
        made = make(hotstack.open(path).samples())
        spent.append(time.process_time() - begin)
    print(*look(made), *(f"{one:.6f}" for one in spent))


main()
