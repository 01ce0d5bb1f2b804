# SPDX-License-Identifier: Apache-2.0
"""Writes the rows of store-rows.c with clickhouse-connect, in blocks of 100,000, column by column.

Usage: connect_rows.py PORT BLOCKS. Prints ROWS WALL-SECONDS CPU-SECONDS of the inserts alone; making the
columns is not counted.
"""

import resource
import struct
import sys
import time

import clickhouse_connect

ROWS, STACKS = 100_000, 5_000
NAMES = ["workload", "type", "time", "stack_id", "pool", "raw", "value", "samples"]
TYPES = ["LowCardinality(String)", "UInt8", "DateTime64(3, 'UTC')", "FixedString(16)", "LowCardinality(String)",
         "UInt64", "UInt64", "UInt64"]  # fmt: skip


def columns(number):
    rows = range(number * ROWS, (number + 1) * ROWS)
    return [
        [f"service-{i // 5000 % 20:02}" for i in rows],
        [1 + i % 5 for i in rows],
        [1760000000000 + i // 1000 * 1000 for i in rows],
        [struct.pack("<QQ", i * 7919 % STACKS, 0) for i in rows],
        [f"pool-{i % 16}-#" for i in rows],
        [1000 + i % 977 for i in rows],
        [2 * (1000 + i % 977) for i in rows],
        [1 + i % 3 for i in rows],
    ]


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    port, blocks = int(sys.argv[1]), int(sys.argv[2])
    client = clickhouse_connect.get_client(host="127.0.0.1", port=port, compress=False)
    types = [clickhouse_connect.datatypes.registry.get_from_name(name) for name in TYPES]
    wall_sum = cpu_sum = 0.0
    for number in range(blocks):
        data = columns(number)
        wall_start, cpu_start = time.monotonic(), cpu()
        client.insert("bench_rows", data, NAMES, column_types=types, column_oriented=True)
        wall_sum, cpu_sum = wall_sum + time.monotonic() - wall_start, cpu_sum + cpu() - cpu_start
    print(f"{blocks * ROWS} {wall_sum:.6f} {cpu_sum:.6f}")


main()
