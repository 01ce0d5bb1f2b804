/* SPDX-License-Identifier: Apache-2.0 */
#include <base/index_set.h>

#include <stdlib.h>

int index_set_init(index_set *set, size_t count,
                   bool (*equal)(const void *context, uint32_t a, uint32_t b), const void *context)
{
    size_t slots = 16;

    while (slots < 2 * count)
        slots *= 2;
    set->slots = calloc(slots, sizeof(*set->slots));
    set->mask = slots - 1;
    set->equal = equal;
    set->context = context;
    return set->slots != NULL ? 0 : -1;
}

void index_set_free(index_set *set)
{
    free(set->slots);
    set->slots = NULL;
}

/* Returns the slot of the row that is equal to index, or the free slot where it belongs. */
static uint32_t *find_slot(const index_set *set, uint64_t hash, uint32_t index)
{
    size_t slot = (size_t)hash & set->mask;

    while (set->slots[slot] != 0 && !set->equal(set->context, set->slots[slot] - 1, index))
        slot = (slot + 1) & set->mask;
    return &set->slots[slot];
}

uint32_t index_set_add(index_set *set, uint64_t hash, uint32_t index)
{
    uint32_t *slot = find_slot(set, hash, index);

    if (*slot != 0)
        return *slot - 1;
    *slot = index + 1;
    return INDEX_SET_NONE;
}

uint32_t index_set_find(const index_set *set, uint64_t hash, uint32_t index)
{
    const uint32_t *slot = find_slot(set, hash, index);

    return *slot != 0 ? *slot - 1 : INDEX_SET_NONE;
}
