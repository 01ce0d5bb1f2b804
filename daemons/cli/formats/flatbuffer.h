/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer of FlatBuffers, with the part that Arrow's metadata needs (flatbuffers.dev,
 * "Internals"). A message is written from its end to its beginning, children before the objects
 * that refer to them. A position in it is the distance from its end.
 */
#ifndef HOTSTACK_CLI_FLATBUFFER_H
#define HOTSTACK_CLI_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLAT_SLOTS = 8 };

typedef uint32_t flat_ref;

typedef struct flatbuffer {
    unsigned char *data; /* the message is at the end of this memory */
    size_t room, size;
    bool failed;                /* there was no memory: the message is invalid */
    uint32_t slots[FLAT_SLOTS]; /* of the open table: positions of its fields, 0 = absent */
    uint32_t table;             /* the message's size when the table was opened */
} flatbuffer;

flat_ref flat_string(flatbuffer *b, const char *text);
/* Adds a vector of references. */
flat_ref flat_vector(flatbuffer *b, const flat_ref *refs, size_t count);
/* Adds a vector of structs whose fields are all 64 bits wide. */
flat_ref flat_structs(flatbuffer *b, const uint64_t *words, size_t words_each, size_t count);

/* Begin a table, set its fields by slot, and end it. Only one table can be open at a time. */
void flat_begin(flatbuffer *b);
void flat_u8(flatbuffer *b, unsigned slot, uint8_t value);
void flat_i16(flatbuffer *b, unsigned slot, int16_t value);
void flat_i32(flatbuffer *b, unsigned slot, int32_t value);
void flat_i64(flatbuffer *b, unsigned slot, int64_t value);
void flat_child(flatbuffer *b, unsigned slot, flat_ref child);
flat_ref flat_end(flatbuffer *b);

/* Makes `root` the root of the message. Returns the message, b->size bytes, valid until the next
 * call; NULL when it failed. */
const unsigned char *flat_finish(flatbuffer *b, flat_ref root);
/* Begins another message in the same memory. */
void flat_clear(flatbuffer *b);
void flat_free(flatbuffer *b);

#endif
