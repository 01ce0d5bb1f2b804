/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a thread of a snapshot does not run, and who could let it go on. All functions are pure, read
 * only their arguments and may be called from any thread.
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

enum { DIAGNOSIS_CARRIER = 8, DIAGNOSIS_DEADLOCKED = 32 };

/* One thread of one snapshot; texts are borrowed. */
typedef struct diagnosed_thread {
    uint64_t java_tid;
    uint32_t state;         /* enum diagnosis_state, or another number */
    uint32_t flags;         /* DIAGNOSIS_* */
    const char *lock_class; /* of the lock that it waits for; "" = none */
    size_t lock_class_length;
    uint64_t owner_tid; /* java_tid of that lock's holder; 0 = not known */
    bool carries;       /* a carrier that runs a virtual thread */
    bool initialises;   /* a <clinit> is on its stack */
    bool cpu_known;
    uint64_t cpu_ns; /* used since the snapshot before */
} diagnosed_thread;

typedef enum wait_kind {
    WAIT_NONE,           /* runs, or waits for work */
    WAIT_BLOCKED,        /* to enter a monitor */
    WAIT_LOCK,           /* for a java.util.concurrent lock whose holder is known */
    WAIT_UNKNOWN_HOLDER, /* for a lock whose holder the JVM does not know */
    WAIT_CLASS,          /* probably for the initialisation of a class */
    WAIT_DEADLOCKED,     /* in a cycle */
    WAIT_KINDS
} wait_kind;

/* "blocked", "waiting_for_lock" ...; never NULL. */
const char *wait_kind_name(wait_kind kind);

wait_kind diagnose_wait(const diagnosed_thread *thread);

/* "monitor", "juc" or "unknown": what kind of lock a thread in that state waits for. */
const char *diagnose_lock_kind(uint32_t state, const char *lock_class, size_t length);

/*
 * The threads that stand between thread `start` and the one that runs: start's holder, that one's
 * holder, and so on, at most `room` of them, ending at one that waits for nobody, or before one
 * that is in the chain already. threads: sorted by java_tid.
 *
 * @return how many indexes were written to chain
 */
size_t diagnose_chain(const diagnosed_thread *threads, size_t count, size_t start, uint32_t *chain,
                      size_t room);

/* The index of a thread by id in an array sorted by java_tid; count where it is not there. */
size_t diagnosis_find(const diagnosed_thread *threads, size_t count, uint64_t java_tid);

#endif
