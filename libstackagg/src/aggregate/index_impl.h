/* SPDX-License-Identifier: Apache-2.0 */
/* A hash index over the elements of an array that its user keeps: hash -> element number. */
#ifndef STACKAGG_INDEX_H
#define STACKAGG_INDEX_H

#include "mem_impl.h"

struct sagg__slot {
    uint32_t tag;   /* of the hash; its low bits are where the slot belongs */
    uint32_t value; /* element number + 1; 0 = free */
};

typedef struct sagg__index {
    uint64_t seed; /* odd and random once there are slots: what is added cannot be chosen to meet */
    struct sagg__slot *slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
} sagg__index;

/* Whether element `value` is the one looked for. */
typedef bool sagg__same(const void *wanted, uint32_t value);

/* The high half is mixed in, so that ids that differ only there spread too. */
static inline uint32_t sagg__index_tag(const sagg__index *index, uint64_t hash)
{
    return (uint32_t)((hash ^ hash >> 32) * index->seed >> 32);
}

/* Where the search for a hash begins; NULL when the index is empty. */
static inline const struct sagg__slot *sagg__index_slot(const sagg__index *index, uint64_t hash)
{
    if (index->slots == NULL)
        return NULL;
    return &index->slots[sagg__index_tag(index, hash) & (index->capacity - 1)];
}

/* Finds the element with this hash that is the same. */
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

/* sagg__index_reserve of an index that is full. */
int sagg__index_enlarge(sagg__mem *mem, sagg__index *index);
/*
 * Makes room for one more. Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM. Called before the element
 * is added, so that a failure leaves nothing half done.
 */
static inline int sagg__index_reserve(sagg__mem *mem, sagg__index *index)
{
    return index->count < index->capacity / 4 * 3 ? 0 : sagg__index_enlarge(mem, index);
}
/* Makes it large enough for `count` in all, where memory and cap allow it. */
void sagg__index_expect(sagg__mem *mem, sagg__index *index, uint64_t count);
/* Adds an element that is not there; sagg__index_reserve has made room. */
void sagg__index_put(sagg__index *index, uint64_t hash, uint32_t value);

/* Empties it, keeping its memory. */
void sagg__index_clear(sagg__index *index);
void sagg__index_free(sagg__mem *mem, sagg__index *index);

#endif
