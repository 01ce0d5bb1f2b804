/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a snapshot that wait for one another. Pure; may be called from any thread.
 * Why a cycle of locks needs confirmation by the JVM: docs/adr/0017-waits-and-holders.md.
 */
#ifndef DIAGNOSIS_DEADLOCKS_H
#define DIAGNOSIS_DEADLOCKS_H

#include <diagnosis/waits.h>

/*
 * A cycle: each thread waits for the next one, the last for the first. A cycle of locks counts only
 * if the JVM reports it too, because a snapshot's threads were not all read at the same moment. A
 * cycle in which a thread waits for a class to be initialised is inferred: it is probable, not
 * certain.
 */
typedef struct diagnosed_cycle {
    const uint32_t *threads; /* indexes, beginning with the lowest java_tid */
    size_t count;
    bool inferred;
    uint64_t id; /* the same in every snapshot of one deadlock of a JVM */
} diagnosed_cycle;

typedef struct diagnosed_deadlocks {
    diagnosed_cycle *items;
    size_t count;
    uint32_t *threads; /* the threads of all cycles, one cycle after the other */
} diagnosed_deadlocks;

/* threads: sorted by java_tid. 0, or -1 without memory. *out: free it with diagnosed_deadlocks_free
 * in every case. */
int diagnose_deadlocks(diagnosed_deadlocks *out, const diagnosed_thread *threads, size_t count);
void diagnosed_deadlocks_free(diagnosed_deadlocks *deadlocks);

#endif
