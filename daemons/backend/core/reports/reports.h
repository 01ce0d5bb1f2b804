/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/reports/reports.h: what is gathered in memory and written to the store together every few
 * seconds: status reports and heartbeats of collectors (the store's port holds their rows), and
 * rows of the ledger about batches that were not stored. Parts are scarce in a store that is
 * shared, so a collector's report is no insert of its own.
 *
 * A sender cannot flood the ledger: between two writes there are at most `refused_rows` rows, and
 * at most REFUSALS_OF_SENDER of one sender. What passes that is summed. Thread rule: any thread;
 * one thread flushes.
 */
#ifndef BACKEND_REPORTS_H
#define BACKEND_REPORTS_H

#include <pthread.h>

#include "../store.h"

enum { REFUSALS_OF_SENDER = 16, REFUSED_ROWS_MIN = 32, FLUSH_INTERVAL_MAX_MS = 300000 };

typedef struct reports_options {
    store store;
    size_t refused_rows;         /* REFUSED_ROWS_MIN at least */
    uint64_t flush_interval_ms;  /* in which a collector cuts one batch, at least */
    uint64_t batches_per_second; /* that the store is to get of all collectors together */
    uint64_t silent_ms;          /* a collector without a heartbeat for so long does not count */
    uint64_t (*now_ms)(void *clock); /* Unix time */
    void *clock;
} reports_options;

typedef struct reports_stats {
    uint64_t flushes, failures;
    uint64_t summed;     /* refusals that have no row of their own in the ledger */
    uint64_t collectors; /* with a heartbeat of late */
    uint64_t flush_interval_ms;
} reports_stats;

typedef struct reports {
    reports_options options;
    pthread_mutex_t lock; /* of all below */
    refusal *rows;        /* that are gathered */
    size_t count;
    refusal *writing; /* that are being written, or are to be once more */
    size_t writing_count;
    uint64_t counted_ms; /* when collectors were counted last */
    reports_stats stats;
} reports;

/* 0, or -1: no memory. End with reports_destroy either way. */
int reports_init(reports *r, const reports_options *options);
void reports_destroy(reports *r);

/* A batch that was not stored: its row of the ledger, or a part of one. */
void reports_refused(reports *r, const refusal *one);

/* Writes what is gathered. 0, or a STORE_ERR_ code with err filled; the rest is kept. */
int reports_flush(reports *r, store_error *err);

/* The interval in which collectors are to cut their batches. */
uint64_t reports_flush_interval(reports *r);

reports_stats reports_read(reports *r);

#endif
