/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is counted against a cap. */
#ifndef STACKAGG_MEM_H
#define STACKAGG_MEM_H

#include <stackagg/aggregate.h>

typedef struct sagg__mem {
    sagg_allocator allocator;
    uint64_t used;
    uint64_t cap; /* bytes; UINT64_MAX = none */
} sagg__mem;

/* Uses the given allocator, or the C library's when its functions are NULL. */
void sagg__mem_init(sagg__mem *mem, const sagg_allocator *allocator, uint64_t cap);

/*
 * Return NULL when the allocator has no memory. They ignore the cap. Zero bytes give a valid block.
 */
void *sagg__alloc(sagg__mem *mem, size_t bytes);
void *sagg__alloc_zero(sagg__mem *mem, size_t count, size_t each);
void sagg__release(sagg__mem *mem, void *block, size_t bytes);

/* A growing array: `items` points to `capacity` elements. */
typedef struct sagg__array {
    void *items;
    size_t capacity;
} sagg__array;

/* Does the work of sagg__extend for an array that is too small. */
int sagg__enlarge(sagg__mem *mem, sagg__array *array, size_t count, size_t each);
/*
 * Makes room for `count` elements of `each` bytes. Their contents are undefined, since memory that
 * is never written costs nothing. Returns 0, SAGG_ERR_LIMIT when the cap forbids it (the array is
 * unchanged), SAGG_ERR_NOMEM.
 */
static inline int sagg__extend(sagg__mem *mem, sagg__array *array, size_t count, size_t each)
{
    return count <= array->capacity ? 0 : sagg__enlarge(mem, array, count, each);
}
/* Does the same, but sets new elements to zero. */
int sagg__grow(sagg__mem *mem, sagg__array *array, size_t count, size_t each);
void sagg__array_free(sagg__mem *mem, sagg__array *array, size_t each);

#endif
