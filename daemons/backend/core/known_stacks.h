/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/known_stacks.h: stacks that the store said, or was made, to hold, so that it is not asked
 * for them with every window of every JVM.
 *
 * Only what is there is remembered, by service and UTC day, as the store tells stacks apart: a
 * day's stacks stay as long as batches of that day are taken. Should somebody delete them all the
 * same, they are forgotten after at most twice `keep_ms`; when a store fails, at once.
 *
 * Two generations of fingerprints (XXH3-128, seeded by chance): the younger one takes what comes;
 * when it is full or old, it becomes the elder one, whose stacks are forgotten. 16 bytes a slot,
 * two to four slots a stack. NULL in its place remembers nothing. Any thread.
 */
#ifndef BACKEND_KNOWN_STACKS_H
#define BACKEND_KNOWN_STACKS_H

#include "store.h"

typedef struct known_stacks known_stacks;

/* What it holds, and what it was asked for. */
typedef struct known_stacks_stats {
    uint64_t stacks, hits, misses;
} known_stacks_stats;

/* most: stacks remembered, 2 at least. keep_ms: after which the store is asked again. NULL without
 * memory. */
known_stacks *known_stacks_new(size_t most, uint64_t keep_ms);
void known_stacks_free(known_stacks *k);

/* What the stacks of a service on a day are told apart by. */
uint64_t known_stacks_owner(const known_stacks *k, const service_key *service, uint32_t day);

/* id: STACK_ID_BYTES. */
bool known_stacks_has(known_stacks *k, uint64_t owner, const uint8_t *id);
void known_stacks_add(known_stacks *k, uint64_t owner, const uint8_t *id);

/* Tells the time: what is too old is forgotten, and everything when a clock was put back. */
void known_stacks_pass(known_stacks *k, uint64_t now_ms);

/* Forgets all. */
void known_stacks_clear(known_stacks *k);

known_stacks_stats known_stacks_read(const known_stacks *k);

#endif
