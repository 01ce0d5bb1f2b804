/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/ingest.h: the use cases behind POST /v1/ingest/... A call checks the batch on the caller's
 * thread and commits it on a writer's thread (the port below). There the ledger is read, so that
 * its answer is still true when the batch is written.
 */
#ifndef BACKEND_INGEST_H
#define BACKEND_INGEST_H

#include <pthread.h>

#include "known_stacks.h"
#include "reports/reports.h"
#include "store.h"
#include <contract/check.h>

/* The ids of the batches that are being stored; only one batch with an id at a time. Zero it to
 * begin. */
enum { IN_FLIGHT_MAX = 64 };
typedef struct in_flight {
    pthread_mutex_t lock;
    uint8_t ids[IN_FLIGHT_MAX][16];
    size_t count;
} in_flight;

/* The port to the threads that write. */
typedef struct writer_ops {
    /* Runs job(arg) there and waits for its end. Returns 0, or -1 when its queue is full (the job
     * did not run). */
    int (*run)(void *self, void (*job)(void *arg), void *arg);
} writer_ops;

typedef struct ingest {
    store store;
    const writer_ops *writer;
    void *writer_self;
    known_stacks *known; /* NULL: the store is asked about every stack */
    in_flight *flights;
    reports *reports;
    ingest_limits limits;
    uint64_t (*now_ms)(void *clock); /* Unix time */
    void *clock;
} ingest;

/* The owner of the token that a payload was sent with. */
typedef struct ingest_sender {
    const char *name;
    const scope *allowed; /* the clusters that it may write for; an empty list is all */
} ingest_sender;

/*
 * Checks and commits a batch, and fills the verdict (free it with verdict_clear). Returns true
 * unless the token's scope forbids the cluster: then the verdict is not filled, and the answer is
 * 403.
 *
 * An accepted batch is stored. An accepted report is only collected (core/reports/reports.h), and
 * written a little later. While the store takes no reports, heartbeats are still collected, because
 * they keep a collector from being taken for silent, and the answer to a status report is retry.
 */
bool ingest_profiles(const ingest *in, profile_batch *batch, const ingest_sender *from, verdict *v);
bool ingest_status(const ingest *in, status_batch *report, const ingest_sender *from, verdict *v);
bool ingest_heartbeat(const ingest *in, const heartbeat *beat, const ingest_sender *from,
                      verdict *v);

/* Records that a batch which could not be read was refused. */
void ingest_unreadable(const ingest *in, const ingest_sender *from, const verdict *v);

/* Whether the list is empty or holds the value. */
bool scope_allows(const char *const *list, size_t count, text value);

#endif
