/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/known_stacks.h: a cache of the stacks that the store holds, so that it is not asked for them
 * with every window of every JVM.
 *
 * Only existing stacks are remembered, by service and UTC day, as in the store: the stacks of a day
 * are stored as long as batches of that day are accepted. If somebody deletes them anyway, the
 * cache forgets them after at most twice `keep_ms`, and at once when a store fails.
 *
 * It has two generations of fingerprints (XXH3-128 with a random seed). New ones go to the younger;
 * when that is full or old, it becomes the elder, and the former elder is forgotten. A slot takes
 * 16 bytes, a stack two to four slots. A NULL pointer is a cache that remembers nothing. Any
 * thread.
 */
#ifndef BACKEND_KNOWN_STACKS_H
#define BACKEND_KNOWN_STACKS_H

#include "store.h"

typedef struct known_stacks known_stacks;

/* The size of the cache, and its hits and misses. */
typedef struct known_stacks_stats {
    uint64_t stacks, hits, misses;
} known_stacks_stats;

/* most: stacks remembered, at least 2. keep_ms: time after which the store is asked again. Returns
 * NULL without memory. */
known_stacks *known_stacks_new(size_t most, uint64_t keep_ms);
void known_stacks_free(known_stacks *k);

/* Returns the key of a service on a day, by which its stacks are cached. */
uint64_t known_stacks_owner(const known_stacks *k, const service_key *service, uint32_t day);

/* id: STACK_ID_BYTES. */
bool known_stacks_has(known_stacks *k, uint64_t owner, const uint8_t *id);
void known_stacks_add(known_stacks *k, uint64_t owner, const uint8_t *id);

/* Passes the time: old fingerprints are forgotten, and all of them when the clock was set back. */
void known_stacks_pass(known_stacks *k, uint64_t now_ms);

/* Forgets all stacks. */
void known_stacks_clear(known_stacks *k);

known_stacks_stats known_stacks_read(const known_stacks *k);

#endif
