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
    uint64_t owner_tid;      /* java_tid of that lock's holder; 0 = not known */
    uint64_t carries_tid;    /* the virtual thread that a carrier runs; 0 = none */
    const char *initialises; /* the class of the innermost <clinit> on its stack; "" = none */
    size_t initialises_length;
    bool cpu_known;
    uint64_t cpu_ns; /* used since the snapshot before */
} diagnosed_thread;

typedef enum wait_kind {
    WAIT_NONE,           /* it runs */
    WAIT_IDLE,           /* for work, as a thread of a pool does */
    WAIT_TIMED,          /* for a time to pass, or for work until then */
    WAIT_BLOCKED,        /* to enter a monitor */
    WAIT_LOCK,           /* for a java.util.concurrent lock whose holder is known */
    WAIT_UNKNOWN_HOLDER, /* for a lock whose holder the JVM does not know */
    WAIT_CLASS,          /* probably for the initialisation of a class */
    WAIT_DEADLOCKED,     /* in a cycle that the JVM has found */
    WAIT_KINDS
} wait_kind;

/* "blocked", "waiting_for_lock" ...; never NULL. */
const char *wait_kind_name(wait_kind kind);

/* Whether a thread that waits so is held up by others: neither runs nor waits for work or time. */
bool wait_is_slow(wait_kind kind);

wait_kind diagnose_wait(const diagnosed_thread *thread);

/* "monitor", "juc" or "unknown": what kind of lock a thread in that state waits for. */
const char *diagnose_lock_kind(uint32_t state, const char *lock_class, size_t length);

/*
 * The thread that `i` waits for, or count: the holder of its lock where that is listed; of a thread
 * that waits for a class (WAIT_CLASS), another one that initialises a class, if none of these goes
 * on by itself. threads: sorted by java_tid.
 */
size_t diagnose_next(const diagnosed_thread *threads, size_t count, size_t i);

/*
 * The threads that stand between thread `start` and the one that runs: diagnose_next of start, and
 * so on, at most `room` of them, ending at one that waits for nobody, or before one that is in the
 * chain already. threads: sorted by java_tid.
 *
 * @return how many indexes were written to chain
 */
size_t diagnose_chain(const diagnosed_thread *threads, size_t count, size_t start, uint32_t *chain,
                      size_t room);

/* The index of a thread by id in an array sorted by java_tid; count where it is not there. */
size_t diagnosis_find(const diagnosed_thread *threads, size_t count, uint64_t java_tid);

#endif
