/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_impl.h"

#include "error_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 64 * 1024 };

struct jfr__block {
    struct jfr__block *next;
    size_t size;
    max_align_t data[];
};

static void *default_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *default_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return realloc(ptr, new_size);
}

static void default_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

const jfr_allocator jfr__malloc = {default_alloc, default_realloc, default_free, NULL};

void jfr__arena_init(jfr__arena *arena, const jfr_allocator *alloc, uint64_t max)
{
    *arena = (jfr__arena){.alloc = alloc, .max = max};
}

int(jfr__arena_fail)(const jfr__arena *arena, jfr_error *err)
{
    if (!arena->full)
        return jfr__fail_nomem(err);
    return jfr__fail(err, JFR_ERR_LIMIT, 0,
                     "What a chunk decodes passes max_decoded_bytes (%" PRIu64 ").", arena->max);
}

static int add_block(jfr__arena *arena, size_t size)
{
    size_t payload = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    if (payload > SIZE_MAX - sizeof(struct jfr__block))
        return -1;
    if (payload > arena->max || arena->total > arena->max - payload) {
        arena->full = true; /* stays set, even if a smaller allocation succeeds later */
        return -1;
    }
    struct jfr__block *block =
        arena->alloc->alloc(arena->alloc->ctx, sizeof(struct jfr__block) + payload);
    if (block == NULL)
        return -1;
    block->next = arena->head;
    block->size = payload;
    arena->head = block;
    arena->used = 0;
    arena->total += payload;
    return 0;
}

void *jfr__arena_alloc(jfr__arena *arena, size_t size)
{
    if (size > SIZE_MAX - 8)
        return NULL;
    size = (size + 7) & ~(size_t)7;
    if (arena->head == NULL || arena->head->size - arena->used < size) {
        if (add_block(arena, size) < 0)
            return NULL;
    }
    char *base = (char *)arena->head->data;
    void *result = base + arena->used;
    arena->used += size;
    return result;
}

void *jfr__arena_zalloc(jfr__arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - 8) / size)
        return NULL;
    void *result = jfr__arena_alloc(arena, count * size);
    if (result != NULL)
        memset(result, 0, count * size);
    return result;
}

void jfr__arena_reset(jfr__arena *arena)
{
    while (arena->head != NULL && arena->head->next != NULL) {
        struct jfr__block *next = arena->head->next;
        arena->alloc->free(arena->alloc->ctx, arena->head);
        arena->head = next;
    }
    arena->total = arena->head != NULL ? arena->head->size : 0;
    arena->used = 0;
    arena->full = false;
}

void jfr__arena_free(jfr__arena *arena)
{
    jfr__arena_reset(arena);
    if (arena->head != NULL)
        arena->alloc->free(arena->alloc->ctx, arena->head);
    arena->head = NULL;
}

int jfr__grow(const jfr_allocator *alloc, void **data, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return 0;
    size_t next = *cap < 16 ? 16 : *cap * 2;
    if (next < need)
        next = need;
    if (next > SIZE_MAX / size)
        return -1;
    void *grown = alloc->realloc(alloc->ctx, *data, *cap * size, next * size);
    if (grown == NULL)
        return -1;
    *data = grown;
    *cap = next;
    return 0;
}
