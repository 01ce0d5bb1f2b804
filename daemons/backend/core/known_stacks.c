/* SPDX-License-Identifier: Apache-2.0 */
#include "known_stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

/* A set of fingerprints with open addressing; no fingerprint is 0. */
typedef struct generation {
    XXH128_hash_t *slots;
    size_t count;
} generation;

struct known_stacks {
    pthread_mutex_t lock; /* guards the generations */
    generation young, elder;
    size_t mask;
    size_t most; /* most fingerprints of a generation */
    uint64_t keep_ms, turned_ms;
    uint64_t seed;
    atomic_uint_fast64_t stacks, hits, misses;
};

known_stacks *known_stacks_new(size_t most, uint64_t keep_ms)
{
    known_stacks *k = calloc(1, sizeof(*k));
    size_t slots = 16;

    if (k == NULL)
        return NULL;
    pthread_mutex_init(&k->lock, NULL);
    k->most = most > 2 ? most / 2 : 1;
    k->keep_ms = keep_ms;
    while (slots < 2 * k->most)
        slots *= 2;
    k->mask = slots - 1;
    k->young.slots = calloc(slots, sizeof(*k->young.slots));
    k->elder.slots = calloc(slots, sizeof(*k->elder.slots));
    if (k->young.slots == NULL || k->elder.slots == NULL ||
        getrandom(&k->seed, sizeof(k->seed), 0) != (ssize_t)sizeof(k->seed)) {
        known_stacks_free(k);
        return NULL;
    }
    return k;
}

void known_stacks_free(known_stacks *k)
{
    if (k == NULL)
        return;
    pthread_mutex_destroy(&k->lock);
    free(k->young.slots);
    free(k->elder.slots);
    free(k);
}

static uint64_t hash_text(uint64_t seed, text value)
{
    return XXH3_64bits_withSeed(value.data, value.length, seed);
}

uint64_t known_stacks_owner(const known_stacks *k, const service_key *service, uint32_t day)
{
    if (k == NULL)
        return 0;
    const uint64_t parts[] = {hash_text(k->seed, service->cluster),
                              hash_text(k->seed, service->namespace_name),
                              hash_text(k->seed, service->workload), day};

    return XXH3_64bits_withSeed(parts, sizeof(parts), k->seed);
}

static XXH128_hash_t fingerprint(uint64_t owner, const uint8_t *id)
{
    XXH128_hash_t print = XXH3_128bits_withSeed(id, STACK_ID_BYTES, owner);

    print.low64 += print.low64 == 0; /* 0 marks an empty slot */
    return print;
}

/* Returns the slot of a fingerprint, or the free one where it belongs. */
static XXH128_hash_t *find(const known_stacks *k, const generation *in, XXH128_hash_t print)
{
    size_t slot = (size_t)print.low64 & k->mask;

    while (in->slots[slot].low64 != 0 && !XXH128_isEqual(in->slots[slot], print))
        slot = (slot + 1) & k->mask;
    return &in->slots[slot];
}

static bool holds(const known_stacks *k, const generation *in, XXH128_hash_t print)
{
    return find(k, in, print)->low64 != 0;
}

static void empty(const known_stacks *k, generation *g)
{
    if (g->count > 0)
        memset(g->slots, 0, (k->mask + 1) * sizeof(*g->slots));
    g->count = 0;
}

static void note_count(known_stacks *k)
{
    atomic_store(&k->stacks, k->young.count + k->elder.count);
}

static void turn(known_stacks *k)
{
    generation gone = k->elder;

    k->elder = k->young;
    k->young = gone;
    empty(k, &k->young);
    note_count(k);
}

bool known_stacks_has(known_stacks *k, uint64_t owner, const uint8_t *id)
{
    if (k == NULL)
        return false;
    XXH128_hash_t print = fingerprint(owner, id);
    pthread_mutex_lock(&k->lock);
    bool found = holds(k, &k->young, print) || holds(k, &k->elder, print);
    pthread_mutex_unlock(&k->lock);

    atomic_fetch_add(found ? &k->hits : &k->misses, 1);
    return found;
}

void known_stacks_add(known_stacks *k, uint64_t owner, const uint8_t *id)
{
    if (k == NULL)
        return;
    XXH128_hash_t print = fingerprint(owner, id);

    pthread_mutex_lock(&k->lock);
    if (k->young.count == k->most)
        turn(k);
    XXH128_hash_t *slot = find(k, &k->young, print);
    if (slot->low64 == 0) {
        *slot = print;
        k->young.count++;
        note_count(k);
    }
    pthread_mutex_unlock(&k->lock);
}

static void pass(known_stacks *k, uint64_t now_ms)
{
    if (k->turned_ms == 0)
        k->turned_ms = now_ms;
    if (now_ms - k->turned_ms < k->keep_ms)
        return;
    if (now_ms - k->turned_ms >= 2 * k->keep_ms)
        turn(k); /* the younger generation is too old, too */
    turn(k);
    k->turned_ms = now_ms;
}

void known_stacks_pass(known_stacks *k, uint64_t now_ms)
{
    if (k == NULL)
        return;
    pthread_mutex_lock(&k->lock);
    pass(k, now_ms);
    pthread_mutex_unlock(&k->lock);
}

void known_stacks_clear(known_stacks *k)
{
    if (k == NULL)
        return;
    pthread_mutex_lock(&k->lock);
    empty(k, &k->young);
    empty(k, &k->elder);
    note_count(k);
    pthread_mutex_unlock(&k->lock);
}

known_stacks_stats known_stacks_read(const known_stacks *k)
{
    if (k == NULL)
        return (known_stacks_stats){0};
    return (known_stacks_stats){atomic_load(&k->stacks), atomic_load(&k->hits),
                                atomic_load(&k->misses)};
}
