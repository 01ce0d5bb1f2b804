/* SPDX-License-Identifier: Apache-2.0 */
#include "index.h"

#include <string.h>

struct sagg__slot {
    uint32_t tag;   /* low half of the hash: also where the slot belongs */
    uint32_t value; /* element number + 1; 0 = free */
};

/* The high half is mixed in, so that ids that differ only there spread too. */
static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

bool sagg__index_find(const sagg__index *index, uint64_t hash, sagg__same *same, const void *wanted,
                      uint32_t *value)
{
    if (index->capacity == 0)
        return false;
    uint32_t tag = tag_of(hash);
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

static void place(struct sagg__slot *slots, uint32_t capacity, struct sagg__slot slot)
{
    uint32_t mask = capacity - 1;
    uint32_t at = slot.tag & mask;
    while (slots[at].value != 0)
        at = (at + 1) & mask;
    slots[at] = slot;
}

int sagg__index_reserve(sagg__mem *mem, sagg__index *index)
{
    if (index->capacity > 0 && index->count < index->capacity / 4 * 3)
        return 0;
    if (index->capacity >= UINT32_MAX / 2)
        return SAGG_E_LIMIT;
    uint32_t capacity = index->capacity == 0 ? 64 : index->capacity * 2;
    size_t bytes = (size_t)capacity * sizeof(struct sagg__slot);
    size_t held = (size_t)index->capacity * sizeof(struct sagg__slot);
    if (mem->used - held > mem->cap || bytes > mem->cap - (mem->used - held))
        return SAGG_E_LIMIT;
    struct sagg__slot *slots = sagg__alloc_zero(mem, capacity, sizeof(*slots));
    if (slots == NULL)
        return SAGG_E_NOMEM;
    for (uint32_t i = 0; i < index->capacity; i++)
        if (index->slots[i].value != 0)
            place(slots, capacity, index->slots[i]);
    sagg__release(mem, index->slots, held);
    index->slots = slots;
    index->capacity = capacity;
    return 0;
}

void sagg__index_put(sagg__index *index, uint64_t hash, uint32_t value)
{
    place(index->slots, index->capacity, (struct sagg__slot){tag_of(hash), value + 1});
    index->count++;
}

void sagg__index_clear(sagg__index *index)
{
    if (index->capacity > 0)
        memset(index->slots, 0, (size_t)index->capacity * sizeof(struct sagg__slot));
    index->count = 0;
}

void sagg__index_free(sagg__mem *mem, sagg__index *index)
{
    sagg__release(mem, index->slots, (size_t)index->capacity * sizeof(struct sagg__slot));
    *index = (sagg__index){0};
}
