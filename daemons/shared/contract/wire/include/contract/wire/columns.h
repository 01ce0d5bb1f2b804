/* SPDX-License-Identifier: Apache-2.0 */
/* Converts arrays of structs to the contract's parallel columns and back, by tables of offsets. */
#ifndef CONTRACT_WIRE_COLUMNS_H
#define CONTRACT_WIRE_COLUMNS_H

#include <contract/intern.h>

#include "ingest.pb-c.h"

/* One column: a field of the plain struct, and its count and array in the wire message. */
typedef struct column {
    size_t plain;
    size_t wire_count;
    size_t wire_array;
    size_t width; /* 4 or 8 bytes */
} column;

#define COLUMN(plain_type, plain_field, wire_type, wire_field)                                     \
    {                                                                                              \
        offsetof(plain_type, plain_field), offsetof(wire_type, n_##wire_field),                    \
            offsetof(wire_type, wire_field), sizeof(((plain_type *)0)->plain_field)                \
    }

/* The memory of one encoding, freed together. Zero it to begin. */
typedef struct arena {
    void **blocks;
    size_t count;
    size_t room;
} arena;

/* Returns `bytes` zeroed bytes, or NULL. */
void *arena_take(arena *in, size_t bytes);
void arena_free(arena *in);

/* Fills the columns of `message` from `count` structs. Returns 0 or -1. */
int columns_out(arena *in, void *message, const void *items, size_t item_size, size_t count,
                const column *table, size_t columns);

/*
 * Does the reverse: *items is malloc'd, with *count structs; fields without a column are zero.
 * Returns -1 if the columns differ in length or without memory.
 */
int columns_in(void **items, size_t item_size, size_t *count, const void *message,
               const column *table, size_t columns);

/* Makes the message of a string table, borrowed from the table and the arena. NULL = no memory. */
Hotstack__V1__StringTable *strings_out(arena *in, const string_table *from);
/* Does the reverse. The strings must be distinct, so that indexes stay valid. Returns 0 or -1. */
int strings_in(string_table *to, const Hotstack__V1__StringTable *from);

/* Packs a message into a malloc'd block. Returns 0 or -1. */
int message_pack(const ProtobufCMessage *message, uint8_t **out, size_t *length);

#endif
