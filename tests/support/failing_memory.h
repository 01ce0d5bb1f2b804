/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that ends, for tests of what is done then: the C library's functions as long as they are
 * allowed, and no block behind that. Programs that compile failing_memory.c are linked with
 * --wrap=malloc, --wrap=calloc, --wrap=realloc and --wrap=free. For one thread.
 */
#ifndef HOTSTACK_TESTS_FAILING_MEMORY_H
#define HOTSTACK_TESTS_FAILING_MEMORY_H

/* Allocations that still succeed. LONG_MAX, as it begins, while assertions are made. */
extern long memory_left;

/* Blocks that were not freed, those of assertions included. */
extern long memory_held;

/* Allows so many allocations until memory_lift, which asserts that nothing more is held by then. */
void memory_limit(long allocations);
void memory_lift(void);

/* What to allow after `count`: all up to some hundreds, then ever fewer, as each is like those
 * before it. */
long memory_next(long count);

#endif
