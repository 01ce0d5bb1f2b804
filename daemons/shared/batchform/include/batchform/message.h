/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain batches to the ingest contract's messages and back. Needs the generated ingest.pb-c.h; what
 * knows no protobuf includes plain.h alone.
 */
#ifndef BATCHFORM_MESSAGE_H
#define BATCHFORM_MESSAGE_H

#include "columns.h"
#include "plain.h"

enum { BATCH_CONTRACT = 1 };

extern const column batch_target_columns[];
extern const size_t batch_target_column_count;

/*
 * An encoded ProfileBatch with body, digest and the dictionary of `stacks`; the latter may be the
 * batch itself. *out is malloc'd. 0 or -1 (no memory).
 */
int batch_pack(const batch *one, const batch *stacks, const Hotstack__V1__Collector *sender,
               uint8_t digest[16], uint8_t **out, size_t *length);

/* The encoded ProfileBody alone; *out is malloc'd. 0 or -1 (no memory). */
int batch_pack_body(const batch *one, const Hotstack__V1__Collector *sender, uint8_t **out,
                    size_t *length);

/* The dictionary of a batch's stacks, borrowed from the batch and the arena. NULL = no memory. */
Hotstack__V1__StackDictionary *batch_dictionary(const batch *one, arena *in);

/* XXH3-128 of the body, in canonical form: what names its content in the ledger. */
void batch_digest(uint8_t out[16], const void *body, size_t length);

/*
 * A batch from its messages; `message` has a body and all of its stacks. Every index of the
 * dictionary is checked, those of the body's columns are not. 0, or -1 (damaged, or no memory),
 * with *out empty.
 */
int batch_unpack(batch *out, const Hotstack__V1__ProfileBatch *message);

#endif
