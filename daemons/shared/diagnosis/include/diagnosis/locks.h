/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locks that threads of a snapshot wait for, with their holders and waiters. Pure; may be
 * called from any thread.
 */
#ifndef DIAGNOSIS_LOCKS_H
#define DIAGNOSIS_LOCKS_H

#include <diagnosis/waits.h>

typedef enum holder_kind {
    HOLDER_UNKNOWN,          /* the JVM does not say, or not whether it still lives */
    HOLDER_JAVA,             /* a platform thread of the snapshot */
    HOLDER_VIRTUAL,          /* a virtual thread, which a carrier runs */
    HOLDER_ENDED,            /* a thread that ended before it gave the lock back */
    HOLDER_ENDED_OR_VIRTUAL, /* one of these two: a virtual thread that no carrier runs is not
                                listed */
    HOLDER_KINDS
} holder_kind;

/* "unknown", "java" ...; never NULL. */
const char *holder_kind_name(holder_kind kind);

/* What holds the lock that `waiter` waits for. listed: its owner is, or was, one of the platform
 * threads that are known; carried: a carrier runs it. */
holder_kind judge_holder(const diagnosed_thread *waiter, bool listed, bool carried);

/* What holds the lock that thread `i` waits for. threads: sorted by java_tid. */
holder_kind diagnose_holder(const diagnosed_thread *threads, size_t count, size_t i);

/* A lock is a class and an identity hash, which two objects may share. */
typedef struct diagnosed_lock {
    const char *class_name; /* borrowed from the threads */
    size_t class_length;
    uint64_t id;
    holder_kind holder;
    uint64_t holder_tid;     /* 0 = not known */
    const uint32_t *waiters; /* indexes of threads, ascending */
    size_t waiter_count;
} diagnosed_lock;

typedef struct diagnosed_locks {
    diagnosed_lock *items; /* those with most waiters first */
    size_t count;
    uint32_t *waiters; /* of all, one lock's after the other's */
} diagnosed_locks;

/* Finds the locks that slow threads (wait_is_slow) wait for. 0, or -1 without memory. *out: free it
 * with diagnosed_locks_free in every case. */
int diagnose_locks(diagnosed_locks *out, const diagnosed_thread *threads, size_t count);
void diagnosed_locks_free(diagnosed_locks *locks);

#endif
