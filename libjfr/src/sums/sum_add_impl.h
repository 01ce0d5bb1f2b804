/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_SUM_ADD_H
#define JFR_SRC_SUM_ADD_H

#include "events/values_impl.h"
#include "sums/sum_impl.h"

/* Adds one event to its row; shared by the loops and the slow path. */

static inline void jfr__sum_to(uint64_t *into, uint64_t value)
{
    if (__builtin_expect(__builtin_add_overflow(*into, value, into), 0))
        *into = UINT64_MAX;
}

static inline uint64_t jfr__sums_hash(const jfr__tally *sums, uint64_t key)
{
    return key * sums->multiplier;
}

/* Returns the bucket in which the search for a key with this hash begins. */
static inline size_t jfr__sums_bucket(const jfr__tally *sums, uint64_t hash)
{
    return (size_t)(hash >> sums->bucket_shift);
}

/*
 * Returns the tag of a row, in the bits of its slot that its number does not use: hash bits that
 * depend on stack and lane, and, unless the table is very large, not on the bits that choose the
 * bucket.
 */
static inline uint32_t jfr__sums_tag(const jfr__tally *sums, uint64_t hash)
{
    return (uint32_t)(hash >> 12) & ~sums->number_mask;
}

/* Returns the slots of a bucket with this tag, as bits. Empty slots have the tag 0. */
static inline uint32_t jfr__sums_tagged(const jfr__tally *sums, size_t bucket, uint32_t tag)
{
    return jfr__equal_eight(sums->buckets[bucket].slots, tag, ~sums->number_mask);
}

/* Returns the number of a row that may be the key's, or 0: the key has no row, or jfr__sums_row
 * must find it. */
static inline uint32_t jfr__sums_guess_row(const jfr__tally *sums, uint64_t hash)
{
    size_t bucket = jfr__sums_bucket(sums, hash);
    uint32_t found = jfr__sums_tagged(sums, bucket, jfr__sums_tag(sums, hash));
    /* Without a match it is the last slot, which is most likely empty. */
    return sums->buckets[bucket].slots[__builtin_ctz(found | 1u << (JFR__BUCKET - 1))] &
           sums->number_mask;
}

/* Returns the entry of `guesses` for this key. */
static inline uint32_t *jfr__sums_guess_at(const jfr__tally *sums, uint64_t key)
{
    const uint32_t lane =
        (uint32_t)(key >> 32) * UINT32_C(0x9E3779B1); /* spreads lanes over the table */
    return &sums->guesses[((uint32_t)key + lane) & ((UINT32_C(1) << sums->guess_bits) - 1)];
}

/* Returns the row of a lane (high half of the key) and stack (low half), and adds it if it is new.
 */
jfr__row *jfr__sums_row(jfr__tally *sums, uint64_t key);

/* Divides 32-bit numbers, which nearly all are, in a third of the time. */
static inline uint64_t jfr__quick_ratio(uint64_t a, uint64_t b)
{
    if (__builtin_expect((a | (b - 1)) >> 31 == 0, 1)) {
        uint32_t rounded = ((uint32_t)a + ((uint32_t)b >> 1)) / (uint32_t)b;
        return rounded != 0 ? rounded : 1;
    }
    return jfr__ratio(a, b);
}

static inline uint64_t jfr__at_least(uint64_t value, uint64_t floor)
{
    return value > floor ? value : floor;
}

static inline jfr__lane jfr__sums_lane(const jfr__tally *sums, const jfr__sum_shape *shape,
                                       const uint64_t fields[JFR__SUM_SLOTS])
{
    bool has_state = shape->slots[JFR__SUM_STATE] != JFR__SKIP;
    uint64_t state = has_state ? fields[JFR__SUM_STATE] : JFR__NO_STATE;
    return (jfr__lane){
        .thread = fields[JFR__SUM_THREAD],
        .klass = shape->keep_class ? fields[JFR__SUM_CLASS] : 0,
        .shape = (uint8_t)(shape - sums->shapes),
        .state = state < JFR__SMALL_IDS ? sums->chunk->states[state] : JFR_STATE_UNKNOWN,
        .failed = fields[JFR__SUM_FAILED] != 0,
    };
}

/* The amounts that an event adds to its row besides the count. */
typedef struct jfr__amounts {
    uint64_t a;
    uint64_t b;
} jfr__amounts;

static inline __attribute__((always_inline)) jfr__amounts
jfr__amounts_of(jfr__recipe recipe, uint64_t floor, uint64_t first, uint64_t second)
{
    switch (recipe) {
    case JFR__ADD_TLAB:
        return (jfr__amounts){second, jfr__quick_ratio(second, first)};
    case JFR__ADD_FLOOR:
    case JFR__ADD_WAIT:
        return (jfr__amounts){first, jfr__at_least(first, floor)};
    case JFR__ADD_FIRST:
    case JFR__ADD_SPAN:
    case JFR__ADD_PERIOD:
        return (jfr__amounts){first, 0};
    case JFR__ADD_NOTHING:
    case JFR__COUNT_ONLY:
        break;
    }
    return (jfr__amounts){0, 0};
}

static inline void jfr__row_add(jfr__row *row, uint64_t count, jfr__amounts amounts)
{
    row->count += count;
    jfr__sum_to(&row->a, amounts.a);
    jfr__sum_to(&row->b, amounts.b);
}

/* Adds an event with these fields. Returns false, with sums->rc set, when a limit or the memory is
 * exhausted. */
bool jfr__sums_add(jfr__tally *sums, const jfr__sum_shape *shape, const jfr__lane *lane,
                   const uint64_t fields[JFR__SUM_SLOTS]);

#endif
