/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/rollups.h: hourly sums of samples. They are derived data and can be deleted.
 *
 * A pass looks for closed hours of a service whose newest generation was not made of the windows
 * that the store has now (there is none, or late batches arrived), and makes a new generation of
 * each. The run of a generation is written last, and readers use only generations that have a run.
 * So a pass that dies half-way leaves rows that nobody reads, and two backends may run passes at
 * the same time. Thread rule: one thread runs passes; any thread calls rollups_read.
 */
#ifndef BACKEND_ROLLUPS_H
#define BACKEND_ROLLUPS_H

#include <pthread.h>

#include "store.h"

/* An hour of a service, and the windows that the store had when it was examined. */
typedef struct rollup_hour {
    service_key key;
    uint64_t hour_ms, windows;
} rollup_hour;

/* Borrows the hour for the call; returns 0 to continue. */
typedef int (*rollup_hour_fn)(void *context, const rollup_hour *hour);

typedef struct rollup_ops {
    /* Passes the dirty hours that begin in [from_ms, to_ms), oldest first, at most `limit`; *dirty
     * is the number of all dirty hours. */
    int (*find_dirty)(void *self, uint64_t from_ms, uint64_t to_ms, uint64_t limit,
                      rollup_hour_fn each, void *context, uint64_t *dirty, store_error *err);
    /* Makes a generation of one hour: writes its rows first and its run last. */
    int (*roll)(void *self, const rollup_hour *hour, uint64_t generation, store_error *err);
    /* Compares the newest generation of one hour, chosen by `chance`, with the totals of the
     * windows from which it was made. *drifted: they differ, and the generation has been
     * withdrawn. */
    int (*verify)(void *self, uint64_t from_ms, uint64_t to_ms, uint64_t chance, bool *drifted,
                  store_error *err);
} rollup_ops;

typedef struct rollup_options {
    const rollup_ops *ops;
    void *self;
    uint64_t retention_ms;
    uint64_t grace_ms; /* how long after an hour's end it counts as closed */
    uint64_t hours;    /* most hours of a pass */
    uint64_t (*now_ms)(void *clock);
    uint64_t (*random)(void *clock);
    void *clock;
} rollup_options;

typedef struct rollup_stats {
    uint64_t passes, failures;
    uint64_t hours;   /* rolled since the start */
    uint64_t dirty;   /* hours still to be rolled */
    uint64_t drifted; /* generations whose sums differed from the windows' */
    uint64_t last_ms; /* end of the last pass without an error; 0: none yet */
} rollup_stats;

typedef struct rollups {
    rollup_options options;
    pthread_mutex_t lock; /* guards stats */
    rollup_stats stats;
} rollups;

void rollups_init(rollups *r, const rollup_options *options);
void rollups_destroy(rollups *r);

/* Runs a pass. Returns 0, or a STORE_ERR_ code with err filled; the hours rolled before the error
 * stay. */
int rollups_pass(rollups *r, store_error *err);

rollup_stats rollups_read(rollups *r);

#endif
