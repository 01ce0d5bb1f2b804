/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest-client/batch.h: makes the batches of a test, always the same bytes for the same numbers.
 *
 * A batch has one JVM of service (namespace "", workload from the options), one window of each of
 * the sources cpu, alloc and lock, `rows` rows in each over `stacks` stacks.
 */
#ifndef INGEST_CLIENT_BATCH_H
#define INGEST_CLIENT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct batch_options {
    const char *cluster;
    const char *workload;
    uint64_t seed;     /* decides batch id, target and values */
    uint32_t rows;     /* of each window, at most `stacks` x 8 (pools) */
    uint32_t stacks;   /* distinct */
    uint64_t start_ms; /* of the windows */
    uint32_t contract;
    bool with_stacks;  /* bring the dictionary */
    bool wrong_totals; /* a total that its rows do not add up to */
    bool wrong_stack;  /* a dictionary entry whose id is not that of its frames */
    bool other_body;   /* same batch id, other values */
    uint32_t attempt;
} batch_options;

/* An encoded ProfileBatch; from malloc. *amount_total: the amounts of all rows of all windows. */
uint8_t *batch_make(const batch_options *options, size_t *length, uint64_t *amount_total);

/* An encoded StatusReport of the same JVM; from malloc. */
uint8_t *status_make(const batch_options *options, uint32_t state, uint32_t reason, size_t *length);

/* An encoded Heartbeat of the same collector, which has dropped so many batches that were cut at
 * start_ms; from malloc. */
uint8_t *heartbeat_make(const batch_options *options, uint64_t dropped, size_t *length);

#endif
