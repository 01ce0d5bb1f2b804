/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a thread is busy. Pure. */
#ifndef DIAGNOSIS_BUSY_H
#define DIAGNOSIS_BUSY_H

#include <stdbool.h>
#include <stdint.h>

/* The share of a core, in percent, from which on a thread is busy, unless a user says otherwise:
 * above what waking up costs, and within reach of a container of a twentieth of a core. */
#define DIAGNOSIS_BUSY_PERCENT 2

/* What a thread did in a window. */
typedef struct diagnosed_use {
    uint64_t window_ns; /* that the CPU time was measured over; 0 = it was not */
    uint64_t cpu_ns;
    uint64_t snapshots; /* looks at the thread, */
    uint64_t runnable;  /* and how many of them found it runnable */
} diagnosed_use;

/* By CPU time where that was measured; else a thread is busy that a quarter of the looks found
 * runnable. */
bool diagnose_busy(const diagnosed_use *use, double percent);

#endif
