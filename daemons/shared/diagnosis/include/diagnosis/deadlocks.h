/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a snapshot that wait for one another. Pure; may be called from any thread.
 * Why a cycle of locks needs the JVM's word: docs/adr/0017-waits-and-holders.md.
 */
#ifndef DIAGNOSIS_DEADLOCKS_H
#define DIAGNOSIS_DEADLOCKS_H

#include <diagnosis/waits.h>

/*
 * A cycle: each thread waits for the next one, the last for the first. A cycle of locks alone
 * counts only where the JVM has found it too, since a snapshot's threads are not all of one moment.
 * One in which a thread waits for a class to be initialised is inferred: it is probable, not
 * certain.
 */
typedef struct diagnosed_cycle {
    const uint32_t *threads; /* indexes, that of the lowest java_tid first */
    size_t count;
    bool inferred;
    uint64_t id; /* the same in every snapshot of one deadlock of a JVM */
} diagnosed_cycle;

typedef struct diagnosed_deadlocks {
    diagnosed_cycle *items;
    size_t count;
    uint32_t *threads; /* of all, one cycle's after the other's */
} diagnosed_deadlocks;

/* threads: sorted by java_tid. 0, or -1 without memory. *out: free it with diagnosed_deadlocks_free
 * in every case. */
int diagnose_deadlocks(diagnosed_deadlocks *out, const diagnosed_thread *threads, size_t count);
void diagnosed_deadlocks_free(diagnosed_deadlocks *deadlocks);

#endif
