/* SPDX-License-Identifier: Apache-2.0 */
/* A hash index over the elements of an array that the caller keeps: hash -> element number. */
#ifndef STACKAGG_INDEX_H
#define STACKAGG_INDEX_H

#include "mem_impl.h"

struct sagg__slot {
    uint32_t tag;   /* of the hash; its low bits are the slot's preferred place */
    uint32_t value; /* element number + 1; 0 = free */
};

typedef struct sagg__index {
    uint64_t seed; /* odd and random, so that nobody can choose keys that collide; 0 = no slots */
    struct sagg__slot *slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
} sagg__index;

/* Returns whether element `value` is the wanted one. */
typedef bool sagg__same(const void *wanted, uint32_t value);

/* Returns the tag of a hash. The high half is mixed in, so that ids that differ only there spread
 * too. */
static inline uint32_t sagg__index_tag(const sagg__index *index, uint64_t hash)
{
    return (uint32_t)((hash ^ hash >> 32) * index->seed >> 32);
}

/* Returns where the search for a hash begins; NULL when the index is empty. */
static inline const struct sagg__slot *sagg__index_slot(const sagg__index *index, uint64_t hash)
{
    if (index->slots == NULL)
        return NULL;
    return &index->slots[sagg__index_tag(index, hash) & (index->capacity - 1)];
}

/* Finds the element with this hash for which `same` is true. */
static inline bool sagg__index_find(const sagg__index *index, uint64_t hash, sagg__same *same,
                                    const void *wanted, uint32_t *value)
{
    if (index->slots == NULL)
        return false;
    uint32_t tag = sagg__index_tag(index, hash);
    uint32_t mask = index->capacity - 1;
    for (uint32_t at = tag & mask; index->slots[at].value != 0; at = (at + 1) & mask) {
        const struct sagg__slot *slot = &index->slots[at];
        if (slot->tag == tag && same(wanted, slot->value - 1)) {
            *value = slot->value - 1;
            return true;
        }
    }
    return false;
}

/* Does the work of sagg__index_reserve for a full index. */
int sagg__index_enlarge(sagg__mem *mem, sagg__index *index);
/* Makes room for one more element. Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM. Call it before
 * adding the element, so that a failure leaves nothing half done. */
static inline int sagg__index_reserve(sagg__mem *mem, sagg__index *index)
{
    return index->count < index->capacity / 4 * 3 ? 0 : sagg__index_enlarge(mem, index);
}
/* Makes the index large enough for `count` elements in all, if memory and cap allow it. */
void sagg__index_expect(sagg__mem *mem, sagg__index *index, uint64_t count);
/* Adds a new element; sagg__index_reserve has made room. */
void sagg__index_put(sagg__index *index, uint64_t hash, uint32_t value);

/* Empties the index and keeps its memory. */
void sagg__index_clear(sagg__index *index);
void sagg__index_free(sagg__mem *mem, sagg__index *index);

#endif
