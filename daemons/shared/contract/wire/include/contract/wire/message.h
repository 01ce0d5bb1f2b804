/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts batches to the ingest contract's messages and back. It needs the generated
 * ingest.pb-c.h; code without protobuf includes contract/batch.h only.
 */
#ifndef CONTRACT_WIRE_MESSAGE_H
#define CONTRACT_WIRE_MESSAGE_H

#include <contract/batch.h>
#include <contract/wire/columns.h>

enum { BATCH_CONTRACT = 1 };

/*
 * Encodes a batch as a ProfileBatch with its body, digest and all of its stacks. *out is malloc'd.
 * Returns 0, or -1 (no memory).
 */
int batch_pack(const batch *one, const Hotstack__V1__Collector *sender, uint8_t **out,
               size_t *length);

/* Makes the dictionary of a batch's stacks, borrowed from the batch and the arena. NULL = no
 * memory. */
Hotstack__V1__StackDictionary *batch_dictionary(const batch *one, arena *in);

/*
 * Makes a batch from its messages; `message` has a body and all of its stacks. The indexes of the
 * dictionary are checked, those of the body's columns are not. Returns 0, or -1 (damaged, or no
 * memory), with *out empty.
 */
int batch_unpack(batch *out, const Hotstack__V1__ProfileBatch *message);

/* The data of one target in a status report; `detail_str` is an index of the report's strings. */
typedef struct status_row {
    uint64_t observed_ms;
    uint32_t state;
    uint32_t reason;
    uint32_t detail_str;
    uint64_t last_window_ms;
    uint32_t session;
    uint32_t mode;
    uint64_t until_ms;
    uint32_t last_length_ms;
    uint32_t last_covered_ms;
    uint64_t collector_ns;
} status_row;

/* The targets of a status report, each with its row. */
typedef struct status_rows {
    const string_table *strings;
    const batch_target *targets;
    const status_row *rows;
    size_t count;
} status_rows;

/* Encodes a StatusReport. *out is malloc'd. Returns 0, or -1 (no memory). */
int status_pack(const status_rows *from, const Hotstack__V1__Collector *sender, uint8_t **out,
                size_t *length);

#endif
