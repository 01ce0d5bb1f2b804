#ifndef JFR_SRC_SUM_ADD_H
#define JFR_SRC_SUM_ADD_H

#include "sum.h"
#include "values.h"

/* Adding one event to its row: shared by the loops and by the slow path. */

static inline void jfr__sum_to(uint64_t *into, uint64_t value)
{
    if (__builtin_expect(__builtin_add_overflow(*into, value, into), 0))
        *into = UINT64_MAX;
}

/* Where the row of a key is looked for first. */
static inline size_t jfr__sums_slot(const jfr_sums *sums, uint64_t key)
{
    return (size_t)(key * sums->multiplier >> sums->slot_shift);
}

/* The row of a lane (high half of the key) and stack (low half); it is added when it is new. */
static inline jfr__row *jfr__sums_row(jfr_sums *sums, uint64_t key)
{
    size_t slot = jfr__sums_slot(sums, key);
    for (;;) {
        uint32_t number = sums->slots[slot];
        if (__builtin_expect(number == 0, 0))
            return jfr__sums_add_row(sums, key, slot);
        jfr__row *row = &sums->rows[number];
        if (__builtin_expect(row->key == key, 1))
            return row;
        slot = (slot + 1) & (((size_t)1 << sums->slot_bits) - 1);
    }
}

/* Numbers of 32 bits, all real ones, divide in a third of the time. */
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

static inline jfr__lane jfr__sums_lane(const jfr_sums *sums, const jfr__sum_shape *shape,
                                       const uint64_t fields[JFR__SUM_SLOTS])
{
    uint64_t state = fields[JFR__SUM_STATE];
    return (jfr__lane){
        .thread = fields[JFR__SUM_THREAD],
        .klass = shape->keep_class ? fields[JFR__SUM_CLASS] : 0,
        .shape = (uint8_t)(shape - sums->shapes),
        .state = state < JFR__SMALL_IDS ? sums->chunk->states[state] : JFR_STATE_UNKNOWN,
        .failed = fields[JFR__SUM_FAILED] != 0,
    };
}

/* What the recipe adds beside the count. */
static inline __attribute__((always_inline)) void
jfr__row_add(jfr__row *row, jfr__recipe recipe, uint64_t floor, uint64_t first, uint64_t second)
{
    row->count++;
    switch (recipe) {
    case JFR__ADD_NOTHING:
    case JFR__COUNT_ONLY:
        break;
    case JFR__ADD_TLAB:
        jfr__sum_to(&row->a, second);
        jfr__sum_to(&row->b, jfr__quick_ratio(second, first));
        break;
    case JFR__ADD_FLOOR:
    case JFR__ADD_WAIT:
        jfr__sum_to(&row->b, jfr__at_least(first, floor));
        jfr__sum_to(&row->a, first);
        break;
    case JFR__ADD_FIRST:
    case JFR__ADD_SPAN:
    case JFR__ADD_PERIOD:
        jfr__sum_to(&row->a, first);
        break;
    }
}

/* Adds an event with these fields. Returns false, with sums->rc set, when there is no room. */
bool jfr__sums_add(jfr_sums *sums, const jfr__sum_shape *shape, const jfr__lane *lane,
                   const uint64_t fields[JFR__SUM_SLOTS]);

#endif
