/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of row indexes with the caller's equality, to find equal rows in a group of columns. Open
 * addressing; index_set_init takes all the memory.
 */
#ifndef BASE_INDEX_SET_H
#define BASE_INDEX_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct index_set {
    uint32_t *slots; /* index + 1, 0 = free */
    size_t mask;
    bool (*equal)(const void *context, uint32_t a, uint32_t b);
    const void *context;
} index_set;

#define INDEX_SET_NONE UINT32_MAX

/* Makes room for count indexes. Returns 0, or -1 when there is no memory. */
int index_set_init(index_set *set, size_t count,
                   bool (*equal)(const void *context, uint32_t a, uint32_t b), const void *context);
void index_set_free(index_set *set);

/* Adds index, unless the set has an equal row; `hash` is the row's (seeded_hash). Returns
 * INDEX_SET_NONE, or the equal row. */
uint32_t index_set_add(index_set *set, uint64_t hash, uint32_t index);

/* Returns the row in the set that is equal to index, which need not be in it, or INDEX_SET_NONE. */
uint32_t index_set_find(const index_set *set, uint64_t hash, uint32_t index);

#endif
