/* SPDX-License-Identifier: Apache-2.0 */
#include "mem_impl.h"

#include <stdlib.h>
#include <string.h>

static void *libc_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return malloc(bytes);
}

static void *libc_realloc(void *ctx, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)ctx;
    (void)old_bytes;
    return realloc(block, new_bytes);
}

static void libc_free(void *ctx, void *block, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(block);
}

void sagg__mem_init(sagg__mem *mem, const sagg_allocator *allocator, uint64_t cap)
{
    *mem = (sagg__mem){.cap = cap};
    mem->allocator = allocator != NULL && allocator->alloc != NULL
                         ? *allocator
                         : (sagg_allocator){libc_alloc, libc_realloc, libc_free, NULL};
}

void *sagg__alloc(sagg__mem *mem, size_t bytes)
{
    size_t asked = bytes > 0 ? bytes : 1;
    void *block = mem->allocator.alloc(mem->allocator.ctx, asked);
    if (block != NULL)
        mem->used += asked;
    return block;
}

void *sagg__alloc_zero(sagg__mem *mem, size_t count, size_t each)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes))
        return NULL;
    void *block = sagg__alloc(mem, bytes);
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void sagg__release(sagg__mem *mem, void *block, size_t bytes)
{
    if (block == NULL)
        return;
    size_t held = bytes > 0 ? bytes : 1;
    mem->allocator.free(mem->allocator.ctx, block, held);
    mem->used -= held;
}

/* Returns the next capacity: twice the present one if the cap allows it, else an eighth more, else
 * just enough. */
static size_t next_capacity(const sagg__mem *mem, const sagg__array *array, size_t count,
                            size_t each)
{
    size_t steps[] = {array->capacity * 2, array->capacity + array->capacity / 8, count};
    uint64_t others = mem->used - array->capacity * each;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        size_t capacity = steps[i] < count ? count : steps[i];
        size_t bytes;
        uint64_t after;
        if (__builtin_mul_overflow(capacity, each, &bytes) ||
            __builtin_add_overflow(others, (uint64_t)bytes, &after))
            continue;
        if (after <= mem->cap)
            return capacity;
    }
    return 0;
}

int sagg__enlarge(sagg__mem *mem, sagg__array *array, size_t count, size_t each)
{
    size_t capacity = next_capacity(mem, array, count < 16 ? 16 : count, each);
    if (capacity == 0)
        return SAGG_ERR_LIMIT;
    size_t old_bytes = array->capacity * each;
    size_t new_bytes = capacity * each;
    const sagg_allocator *allocator = &mem->allocator;
    void *items = array->items == NULL
                      ? allocator->alloc(allocator->ctx, new_bytes)
                      : allocator->realloc(allocator->ctx, array->items, old_bytes, new_bytes);
    if (items == NULL)
        return SAGG_ERR_NOMEM;
    mem->used += new_bytes - old_bytes;
    array->items = items;
    array->capacity = capacity;
    return 0;
}

int sagg__grow(sagg__mem *mem, sagg__array *array, size_t count, size_t each)
{
    size_t before = array->capacity;
    if (count <= before)
        return 0;
    int rc = sagg__enlarge(mem, array, count, each);
    if (rc == 0)
        memset((char *)array->items + before * each, 0, (array->capacity - before) * each);
    return rc;
}

void sagg__array_free(sagg__mem *mem, sagg__array *array, size_t each)
{
    sagg__release(mem, array->items, array->capacity * each);
    *array = (sagg__array){0};
}
