/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/reports/reports.h: collects data in memory and writes it to the store together every few
 * seconds: status reports and heartbeats of collectors (the store's port holds their rows), and
 * rows of the ledger about batches that were not stored. An insert for each report would make too
 * many parts in a shared store.
 *
 * A sender cannot flood the ledger: between two writes there are at most `refused_rows` rows, and
 * at most REFUSALS_OF_SENDER of one sender. Further refusals are summed. Thread rule: any thread;
 * one thread flushes.
 */
#ifndef BACKEND_REPORTS_H
#define BACKEND_REPORTS_H

#include <pthread.h>

#include "../store.h"

enum { REFUSALS_OF_SENDER = 16, REFUSED_ROWS_MIN = 32, FLUSH_INTERVAL_MAX_MS = 300000 };

typedef struct reports_options {
    store store;
    size_t refused_rows;         /* at least REFUSED_ROWS_MIN */
    uint64_t flush_interval_ms;  /* the least interval at which a collector cuts batches */
    uint64_t batches_per_second; /* most batches that all collectors together send to the store */
    uint64_t silent_ms;          /* a collector without a heartbeat for so long is not counted */
    uint64_t late_ms;            /* the store hangs if a write takes longer */
    uint64_t (*now_ms)(void *clock); /* Unix time */
    void *clock;
} reports_options;

typedef struct reports_stats {
    uint64_t flushes, failures;
    uint64_t summed;     /* refusals without a row of their own in the ledger */
    uint64_t collectors; /* with a recent heartbeat */
    uint64_t flush_interval_ms;
} reports_stats;

typedef struct reports {
    reports_options options;
    pthread_mutex_t lock; /* guards the following members */
    refusal *rows;        /* collected rows */
    size_t count;
    refusal *writing; /* rows that are being written, or must be written again */
    size_t writing_count;
    uint64_t counted_ms; /* when collectors were last counted */
    uint64_t began_ms;   /* when the running write began; 0 = none runs */
    bool failed;         /* the last write, and the next one may succeed */
    reports_stats stats;
} reports;

/* Returns 0, or -1: no memory. End with reports_destroy in both cases. */
int reports_init(reports *r, const reports_options *options);
void reports_destroy(reports *r);

/* Adds a batch that was not stored: as a row of the ledger, or as a part of one. */
void reports_refused(reports *r, const refusal *one);

/* Writes the collected rows. Returns 0, or a STORE_ERR_ code with err filled; unwritten rows are
 * kept. */
int reports_flush(reports *r, store_error *err);

/* Whether the store does not take the collected rows now: the last write failed, or one does not
 * end. */
bool reports_are_late(reports *r);

/* Returns the interval at which collectors must cut their batches. */
uint64_t reports_flush_interval(reports *r);

reports_stats reports_read(reports *r);

#endif
