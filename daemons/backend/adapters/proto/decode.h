/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/proto/decode.h: protobuf payloads to the core's columns, within a memory budget, and the
 * core's verdict to an IngestAnswer.
 *
 * Each proto_decode_ function returns 0, or -1 with the verdict filled (malformed, too_costly, a
 * retry without memory). The columns are borrowed from *out, which the caller frees with
 * proto_decoded_free.
 */
#ifndef BACKEND_DECODE_H
#define BACKEND_DECODE_H

#include "batch.h"
#include "verdict.h"

typedef struct proto_decoded proto_decoded;

int proto_decode_batch(proto_decoded **out, profile_batch *batch, const void *data, size_t length,
                       verdict *v);
int proto_decode_status(proto_decoded **out, status_report *report, const void *data, size_t length,
                        verdict *v);
int proto_decode_heartbeat(proto_decoded **out, heartbeat *beat, const void *data, size_t length,
                           verdict *v);
void proto_decoded_free(proto_decoded *decoded);

/*
 * Encodes an answer; in_force: NULL, or the limits to tell the collector. From malloc, *length
 * bytes; NULL when there is no memory.
 */
void *proto_encode_answer(size_t *length, const verdict *v, const ingest_limits *in_force);

#endif
