/* SPDX-License-Identifier: Apache-2.0 */
/* Plain arrays of structs to and from the contract's parallel columns, by tables of offsets. */
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

/* Memory of one encoding: freed at once. Zero it to begin. */
typedef struct arena {
    void **blocks;
    size_t count;
    size_t room;
} arena;

/* `bytes` zeroed bytes, or NULL. */
void *arena_take(arena *in, size_t bytes);
void arena_free(arena *in);

/* Fills the columns of `message` from `count` structs. 0 or -1. */
int columns_out(arena *in, void *message, const void *items, size_t item_size, size_t count,
                const column *table, size_t columns);

/*
 * The reverse: *items is malloc'd, *count its structs; fields without a column are zero. -1 where
 * the columns differ in length or memory ran out.
 */
int columns_in(void **items, size_t item_size, size_t *count, const void *message,
               const column *table, size_t columns);

/* A string table as its message, borrowed from the table and the arena. NULL = no memory. */
Hotstack__V1__StringTable *strings_out(arena *in, const string_table *from);
/* The reverse; the strings must be distinct, for indexes to stay. 0 or -1. */
int strings_in(string_table *to, const Hotstack__V1__StringTable *from);

/* Packs a message into a malloc'd block. 0 or -1. */
int message_pack(const ProtobufCMessage *message, uint8_t **out, size_t *length);

#endif
