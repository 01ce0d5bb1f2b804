/* SPDX-License-Identifier: Apache-2.0 */
/* The rows and lanes of sums: two hash tables over arrays that only grow. */
#include "error_impl.h"
#include "memory_impl.h"
#include "sums/sum_add_impl.h"

#include <string.h>

enum {
    FIRST_BITS = 6,
    FIRST_BUCKET_BITS = 4,
    MOST_BUCKET_BITS = 32,
    FIRST_GUESS_BITS = 6,
    MOST_GUESS_BITS = 31,
    MOST_IN_BUCKET = JFR__BUCKET / 2 /* on average; about one bucket in fifty overflows */
};

/* Adds `number` under a hash. The table must have a free slot. */
static void place(uint32_t *slots, unsigned bits, uint64_t hash, uint32_t number)
{
    size_t mask = ((size_t)1 << bits) - 1;
    size_t slot = (size_t)(hash >> (64 - bits));
    while (slots[slot] != 0)
        slot = (slot + 1) & mask;
    slots[slot] = number;
}

/* Replaces *slots by an empty table of 1 << next. */
static bool resize(jfr__tally *sums, uint32_t **slots, unsigned *bits, unsigned next)
{
    const jfr_allocator *a = &sums->allocator;
    size_t bytes = ((size_t)1 << next) * sizeof(**slots);
    uint32_t *table = a->alloc(a->ctx, bytes);
    if (table == NULL) {
        sums->rc = JFR_ERR_NOMEM;
        return false;
    }
    memset(table, 0, bytes);
    if (*slots != NULL)
        a->free(a->ctx, *slots);
    *slots = table;
    *bits = next;
    return true;
}

static bool grow(jfr__tally *sums, void **data, size_t *cap, size_t need, size_t size)
{
    if (jfr__grow(&sums->allocator, data, cap, need, size) == 0)
        return true;
    sums->rc = JFR_ERR_NOMEM;
    return false;
}

/* Returns log2 of the least power of two that holds `count`, from `first` up to `most`. */
static unsigned bits_for(uint64_t count, unsigned first, unsigned most)
{
    unsigned bits = first;
    while (bits < most && count > UINT64_C(1) << bits)
        bits++;
    return bits;
}

/* Puts a row into the first of its buckets with a free slot. */
static void put(const jfr__tally *sums, jfr__bucket *buckets, unsigned bits, uint32_t number)
{
    const uint64_t hash = jfr__sums_hash(sums, sums->rows[number].key);
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t i = (size_t)(hash >> (64 - bits));
    while (buckets[i].slots[JFR__BUCKET - 1] != 0)
        i = (i + 1) & mask;
    uint32_t *slot = buckets[i].slots;
    while (*slot != 0)
        slot++;
    *slot = number | jfr__sums_tag(sums, hash);
}

/* Moves the rows of the old buckets into a table of 2^bits buckets. */
static bool resize_buckets(jfr__tally *sums, unsigned bits)
{
    const jfr_allocator *a = &sums->allocator;
    const size_t old_slots = sums->buckets != NULL ? (size_t)JFR__BUCKET << sums->bucket_bits : 0;
    size_t bytes = ((size_t)1 << bits) * sizeof(jfr__bucket);
    void *block = a->alloc(a->ctx, bytes + sizeof(jfr__bucket));
    if (block == NULL) {
        sums->rc = JFR_ERR_NOMEM;
        return false;
    }
    jfr__bucket *buckets = jfr__first_multiple(block, sizeof(*buckets));
    memset(buckets, 0, bytes);
    for (size_t i = 0; i < old_slots; i++) {
        uint32_t number = sums->buckets[i / JFR__BUCKET].slots[i % JFR__BUCKET] & sums->number_mask;
        if (number != 0)
            put(sums, buckets, bits, number);
    }
    if (sums->bucket_block != NULL)
        a->free(a->ctx, sums->bucket_block);
    sums->bucket_block = block;
    sums->buckets = buckets;
    sums->bucket_bits = bits;
    sums->bucket_shift = 64 - bits;
    return true;
}

/* Reserves rows. They are aligned to their size, so that no row crosses a cache line. */
static bool reserve_rows(jfr__tally *sums, size_t count)
{
    void *block = sums->row_block;
    size_t used = sums->rows != NULL ? (size_t)sums->row_count + 1 : 0;
    size_t shift = sums->rows != NULL ? (size_t)((char *)sums->rows - (char *)block) : 0;
    if (count < sums->row_cap)
        return true;
    if (!grow(sums, &block, &sums->row_cap, count + 1, sizeof(*sums->rows)))
        return false;
    void *rows = jfr__first_multiple(block, sizeof(*sums->rows));
    if (rows != (char *)block + shift)
        memmove(rows, (char *)block + shift, used * sizeof(*sums->rows));
    sums->row_block = block;
    sums->rows = rows;
    return true;
}

/* Returns the new row's number, or 0. */
static uint32_t add_row(jfr__tally *sums, uint64_t key)
{
    if (sums->row_count == sums->max_rows) {
        sums->rc = JFR_ERR_LIMIT;
        return 0;
    }
    if (!reserve_rows(sums, (size_t)sums->row_count + 2))
        return 0;
    sums->rows[++sums->row_count] = (jfr__row){.key = key};
    return sums->row_count;
}

/* Adds a row to the buckets. Its key must not be there yet. */
static bool put_row(jfr__tally *sums, uint32_t number)
{
    put(sums, sums->buckets, sums->bucket_bits, number);
    sums->in_buckets++;
    return (uint64_t)sums->in_buckets <= (uint64_t)MOST_IN_BUCKET << sums->bucket_bits ||
           resize_buckets(sums, sums->bucket_bits + 1);
}

/* Returns the number of the key's row in the buckets, or 0. */
static uint32_t find_row(const jfr__tally *sums, uint64_t key)
{
    const uint64_t hash = jfr__sums_hash(sums, key);
    const uint32_t tag = jfr__sums_tag(sums, hash);
    const size_t mask = ((size_t)1 << sums->bucket_bits) - 1;
    for (size_t i = jfr__sums_bucket(sums, hash);; i = (i + 1) & mask) {
        const uint32_t *slots = sums->buckets[i].slots;
        for (uint32_t found = jfr__sums_tagged(sums, i, tag); found != 0; found &= found - 1) {
            const uint32_t number = slots[__builtin_ctz(found)] & sums->number_mask;
            if (sums->rows[number].key == key)
                return number;
        }
        if (slots[JFR__BUCKET - 1] == 0)
            return 0;
    }
}

static uint32_t hashed_row(jfr__tally *sums, uint64_t key)
{
    uint32_t number = find_row(sums, key);
    if (number != 0)
        return number;
    number = add_row(sums, key);
    return number != 0 && put_row(sums, number) ? number : 0;
}

/* Finds or adds a row without threads. The entry in `guesses` is either this row, or it belongs to
 * another row for good; this row is then in the buckets. */
static uint32_t guessed_row(jfr__tally *sums, uint64_t key)
{
    uint32_t *guess = jfr__sums_guess_at(sums, key);
    if (sums->rows[*guess].key == key)
        return *guess;
    if (*guess != 0)
        return hashed_row(sums, key);
    *guess = add_row(sums, key);
    return *guess;
}

jfr__row *jfr__sums_row(jfr__tally *sums, uint64_t key)
{
    uint32_t number = sums->guesses != NULL ? guessed_row(sums, key) : hashed_row(sums, key);
    return number != 0 ? &sums->rows[number] : NULL;
}

static bool lane_is(const jfr__lane *a, const jfr__lane *b)
{
    return a->thread == b->thread && a->klass == b->klass && a->facets == b->facets;
}

static uint64_t hash_lane(const jfr__tally *sums, const jfr__lane *lane)
{
    uint64_t hash = (lane->thread ^ (uint64_t)lane->facets << 32) * sums->multiplier;
    return (hash ^ hash >> 32 ^ lane->klass) * sums->multiplier;
}

static bool enlarge_lanes(jfr__tally *sums)
{
    unsigned bits = sums->lane_bits == 0 ? FIRST_BITS : sums->lane_bits + 1;
    if (!resize(sums, &sums->lane_slots, &sums->lane_bits, bits))
        return false;
    for (uint32_t i = 0; i < sums->lane_count; i++)
        place(sums->lane_slots, sums->lane_bits, hash_lane(sums, &sums->lanes[i]), i + 1);
    return true;
}

static uint32_t add_lane(jfr__tally *sums, const jfr__lane *lane, uint64_t hash)
{
    if (sums->lane_count == sums->max_rows) {
        sums->rc = JFR_ERR_LIMIT;
        return JFR_NONE;
    }
    void *lanes = sums->lanes;
    if (!grow(sums, &lanes, &sums->lane_cap, (size_t)sums->lane_count + 1, sizeof(*lane)))
        return JFR_NONE;
    sums->lanes = lanes;
    sums->lanes[sums->lane_count++] = *lane;
    place(sums->lane_slots, sums->lane_bits, hash, sums->lane_count);
    if ((uint64_t)sums->lane_count * 2 > UINT64_C(1) << sums->lane_bits && !enlarge_lanes(sums))
        return JFR_NONE;
    return sums->lane_count - 1;
}

uint32_t jfr__sums_find_lane(jfr__tally *sums, const jfr__lane *lane)
{
    uint64_t hash = hash_lane(sums, lane);
    size_t mask = ((size_t)1 << sums->lane_bits) - 1;
    for (size_t slot = (size_t)(hash >> (64 - sums->lane_bits));; slot = (slot + 1) & mask) {
        uint32_t number = sums->lane_slots[slot];
        if (number == 0)
            return add_lane(sums, lane, hash);
        if (lane_is(&sums->lanes[number - 1], lane))
            return number - 1;
    }
}

static void clear_slots(uint32_t *slots, unsigned bits)
{
    if (slots != NULL)
        memset(slots, 0, ((size_t)1 << bits) * sizeof(*slots));
}

/* Clears the guesses for a chunk with this many stacks. There are as many entries as stacks, plus
 * some for stack numbers that recorders skip.
 */
static void clear_guesses(jfr__tally *sums, uint32_t stacks)
{
    const unsigned bits = bits_for((uint64_t)stacks * 2, FIRST_GUESS_BITS, MOST_GUESS_BITS);
    if (sums->guesses != NULL && sums->guess_bits >= bits)
        clear_slots(sums->guesses, sums->guess_bits);
    else
        (void)resize(sums, &sums->guesses, &sums->guess_bits, bits);
}

void jfr__sums_end(jfr__tally *sums)
{
    const jfr_allocator *a = &sums->allocator;
    a->free(a->ctx, sums->bucket_block);
    sums->bucket_block = NULL;
    sums->buckets = NULL;
    if (sums->guesses != NULL)
        a->free(a->ctx, sums->guesses);
    sums->guesses = NULL;
}

void jfr__sums_clear(jfr__tally *sums, uint32_t stacks)
{
    sums->rc = 0;
    sums->row_count = 0;
    sums->in_buckets = 0;
    sums->lane_count = 0;
    if (sums->buckets != NULL)
        memset(sums->buckets, 0, sizeof(*sums->buckets) << sums->bucket_bits);
    clear_slots(sums->lane_slots, sums->lane_bits);
    if (reserve_rows(sums, 1))
        sums->rows[0].key = UINT64_MAX;
    /* The number of rows is not known yet, but the number of stacks is. The first table assumes two
     * rows per stack with threads. Without threads, few rows are in buckets. */
    const bool by_thread = (sums->flags & JFR_SUMS_NO_THREADS) == 0;
    const uint64_t rows = by_thread ? (uint64_t)stacks * 2 : 0;
    const unsigned bits =
        bits_for((rows + MOST_IN_BUCKET - 1) / MOST_IN_BUCKET, FIRST_BUCKET_BITS, MOST_BUCKET_BITS);
    if (!by_thread)
        clear_guesses(sums, stacks);
    if (sums->buckets == NULL || sums->bucket_bits < bits)
        (void)resize_buckets(sums, bits > sums->bucket_bits ? bits : sums->bucket_bits);
    if (sums->lane_slots == NULL)
        (void)enlarge_lanes(sums);
    sums->events = 0;
    sums->bad_events = 0;
    memset(sums->skipped, 0, sizeof(sums->skipped));
    sums->lost = false;
    sums->piece_count = 0;
}
