/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/index_impl.h"

#include <string.h>

#ifdef __linux__
#include <sys/random.h>
#endif

#define FIRST_SLOTS 64u

static uint64_t random_number(void)
{
    uint64_t number = 0;
#ifdef __linux__
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number))
        return number;
#endif
    /* WebAssembly has no such source; there an address is enough, since the host isolates the
     * library. */
    return (uint64_t)(uintptr_t)&number * UINT64_C(0x9E3779B97F4A7C15);
}

static void place(struct sagg__slot *slots, uint32_t capacity, struct sagg__slot slot)
{
    uint32_t mask = capacity - 1;
    uint32_t at = slot.tag & mask;
    while (slots[at].value != 0)
        at = (at + 1) & mask;
    slots[at] = slot;
}

/* Moves the slots into a table of `capacity`, a power of two. */
static int resize(sagg__mem *mem, sagg__index *index, uint32_t capacity)
{
    if (index->seed == 0)
        index->seed = random_number() | 1;
    size_t bytes = (size_t)capacity * sizeof(struct sagg__slot);
    size_t held = (size_t)index->capacity * sizeof(struct sagg__slot);
    if (mem->used - held > mem->cap || bytes > mem->cap - (mem->used - held))
        return SAGG_ERR_LIMIT;
    struct sagg__slot *slots = sagg__alloc_zero(mem, capacity, sizeof(*slots));
    if (slots == NULL)
        return SAGG_ERR_NOMEM;
    for (uint32_t i = 0; i < index->capacity; i++)
        if (index->slots[i].value != 0)
            place(slots, capacity, index->slots[i]);
    sagg__release(mem, index->slots, held);
    index->slots = slots;
    index->capacity = capacity;
    return 0;
}

int sagg__index_enlarge(sagg__mem *mem, sagg__index *index)
{
    if (index->capacity >= UINT32_MAX / 2)
        return SAGG_ERR_LIMIT;
    return resize(mem, index, index->capacity == 0 ? FIRST_SLOTS : index->capacity * 2);
}

void sagg__index_expect(sagg__mem *mem, sagg__index *index, uint64_t count)
{
    uint32_t capacity = FIRST_SLOTS;
    while (capacity / 4 * 3 < count && capacity < UINT32_MAX / 2)
        capacity *= 2;
    if (capacity <= index->capacity)
        return;
    int rc = resize(mem, index, capacity);
    (void)rc; /* it can still grow while it is filled */
}

void sagg__index_put(sagg__index *index, uint64_t hash, uint32_t value)
{
    place(index->slots, index->capacity,
          (struct sagg__slot){sagg__index_tag(index, hash), value + 1});
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
    *index = (sagg__index){.seed = index->seed};
}
