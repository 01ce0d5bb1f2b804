/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes protobuf payloads to the contract's columns, within a memory budget, and encodes a
 * verdict as an IngestAnswer.
 *
 * Each proto_decode_ function returns 0, or -1 with the verdict filled (malformed, too_costly, a
 * retry without memory). The columns are borrowed from *out, which the caller frees with
 * proto_decoded_free.
 */
#ifndef CONTRACT_WIRE_DECODE_H
#define CONTRACT_WIRE_DECODE_H

#include <contract/payload.h>
#include <contract/verdict.h>

typedef struct proto_decoded proto_decoded;

int proto_decode_batch(proto_decoded **out, profile_batch *batch, const void *data, size_t length,
                       verdict *v);
int proto_decode_status(proto_decoded **out, status_batch *report, const void *data, size_t length,
                        verdict *v);
int proto_decode_heartbeat(proto_decoded **out, heartbeat *beat, const void *data, size_t length,
                           verdict *v);
void proto_decoded_free(proto_decoded *decoded);

/*
 * Encodes an answer; in_force: NULL, or the limits to send to the collector. Returns malloc'd
 * memory, *length bytes; NULL when there is no memory.
 */
void *proto_encode_answer(size_t *length, const verdict *v, const ingest_limits *in_force);

#endif
