/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/stack_cache.h: the frames of stacks that queries have read, so that they are not read and
 * decoded with every graph.
 *
 * A stack's id is a hash of its frames, which ingest has verified, so an entry is right for every
 * service and for ever. Memory is bounded: the stacks that were used longest ago go first.
 * Thread rule: any thread. Takes NULL, which holds nothing.
 */
#ifndef BACKEND_STACK_CACHE_H
#define BACKEND_STACK_CACHE_H

#include "store.h"

typedef struct stack_cache stack_cache;

typedef struct stack_cache_stats {
    uint64_t stacks, bytes;           /* held now */
    uint64_t hits, misses, evictions; /* stacks that were found, were not, and had to go */
} stack_cache_stats;

/* bytes: of memory at most, for what it holds and for finding it. NULL without memory. */
stack_cache *stack_cache_new(size_t bytes);
void stack_cache_free(stack_cache *c);

/* Gives the stack to `each`. *found: it is there. 0, or what `each` returned. */
int stack_cache_give(stack_cache *c, const uint8_t *stack_id, stack_fn each, void *context,
                     bool *found);

/* Keeps a copy, unless it alone would take too much. */
void stack_cache_put(stack_cache *c, const stack_row *row);

stack_cache_stats stack_cache_read(stack_cache *c);

#endif
