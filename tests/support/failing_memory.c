/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_memory.h"

#include <check.h>
#include <limits.h>
#include <stddef.h>

long memory_left = LONG_MAX;
long memory_held;

static long held_before;

void memory_limit(long allocations)
{
    held_before = memory_held;
    memory_left = allocations;
}

void memory_lift(void)
{
    memory_left = LONG_MAX;
    ck_assert_int_eq(memory_held, held_before);
}

long memory_next(long count)
{
    enum { EACH = 400 };
    return count < EACH ? count + 1 : count + count / 50;
}

/* The linker defines these names. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t each);
void *__real_realloc(void *block, size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t each);
void *__wrap_realloc(void *block, size_t bytes);
void __wrap_free(void *block);

void *__wrap_malloc(size_t bytes)
{
    void *block = memory_left-- > 0 ? __real_malloc(bytes) : NULL;
    memory_held += block != NULL;
    return block;
}

void *__wrap_calloc(size_t count, size_t each)
{
    void *block = memory_left-- > 0 ? __real_calloc(count, each) : NULL;
    memory_held += block != NULL;
    return block;
}

void *__wrap_realloc(void *block, size_t bytes)
{
    void *moved = memory_left-- > 0 ? __real_realloc(block, bytes) : NULL;
    memory_held += moved != NULL && block == NULL;
    return moved;
}

void __wrap_free(void *block)
{
    memory_held -= block != NULL;
    __real_free(block);
}
