/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/ingest.h: the use cases behind POST /v1/ingest/... A call checks on the caller's thread and
 * commits on one of the writer's (the port below), so that the ledger's answer still holds when the
 * batch is written.
 */
#ifndef BACKEND_INGEST_H
#define BACKEND_INGEST_H

#include <pthread.h>

#include "known_stacks.h"
#include "reports/reports.h"
#include "store.h"
#include <contract/check.h>

/* The batches that are being stored: one of an id at a time. Zero it to begin. */
enum { IN_FLIGHT_MAX = 64 };
typedef struct in_flight {
    pthread_mutex_t lock;
    uint8_t ids[IN_FLIGHT_MAX][16];
    size_t count;
} in_flight;

/* The port to the threads that write. */
typedef struct writer_ops {
    /* Runs job(arg) there and waits for its end. 0, or -1 when its queue is full (nothing ran). */
    int (*run)(void *self, void (*job)(void *arg), void *arg);
} writer_ops;

typedef struct ingest {
    store store;
    const writer_ops *writer;
    void *writer_self;
    known_stacks *known; /* NULL: the store is asked each time */
    in_flight *flights;
    reports *reports;
    ingest_limits limits;
    uint64_t (*now_ms)(void *clock); /* Unix time */
    void *clock;
} ingest;

/* Whose token came with a payload. */
typedef struct ingest_sender {
    const char *name;
    const scope *allowed; /* the clusters that it may write for; an empty list is all */
} ingest_sender;

/*
 * Checks, commits and fills the verdict (verdict_clear frees it). Returns true unless the token's
 * scope forbids the cluster: then the verdict is not filled, and the answer is 403.
 *
 * A batch is stored when it is accepted. A report is gathered then (core/reports/reports.h), and
 * written a little later.
 */
bool ingest_profiles(const ingest *in, profile_batch *batch, const ingest_sender *from, verdict *v);
bool ingest_status(const ingest *in, status_batch *report, const ingest_sender *from, verdict *v);
bool ingest_heartbeat(const ingest *in, const heartbeat *beat, const ingest_sender *from,
                      verdict *v);

/* A batch that could not be read has been refused. */
void ingest_unreadable(const ingest *in, const ingest_sender *from, const verdict *v);

/* True when the list is empty or holds the value. */
bool scope_allows(const char *const *list, size_t count, text value);

#endif
