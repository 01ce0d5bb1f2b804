/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire form of the ingest contract: batches, reports and answers. It also remembers which
 * stacks the backend knows. In the queue a batch is a ProfileBatch with every stack, compressed
 * with zstd.
 */
#ifndef COLLECTOR_ADAPTERS_WIRE_H
#define COLLECTOR_ADAPTERS_WIRE_H

#include "../core/report.h"
#include "../core/uploader.h"

/* The sender of messages; its texts are borrowed. */
typedef struct wire_sender {
    const char *cluster;
    const char *node;
    const char *instance;
    const char *version;
    uint64_t run_id;
} wire_sender;

typedef struct wire wire;

/* Copies `sender`; its texts are borrowed. Returns NULL without memory. */
wire *wire_new(const wire_sender *sender);
void wire_free(wire *self);

/* The functions of uploader_ports and collector_ports with the same names; context = a wire. */
int wire_encode(void *context, const batch *one, uint8_t **out, size_t *length);
int wire_decode(void *context, const uint8_t *entry, size_t length, batch *out);
int wire_pack_entry(void *context, const uint8_t *entry, size_t length, bool all_stacks,
                    const entry_tries *tries, uint8_t **out, size_t *out_length);
int wire_note_stored(void *context, const uint8_t *entry, size_t length, entry_sums *sums);
int wire_encode_status(void *context, const status_report *report, uint8_t **out, size_t *length);
int wire_encode_heartbeat(void *context, const heartbeat *beat, uint8_t **out, size_t *length);

/* Reads an IngestAnswer; bytes that are not one leave outcome at UPLOAD_NO_ANSWER. */
void wire_read_answer(const uint8_t *bytes, size_t length, upload_answer *out);

#endif
