/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_MEMORY_H
#define JFR_SRC_MEMORY_H

#include <jfr/error.h>
#include <jfr/options.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A jfr_allocator that uses malloc, realloc and free. */
extern const jfr_allocator jfr__malloc;

/*
 * A bump arena for data that lives until its chunk ends. A reset frees all of it at once but keeps
 * the first block, so that reading many small chunks allocates nothing.
 */
typedef struct jfr__arena {
    const jfr_allocator *alloc;
    struct jfr__block *head;
    size_t used;    /* bytes of the block `head` */
    uint64_t total; /* bytes of all blocks */
    uint64_t max;   /* limit of `total` */
    bool full;      /* an allocation failed because of max */
} jfr__arena;

void jfr__arena_init(jfr__arena *arena, const jfr_allocator *alloc, uint64_t max);
void *jfr__arena_alloc(jfr__arena *arena, size_t size); /* 8-byte aligned; NULL = no memory */
void *jfr__arena_zalloc(jfr__arena *arena, size_t count, size_t size);
/* Fills `err` with the reason for which the arena returned NULL, and returns JFR_ERR_LIMIT
 * (max_decoded_bytes) or JFR_ERR_NOMEM. */
int jfr__arena_fail(const jfr__arena *arena, jfr_error *err);
#ifdef __clang_analyzer__ /* see error.h */
#define jfr__arena_fail(arena, err) (jfr__arena_fail(arena, err), JFR_ERR_NOMEM)
#endif
void jfr__arena_reset(jfr__arena *arena);
void jfr__arena_free(jfr__arena *arena);

/*
 * Makes room for `need` elements of `size` bytes in the array *data of capacity *cap, doubling it.
 * Returns 0, or -1 without memory (the array stays as it is).
 */
int jfr__grow(const jfr_allocator *alloc, void **data, size_t *cap, size_t need, size_t size);

/* Returns the first address in a block that is a multiple of `size`. */
static inline void *jfr__first_multiple(void *block, size_t size)
{
    return (char *)block + (size - (uintptr_t)block % size) % size;
}

#endif
