/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_IDMAP_H
#define JFR_SRC_IDMAP_H

#include "memory_impl.h"

#include <stdint.h>

/*
 * Maps the ids of a recording (any 64-bit numbers) to dense indices in the order of insertion. As
 * long as ids ascend, which most recorders ensure, they are a sorted list. The first id that does
 * not ascend turns the list into a table by id if the ids are dense, and else into a hash table.
 */
typedef struct jfr__idmap {
    const jfr_allocator *alloc;
    uint64_t *rising; /* ids by index, while there is no table */
    size_t rising_cap;
    uint64_t *keys; /* hash table: key and index + 1, 0 = free */
    uint32_t *values;
    size_t capacity;     /* a power of two, or 0 */
    uint64_t multiplier; /* of the hash table; odd and random, so that nobody can choose ids that
                            collide */
    uint32_t count;
    uint64_t max_key;
    uint32_t *direct; /* for dense ids: index + 1 by id; NULL = not in use */
    uint32_t *by_id;  /* memory of `direct`, for by_id_cap ids */
    size_t by_id_cap;
} jfr__idmap;

void jfr__idmap_init(jfr__idmap *map, const jfr_allocator *alloc);
void jfr__idmap_free(jfr__idmap *map);
void jfr__idmap_clear(jfr__idmap *map); /* empties it; keeps the memory */

/* Adds `key` unless it is present. Returns its index, or JFR_NONE without memory. */
uint32_t jfr__idmap_put(jfr__idmap *map, uint64_t key);

/* Builds a table by id if the ids are dense, and else the hash table. Lookups also work, more
 * slowly, without this call. */
void jfr__idmap_finish(jfr__idmap *map);

uint32_t jfr__idmap_search(const jfr__idmap *map, uint64_t key);

/* Returns the index of `key`, or JFR_NONE. */
static inline uint32_t jfr__idmap_find(const jfr__idmap *map, uint64_t key)
{
    if (map->direct != NULL)
        return key <= map->max_key ? map->direct[key] - 1u : UINT32_MAX;
    return jfr__idmap_search(map, key);
}

#endif
