/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of step one: all platform threads, by id, with their CPU times and allocated bytes.
 */
#ifndef HOTSTACK_THREADS_READING_H
#define HOTSTACK_THREADS_READING_H

#include "history.h"
#include "jvm.h"
#include "out.h"

/* A thread of one snapshot. Counters below 0 are not known. */
typedef struct thread_row {
    int64_t tid;
    int64_t cpu_ns;
    int64_t user_ns;
    int64_t allocated;
    int64_t cpu_delta; /* since the previous snapshot; all CPU time in the first snapshot */
    int64_t blocked_count;
    int64_t waited_count;
    int64_t blocked_ms;
    int64_t waited_ms;
    int64_t owner;   /* 0 = none */
    int64_t carries; /* the virtual thread that it runs; 0 = none */
    uint32_t name_str;
    uint32_t owner_str;
    uint32_t carries_str;
    uint32_t lock; /* index + 1 */
    uint8_t state;
    uint8_t flags;
    uint8_t why;
    uint8_t deadlocked;
    uint8_t seen;       /* in the previous snapshot */
    uint8_t wants_lock; /* it waits for a lock, whether or not the owner is known */
    uint8_t present;    /* its ThreadInfo was read, so it is alive */
} thread_row;

typedef struct reading {
    thread_row *rows; /* sorted by tid */
    size_t n;
    uint32_t total; /* all threads, also those that reading_cut removes */
    uint64_t at_ns; /* CLOCK_MONOTONIC when the CPU times were read */
    uint64_t took_ns;
    uint32_t offers; /* enum threads_offer, contention apart */
} reading;

/* Reads ids and times and replaces the history. Returns false with j->error, or without memory
 * (error empty). */
bool reading_take(reading *out, jvm *j, history *h);

/* Reduces the rows to max_threads: deadlocked threads stay, then those with the most CPU time since
 * the previous snapshot, then the oldest. */
void reading_cut(reading *r, uint32_t max_threads);
void reading_free(reading *r);

/* Returns the row with that id, or NULL. */
thread_row *reading_find(const reading *r, int64_t tid);

uint64_t monotonic_ns(void);

#endif
