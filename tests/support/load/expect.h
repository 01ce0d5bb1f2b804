/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load/expect.h: prints the rows that the store must have once every batch of a fleet is
 * acknowledged, as lines of fields separated by tabs: TABLE KEY SOURCE DAY ROWS SUM1 SUM2 SUM3
 * SUM4.
 *
 * KEY is the target's number, in hexadecimal, or the workload for profile_stacks; SOURCE is 0 where
 * a table has none; DAY counts from 1970. The sums, which wrap at 2^64, are of
 *   profile_samples, profile_windows, profile_threads: raw_amount, amount, raw_count, count;
 *   thread_snapshots: cpu_ns, allocated_bytes, java_tid, waited_ms;
 *   thread_snapshot_runs: threads_total, threads_listed, interval_ms, longest_pause_ns;
 *   deadlock_sightings: cycle, position, java_tid, lock_id;
 * and 0 for profile_stacks, whose rows are distinct stacks, and ingestion_batches, whose key is 0.
 */
#ifndef LOAD_EXPECT_H
#define LOAD_EXPECT_H

#include "fleet.h"

#include <stdio.h>

/* Prints the lines. Returns 0, or -1 (no memory). */
int expect_print(const fleet *f, FILE *out);

#endif
