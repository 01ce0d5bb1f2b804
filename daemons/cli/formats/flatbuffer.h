/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FlatBuffers, written: as much of it as Arrow's metadata needs (flatbuffers.dev, "Internals"). A
 * message grows from its end to its beginning, children before what points to them; a place in it
 * is its distance from the end.
 */
#ifndef HOTSTACK_CLI_FLATBUFFER_H
#define HOTSTACK_CLI_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLAT_SLOTS = 8 };

typedef uint32_t flat_ref;

typedef struct flatbuffer {
    unsigned char *data; /* the message is at its end */
    size_t room, size;
    bool failed;                /* there was no memory: the message is void */
    uint32_t slots[FLAT_SLOTS]; /* of the open table: places of its fields, 0 = absent */
    uint32_t table;             /* size when it was opened */
} flatbuffer;

flat_ref flat_string(flatbuffer *b, const char *text);
/* A vector of references. */
flat_ref flat_vector(flatbuffer *b, const flat_ref *refs, size_t count);
/* A vector of structs whose fields are all 64 bits wide. */
flat_ref flat_structs(flatbuffer *b, const uint64_t *words, size_t words_each, size_t count);

/* A table: its fields by slot, then its end. Only one is open at a time. */
void flat_begin(flatbuffer *b);
void flat_u8(flatbuffer *b, unsigned slot, uint8_t value);
void flat_i16(flatbuffer *b, unsigned slot, int16_t value);
void flat_i32(flatbuffer *b, unsigned slot, int32_t value);
void flat_i64(flatbuffer *b, unsigned slot, int64_t value);
void flat_child(flatbuffer *b, unsigned slot, flat_ref child);
flat_ref flat_end(flatbuffer *b);

/* Makes `root` the message's. Returns its first byte, b->size bytes, valid until the next call;
 * NULL when it failed. */
const unsigned char *flat_finish(flatbuffer *b, flat_ref root);
/* Begins another message in the same memory. */
void flat_clear(flatbuffer *b);
void flat_free(flatbuffer *b);

#endif
