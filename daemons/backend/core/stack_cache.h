/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/stack_cache.h: a cache of frames, so that they are not read and decoded for every graph.
 *
 * A stack's id is a hash of its frames, which ingest has verified, so that an entry is valid for
 * every service and never changes. Memory is bounded: the stacks with the oldest use are removed
 * first. Thread rule: any thread. NULL is a cache that holds nothing.
 */
#ifndef BACKEND_STACK_CACHE_H
#define BACKEND_STACK_CACHE_H

#include "store.h"

typedef struct stack_cache stack_cache;

typedef struct stack_cache_stats {
    uint64_t stacks, bytes;           /* held at present */
    uint64_t hits, misses, evictions; /* lookups by result, and stacks removed */
} stack_cache_stats;

/* bytes: most memory of the cache, including its index. Returns NULL without memory. */
stack_cache *stack_cache_new(size_t bytes);
void stack_cache_free(stack_cache *c);

/* Passes the stack to `each`. *found: the cache has it. Returns 0, or the result of `each`. */
int stack_cache_give(stack_cache *c, const uint8_t *stack_id, stack_fn each, void *context,
                     bool *found);

/* Adds a copy, unless it alone would be too large. */
void stack_cache_put(stack_cache *c, const stack_row *row);

stack_cache_stats stack_cache_read(stack_cache *c);

#endif
