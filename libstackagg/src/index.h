/* SPDX-License-Identifier: Apache-2.0 */
/* A hash index over the elements of an array that its user keeps: hash -> element number. */
#ifndef STACKAGG_INDEX_H
#define STACKAGG_INDEX_H

#include "mem.h"

typedef struct sagg__index {
    struct sagg__slot *slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
} sagg__index;

/* Whether element `value` is the one looked for. */
typedef bool sagg__same(const void *wanted, uint32_t value);

/* Finds the element with this hash that is the same. */
bool sagg__index_find(const sagg__index *index, uint64_t hash, sagg__same *same, const void *wanted,
                      uint32_t *value);

/*
 * Makes room for one more. Returns 0, SAGG_E_LIMIT or SAGG_E_NOMEM. Called before the element is
 * added, so that a failure leaves nothing half done.
 */
int sagg__index_reserve(sagg__mem *mem, sagg__index *index);
/* Adds an element that is not there; sagg__index_reserve has made room. */
void sagg__index_put(sagg__index *index, uint64_t hash, uint32_t value);

/* Empties it, keeping its memory. */
void sagg__index_clear(sagg__index *index);
void sagg__index_free(sagg__mem *mem, sagg__index *index);

#endif
