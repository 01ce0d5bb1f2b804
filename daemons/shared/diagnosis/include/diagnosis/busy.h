/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a thread is busy. Pure; may be called from any thread. */
#ifndef DIAGNOSIS_BUSY_H
#define DIAGNOSIS_BUSY_H

#include <stdbool.h>
#include <stdint.h>

/* The default share of a core, in percent, from which a thread is busy. It is above the cost of
 * waking up, and small enough for a container with a twentieth of a core. */
#define DIAGNOSIS_BUSY_PERCENT 2

/* The facts about a thread in a time window. */
typedef struct diagnosed_use {
    uint64_t window_ns; /* the time over which CPU time was measured; 0 = not measured */
    uint64_t cpu_ns;
    uint64_t snapshots; /* snapshots of the thread */
    uint64_t runnable;  /* snapshots in which it was runnable */
} diagnosed_use;

/* Decides by CPU time if it was measured; otherwise a thread is busy if it was runnable in a
 * quarter of the snapshots. */
bool diagnose_busy(const diagnosed_use *use, double percent);

#endif
