/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locks that threads of a snapshot wait for, with their holders and waiters. Pure; may be
 * called from any thread.
 */
#ifndef DIAGNOSIS_LOCKS_H
#define DIAGNOSIS_LOCKS_H

#include <diagnosis/waits.h>

typedef enum holder_kind {
    HOLDER_UNKNOWN, /* the JVM does not name the holder, or does not say whether it still runs */
    HOLDER_JAVA,    /* a platform thread of the snapshot */
    HOLDER_VIRTUAL, /* a virtual thread, which a carrier runs */
    HOLDER_ENDED,   /* a thread that ended without releasing the lock */
    HOLDER_ENDED_OR_VIRTUAL, /* one of these two: a virtual thread that no carrier runs is not
                                listed */
    HOLDER_KINDS
} holder_kind;

/* Returns "unknown", "java" ...; never NULL. */
const char *holder_kind_name(holder_kind kind);

/* Returns what holds the lock that `waiter` waits for. listed: the owner is, or was, a known
 * platform thread; carried: a carrier runs the owner. */
holder_kind judge_holder(const diagnosed_thread *waiter, bool listed, bool carried);

/* Returns what holds the lock that thread `i` waits for. threads: sorted by java_tid. */
holder_kind diagnose_holder(const diagnosed_thread *threads, size_t count, size_t i);

/* A lock is a class and an identity hash, which two objects may share. */
typedef struct diagnosed_lock {
    const char *class_name; /* borrowed from the threads */
    size_t class_length;
    uint64_t id;
    holder_kind holder;
    uint64_t holder_tid;     /* 0 = unknown */
    const uint32_t *waiters; /* indexes of threads, ascending */
    size_t waiter_count;
} diagnosed_lock;

typedef struct diagnosed_locks {
    diagnosed_lock *items; /* in descending order of the number of waiters */
    size_t count;
    uint32_t *waiters; /* the waiters of all locks, one lock after the other */
} diagnosed_locks;

/* Finds the locks that slow threads (wait_is_slow) wait for. 0, or -1 without memory. *out: free it
 * with diagnosed_locks_free in every case. */
int diagnose_locks(diagnosed_locks *out, const diagnosed_thread *threads, size_t count);
void diagnosed_locks_free(diagnosed_locks *locks);

#endif
