/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/rollups.h: hourly sums of samples, derived and disposable.
 *
 * A pass looks for hours of a service that have closed and whose windows are not those that its
 * newest generation was made of (it has none, or late batches came), and makes a new generation of
 * each. A generation's run is written last, and readers take only generations that have one. So a
 * pass that dies half-way leaves rows that nobody reads, and two backends may run passes at once.
 * Thread rule: one thread runs passes; rollups_read any.
 */
#ifndef BACKEND_ROLLUPS_H
#define BACKEND_ROLLUPS_H

#include <pthread.h>

#include "store.h"

/* An hour of a service and the windows that the store held when it was looked at. */
typedef struct rollup_hour {
    service_key key;
    uint64_t hour_ms, windows;
} rollup_hour;

/* Borrowed for the call; returns 0 to go on. */
typedef int (*rollup_hour_fn)(void *context, const rollup_hour *hour);

typedef struct rollup_ops {
    /* The dirty hours that begin in [from_ms, to_ms), the oldest first, at most `limit`; *dirty is
     * how many there are in all. */
    int (*find_dirty)(void *self, uint64_t from_ms, uint64_t to_ms, uint64_t limit,
                      rollup_hour_fn each, void *context, uint64_t *dirty, store_error *err);
    /* Makes a generation of one hour: rows first, its run last. */
    int (*roll)(void *self, const rollup_hour *hour, uint64_t generation, store_error *err);
    /* Compares the newest generation of one rolled hour, chosen by `chance`, with the totals of the
     * windows that it was made of. *drifted: they differ, and the generation has been withdrawn. */
    int (*verify)(void *self, uint64_t from_ms, uint64_t to_ms, uint64_t chance, bool *drifted,
                  store_error *err);
} rollup_ops;

typedef struct rollup_options {
    const rollup_ops *ops;
    void *self;
    uint64_t retention_ms;
    uint64_t grace_ms; /* after an hour's end until it counts as closed */
    uint64_t hours;    /* most hours of a pass */
    uint64_t (*now_ms)(void *clock);
    uint64_t (*random)(void *clock);
    void *clock;
} rollup_options;

typedef struct rollup_stats {
    uint64_t passes, failures;
    uint64_t hours;   /* rolled since the start */
    uint64_t dirty;   /* hours that still wait */
    uint64_t drifted; /* generations whose sums were not the windows' */
    uint64_t last_ms; /* end of the last pass without a failure; 0: none yet */
} rollup_stats;

typedef struct rollups {
    rollup_options options;
    pthread_mutex_t lock; /* of stats */
    rollup_stats stats;
} rollups;

void rollups_init(rollups *r, const rollup_options *options);
void rollups_destroy(rollups *r);

/* One pass. 0, or a STORE_ERR_ code with err filled; what was rolled before it stays. */
int rollups_pass(rollups *r, store_error *err);

rollup_stats rollups_read(rollups *r);

#endif
