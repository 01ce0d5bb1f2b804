/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct strings of one LowCardinality column in one block, numbered in order of first use.
 */
#ifndef CHSINK_SRC_DICTIONARY_H
#define CHSINK_SRC_DICTIONARY_H

#include "blocks/buffer_impl.h"

/* Zero-initialise; free with chs__dictionary_free. */
typedef struct chs__dictionary {
    chs__buffer keys;   /* encoded strings, back to back, in the form of the block */
    chs__buffer places; /* chs__place of each key */
    uint32_t *slots;    /* key number + 1, 0 = empty; open addressing */
    size_t slot_count;  /* a power of two, 0 before the first key */
    uint64_t seed;      /* of the hashes, drawn with the first slots */
    uint32_t count;
    uint32_t last; /* the last result */
} chs__dictionary;

/* Gives the number of a string, which is added if it is new. Returns 0, CHS_ERR_NO_MEMORY or
 * CHS_ERR_LIMIT. */
int chs__dictionary_number(chs__dictionary *dictionary, const void *data, size_t length,
                           uint32_t *number);

/* Drops all keys but keeps the memory. */
void chs__dictionary_clear(chs__dictionary *dictionary);

void chs__dictionary_free(chs__dictionary *dictionary);

#endif
