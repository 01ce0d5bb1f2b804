/* SPDX-License-Identifier: Apache-2.0 */
/* One column of a block under construction: shared by block.c (columns), append.c and encode.c. */
#ifndef CHSINK_SRC_COLUMN_H
#define CHSINK_SRC_COLUMN_H

#include <chsink/block.h>

#include "blocks/buffer_impl.h"
#include "blocks/dictionary_impl.h"
#include "blocks/type_impl.h"

struct chs_column {
    chs_block *block;
    char *name;
    chs__type type;
    uint64_t rows;
    uint64_t values;            /* elements: rows, or the sum of array lengths */
    chs__buffer data;           /* encoded values; for a dictionary, uint32_t key numbers */
    chs__buffer ends;           /* of arrays: uint64_t ends, little-endian */
    chs__dictionary dictionary; /* of CHS__DICTIONARY */
};

struct chs_block {
    chs_block_options options;
    chs_column **columns; /* pointers, so that a chs_column never moves */
    uint32_t column_count;
    uint64_t bytes;    /* of column data */
    chs_error failure; /* the first failed append; code 0 = none */
    chs__buffer encoded;
};

/*
 * Returns the index type for that many keys: log2 of its bytes, as ClickHouse numbers index types.
 */
static inline unsigned chs__index_type(uint32_t keys)
{
    return keys <= 256 ? 0 : keys <= 65536 ? 1 : 2;
}

/* Flags of a dictionary with its own keys, all in this block (SerializationLowCardinality.cpp). */
enum {
    CHS__DICTIONARY_VERSION = 1,
    CHS__DICTIONARY_GLOBAL = 1 << 8,
    CHS__DICTIONARY_HAS_KEYS = 1 << 9,
    CHS__DICTIONARY_UPDATE = 1 << 10
};

#endif
