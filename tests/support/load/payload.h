/* SPDX-License-Identifier: Apache-2.0 */
/* load/payload.h: a batch of a fleet in the form in which a collector sends it, compressed. */
#ifndef LOAD_PAYLOAD_H
#define LOAD_PAYLOAD_H

#include "fleet.h"

#include "ingest.pb-c.h"

typedef struct payload {
    uint8_t *bytes;
    size_t length;
    uint64_t *uses; /* keys of the stacks that the backend knows once the batch is stored */
    size_t use_count;
} payload;

/* One try of a batch. */
typedef struct payload_try {
    const key_table *known; /* keys of stacks (8 bytes each) to leave out; NULL = none */
    uint32_t attempt;       /* from 1 */
    uint64_t waited_ms;     /* since the first try */
} payload_try;

/* Makes the payload of a try. Returns 0, or -1 (no memory). */
int payload_make(const fleet *f, batch_name name, const payload_try *how, payload *out);
void payload_clear(payload *one);

/* Adds a payload's stacks to the known ones. Returns 0, or -1 (no memory). */
int payload_note_stored(const payload *one, key_table *known);

/* A node's collector, in the form of its messages. */
typedef struct payload_sender {
    Hotstack__V1__Collector message;
    char node[NAME_SIZE];
} payload_sender;

/* Fills `to` and returns its message. */
Hotstack__V1__Collector *payload_sender_of(const fleet *f, uint32_t node, payload_sender *to);

/* Sets the payload's bytes to a message, compressed. Returns 0, or -1 (no memory). */
int payload_compress(const uint8_t *bytes, size_t length, payload *out);

#endif
