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
    uint64_t seed;     /* determines batch id, target and values */
    uint32_t rows;     /* of each window, at most `stacks` x 8 (pools) */
    uint32_t stacks;   /* distinct */
    uint64_t start_ms; /* of the windows */
    uint32_t contract;
    bool with_stacks;  /* include the dictionary */
    bool wrong_totals; /* a total that differs from the sum of its rows */
    bool wrong_stack;  /* a dictionary entry whose id does not match its frames */
    bool other_body;   /* same batch id, other values */
    uint32_t attempt;
} batch_options;

/* Makes an encoded ProfileBatch, malloc'd. *amount_total: the amounts of all rows of all
 * windows. */
uint8_t *batch_make(const batch_options *options, size_t *length, uint64_t *amount_total);

/* Makes an encoded StatusReport of the same JVM, malloc'd. */
uint8_t *status_make(const batch_options *options, uint32_t state, uint32_t reason, size_t *length);

/* Makes an encoded Heartbeat of the same collector, which has dropped so many batches that were cut
 * at start_ms; malloc'd. */
uint8_t *heartbeat_make(const batch_options *options, uint64_t dropped, size_t *length);

#endif
