/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes allocations fail, to test how code handles that: the C library's functions work as long as
 * they are allowed to, and then return no block. Programs that compile failing_memory.c are linked
 * with --wrap=malloc, --wrap=calloc, --wrap=realloc and --wrap=free. For one thread.
 */
#ifndef HOTSTACK_TESTS_FAILING_MEMORY_H
#define HOTSTACK_TESTS_FAILING_MEMORY_H

/* How many allocations still succeed. LONG_MAX, its first value, while assertions are made. */
extern long memory_left;

/* Blocks that were not freed, including those of assertions. */
extern long memory_held;

/* memory_limit allows so many allocations until memory_lift, which asserts that all blocks made in
 * between are freed. */
void memory_limit(long allocations);
void memory_lift(void);

/* Returns how many to allow after `count`: all numbers up to some hundreds, then ever fewer,
 * because each is similar to those before it. */
long memory_next(long count);

#endif
