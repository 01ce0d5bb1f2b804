/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a thread of a snapshot does not run, and which thread it waits for. All functions are pure,
 * read only their arguments and may be called from any thread.
 */
#ifndef DIAGNOSIS_WAITS_H
#define DIAGNOSIS_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* States and flags have the numbers of docs/formats/ingest.md, StateColumns. */
typedef enum diagnosis_state {
    DIAGNOSIS_RUNNABLE = 2,
    DIAGNOSIS_BLOCKED = 3,
    DIAGNOSIS_WAITING = 4,
    DIAGNOSIS_TIMED_WAITING = 5
} diagnosis_state;

enum {
    DIAGNOSIS_NATIVE = 2,
    DIAGNOSIS_CARRIER = 8,
    DIAGNOSIS_DEADLOCKED = 32,  /* the JVM has found it in a deadlock */
    DIAGNOSIS_OWNER_ENDED = 64, /* the owner of the lock that it waits for has ended */
    DIAGNOSIS_OWNER_GONE = 128  /* that owner has ended, or is a virtual thread */
};

/* One thread of one snapshot; texts are borrowed. */
typedef struct diagnosed_thread {
    uint64_t java_tid;
    uint32_t state;         /* enum diagnosis_state, or another number */
    uint32_t flags;         /* DIAGNOSIS_* */
    const char *lock_class; /* of the lock that it waits for; "" = none */
    size_t lock_class_length;
    uint64_t lock_id;        /* its identity hash */
    uint64_t owner_tid;      /* java_tid of that lock's holder; 0 = unknown */
    uint64_t carries_tid;    /* the virtual thread that a carrier runs; 0 = none */
    const char *initialises; /* the class of the innermost <clinit> on its stack; "" = none */
    size_t initialises_length;
    bool cpu_known;
    uint64_t cpu_ns; /* used since the snapshot before */
} diagnosed_thread;

typedef enum wait_kind {
    WAIT_NONE,           /* it runs */
    WAIT_IDLE,           /* for work, as threads of a pool do */
    WAIT_TIMED,          /* for a time to pass, or for work with a timeout */
    WAIT_BLOCKED,        /* to enter a monitor */
    WAIT_LOCK,           /* for a java.util.concurrent lock whose holder is known */
    WAIT_UNKNOWN_HOLDER, /* for a lock whose holder the JVM does not know */
    WAIT_CLASS,          /* probably for the initialisation of a class */
    WAIT_DEADLOCKED,     /* in a cycle that the JVM has found */
    WAIT_KINDS
} wait_kind;

/* Returns "blocked", "waiting_for_lock" ...; never NULL. */
const char *wait_kind_name(wait_kind kind);

/* Returns whether a thread with such a wait is blocked by others: it neither runs nor waits for
 * work or time. */
bool wait_is_slow(wait_kind kind);

wait_kind diagnose_wait(const diagnosed_thread *thread);

/* Returns "monitor", "juc" or "unknown": the kind of lock for which a thread in that state
 * waits. */
const char *diagnose_lock_kind(uint32_t state, const char *lock_class, size_t length);

/*
 * Returns the thread that `i` waits for, or count. It is the holder of its lock, if the snapshot
 * lists it. For a thread that waits for a class (WAIT_CLASS) it is another thread that initialises
 * a class, if none of those can continue by itself. threads: sorted by java_tid.
 */
size_t diagnose_next(const diagnosed_thread *threads, size_t count, size_t i);

/*
 * Writes the chain of threads that thread `start` waits for: diagnose_next of start, and so on, at
 * most `room` threads. It ends with a thread that waits for no other, or before a thread that is
 * already in the chain. threads: sorted by java_tid.
 *
 * @return how many indexes were written to chain
 */
size_t diagnose_chain(const diagnosed_thread *threads, size_t count, size_t start, uint32_t *chain,
                      size_t room);

/* Returns the index of a thread by id in an array sorted by java_tid; count if it is missing. */
size_t diagnosis_find(const diagnosed_thread *threads, size_t count, uint64_t java_tid);

#endif
