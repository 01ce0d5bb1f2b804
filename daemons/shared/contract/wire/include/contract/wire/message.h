/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain batches to the ingest contract's messages and back. Needs the generated ingest.pb-c.h; what
 * knows no protobuf includes contract/batch.h alone.
 */
#ifndef CONTRACT_WIRE_MESSAGE_H
#define CONTRACT_WIRE_MESSAGE_H

#include <contract/batch.h>
#include <contract/wire/columns.h>

enum { BATCH_CONTRACT = 1 };

extern const column batch_target_columns[];
extern const size_t batch_target_column_count;

/*
 * Encodes a batch as a ProfileBatch with its body, digest and all of its stacks. *out is malloc'd.
 * Returns 0, or -1 (no memory).
 */
int batch_pack(const batch *one, const Hotstack__V1__Collector *sender, uint8_t **out,
               size_t *length);

/* The dictionary of a batch's stacks, borrowed from the batch and the arena. NULL = no memory. */
Hotstack__V1__StackDictionary *batch_dictionary(const batch *one, arena *in);

/*
 * A batch from its messages; `message` has a body and all of its stacks. Every index of the
 * dictionary is checked, those of the body's columns are not. 0, or -1 (damaged, or no memory),
 * with *out empty.
 */
int batch_unpack(batch *out, const Hotstack__V1__ProfileBatch *message);

#endif
