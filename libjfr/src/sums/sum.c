/* SPDX-License-Identifier: Apache-2.0 */
#include <jfr/sum.h>

#include "error_impl.h"
#include "events/source_impl.h"
#include "options_impl.h"
#include "random_impl.h"
#include "sums/sum_add_impl.h"
#include "sums/sum_impl.h"

#include <string.h>

enum { DEFAULT_MAX_ROWS = 4 << 20 };

/* The numbers of a row from which values are computed. */
enum { PICK_COUNT, PICK_A, PICK_B, PICKS };

/* The common properties of a lane's rows, and the number of their samples. */
struct jfr__view {
    uint64_t samples;
    uint64_t stackless; /* samples without a stack */
    uint32_t thread;
    uint32_t klass;
    uint8_t lock_kind;
    uint8_t value_count; /* 0 = the lane yields no samples */
    uint8_t types[JFR_SAMPLE_VALUES];
    uint8_t raw[JFR_SAMPLE_VALUES]; /* which of the row's numbers makes each value, times `unit` */
    uint8_t value[JFR_SAMPLE_VALUES];
    uint64_t unit; /* the interval that one sample counts for, or 1 */
};

int jfr__tally_new(jfr__tally **out, const jfr_sums_options *options, jfr_error *err)
{
    const jfr_allocator *a = options->allocator;
    jfr__tally *sums = a->alloc(a->ctx, sizeof(*sums));
    if (sums == NULL)
        return jfr__fail_nomem(err);
    memset(sums, 0, offsetof(jfr__tally, shapes));
    sums->allocator = *a;
    sums->flags = options->flags;
    sums->seconds = options->seconds;
    sums->origin_ns = options->origin_ns;
    sums->max_rows = options->max_rows != 0 ? options->max_rows : DEFAULT_MAX_ROWS;
    for (uint32_t number = sums->max_rows; number != 0; number >>= 1)
        sums->number_mask = sums->number_mask << 1 | 1;
    sums->loop = jfr__sums_loop_best();
    sums->multiplier = jfr__random() | 1;
    *out = sums;
    return 0;
}

static void release(const jfr__tally *sums, void *block)
{
    if (block != NULL)
        sums->allocator.free(sums->allocator.ctx, block);
}

void jfr__tally_free(jfr__tally *sums)
{
    if (sums == NULL)
        return;
    release(sums, sums->row_block);
    release(sums, sums->bucket_block);
    release(sums, sums->guesses);
    release(sums, sums->lanes);
    release(sums, sums->lane_slots);
    release(sums, sums->views);
    release(sums, sums->pieces);
    const jfr_allocator allocator = sums->allocator;
    allocator.free(allocator.ctx, sums);
}

/* ---- the meaning of lanes and rows ---- */

/* Sets the types of the lane's samples and the unit of a sample, by computing a sample whose fields
 * are 1. */
static void set_types(const jfr_chunk *chunk, const jfr__sum_shape *shape, const jfr__lane *lane,
                      uint32_t flags, struct jfr__view *view)
{
    const jfr__event_plan *plan = shape->plan;
    const uint8_t rule = jfr__sources[plan->source].rule;
    bool by_interval = shape->recipe == JFR__ADD_NOTHING || rule == JFR__RULE_TIME;
    uint64_t slots[JFR__EVENT_SLOTS];
    jfr_sample one = {.source = (uint8_t)plan->source, .state = lane->state};
    for (int i = 0; i < JFR__EVENT_SLOTS; i++)
        slots[i] = 1;
    view->value_count = 1;
    view->types[0] = JFR_CPU;
    view->unit = 1;
    if (rule == JFR__RULE_PERIOD) /* its events state their period */
        return;
    if (!jfr__values_fill(chunk, plan, slots, &one))
        one.value_count = 0;
    view->value_count = one.value_count;
    if (by_interval)
        view->unit = one.values[0].value;
    for (int i = 0; i < one.value_count; i++)
        view->types[i] = (uint8_t)one.values[i].type;
    if ((flags & JFR_SUMS_NO_ALLOC_OBJECTS) != 0 && one.value_count == 2 &&
        one.values[1].type == JFR_ALLOC_OBJECTS)
        view->value_count = 1;
}

static void set_pick(struct jfr__view *view, int at, uint8_t raw, uint8_t value)
{
    view->raw[at] = raw;
    view->value[at] = value;
}

static bool is_waits(const jfr__lane *lane)
{
    return (lane->split & JFR__LANE_WAITS) != 0;
}

static bool is_seconds(const jfr__lane *lane)
{
    return (lane->split & JFR__LANE_SECONDS) != 0;
}

/* Sets which of a row's numbers are its values. */
static void set_picks(jfr__recipe recipe, const jfr__lane *lane, struct jfr__view *view)
{
    switch (recipe) {
    case JFR__COUNT_ONLY:
    case JFR__ADD_NOTHING:
        set_pick(view, 0, PICK_COUNT, PICK_COUNT);
        break;
    case JFR__ADD_FIRST:
        set_pick(view, 0, PICK_A, PICK_A);
        /* objects, besides the bytes of an allocation outside a TLAB */
        set_pick(view, 1, PICK_COUNT, PICK_COUNT);
        break;
    case JFR__ADD_TLAB:
        set_pick(view, 0, PICK_A, PICK_A);
        set_pick(view, 1, PICK_COUNT, PICK_B);
        break;
    case JFR__ADD_FLOOR:
        set_pick(view, 0, PICK_A, PICK_B);
        break;
    case JFR__ADD_SPAN:
        set_pick(view, 0, PICK_COUNT, PICK_COUNT);
        set_pick(view, 1, PICK_A, PICK_A);
        break;
    case JFR__ADD_WAIT:
        set_pick(view, 0, is_waits(lane) ? PICK_COUNT : PICK_A, is_waits(lane) ? PICK_A : PICK_B);
        break;
    case JFR__ADD_PERIOD:
        set_pick(view, 0, PICK_A, PICK_A);
        break;
    }
}

static int view_lane(const jfr__tally *sums, jfr_chunk *chunk, uint32_t number, bool *is_wait,
                     jfr_error *err)
{
    const jfr__lane *lane = &sums->lanes[number];
    const jfr__sum_shape *shape = &sums->shapes[lane->shape];
    struct jfr__view *view = &sums->views[number];
    view->thread = JFR_NONE;
    view->klass = JFR_NONE;
    if ((sums->flags & JFR_SUMS_NO_THREADS) == 0)
        view->thread = jfr__idmap_find(&chunk->pools[JFR__POOL_THREAD].index, lane->thread);
    if (shape->keep_class)
        view->klass = jfr__idmap_find(&chunk->pools[JFR__POOL_CLASS].index, lane->klass);
    set_types(chunk, shape, lane, sums->flags, view);
    set_picks(shape->recipe, lane, view);
    int rc =
        jfr__source_wait(chunk, shape->plan->source, view->klass, &view->lock_kind, is_wait, err);
    if ((sums->flags & JFR_SUMS_CLASSES) == 0)
        view->klass = JFR_NONE;
    if (shape->recipe == JFR__ADD_WAIT) {
        view->types[0] = view->types[is_waits(lane) ? 0 : 1];
        view->value_count = 1;
    }
    return rc;
}

int jfr__sums_find_stacks(jfr__tally *sums)
{
    jfr__sums_end(sums);
    void *views = sums->views;
    if (jfr__grow(&sums->allocator, &views, &sums->view_cap, sums->lane_count,
                  sizeof(*sums->views)) < 0)
        return JFR_ERR_NOMEM;
    sums->views = views;
    for (uint32_t i = 0; i < sums->lane_count; i++)
        sums->views[i] = (struct jfr__view){0};
    const jfr__idmap *stacks = &sums->chunk->pools[JFR__POOL_STACK].index;
    for (uint32_t i = 1; i <= sums->row_count; i++) {
        jfr__row *row = &sums->rows[i];
        struct jfr__view *view = &sums->views[row->key >> 32];
        uint32_t id = (uint32_t)row->key;
        if (is_seconds(&sums->lanes[row->key >> 32]))
            continue;
        uint32_t stack = id != JFR_NONE ? jfr__idmap_find(stacks, id) : JFR_NONE;
        row->key = (row->key & ~(uint64_t)UINT32_MAX) | stack;
        view->samples += row->count;
        view->stackless += stack == JFR_NONE ? row->count : 0;
    }
    return 0;
}

/* Removes the rows of lanes that yield no samples. */
static void drop_rows(jfr__tally *sums)
{
    for (uint32_t i = 1; i <= sums->row_count; i++) {
        if (sums->views[sums->rows[i].key >> 32].value_count == 0)
            sums->rows[i].count = 0;
    }
}

int jfr__sums_view(jfr__tally *sums, jfr_chunk *chunk, jfr_error *err)
{
    jfr_chunk_stats *stats = &chunk->stats;
    bool dropped = false;
    for (uint32_t i = 0; i < sums->lane_count; i++) {
        const jfr__lane *lane = &sums->lanes[i];
        struct jfr__view *view = &sums->views[i];
        bool is_wait;
        int rc = view_lane(sums, chunk, i, &is_wait, err);
        if (rc < 0)
            return rc;
        if (view->value_count == 0 || !is_wait) {
            view->value_count = 0;
            dropped = true;
            stats->idle_waits += !is_wait && !is_waits(lane) ? view->samples : 0;
            stats->unmeasured_events[sums->shapes[lane->shape].plan->source] +=
                is_wait ? view->samples : 0;
        } else if (lane->split == 0) {
            stats->samples += view->samples;
            stats->failed_samples += lane->failed ? view->samples : 0;
            stats->stackless_samples += view->stackless;
        }
    }
    if (dropped)
        drop_rows(sums);
    return 0;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Computes the row's values; values that its lane does not have are undefined. The code has no
 * branch on the lane, since lanes alternate unpredictably. */
static inline void show_values(jfr_sums_row *out, const struct jfr__view *view, const jfr__row *row)
{
    const uint64_t numbers[PICKS] = {row->count, row->a, row->b};
    out->stack = (uint32_t)row->key;
    out->samples = row->count;
    out->raw[0] = times(numbers[view->raw[0]], view->unit);
    out->value[0] = times(numbers[view->value[0]], view->unit);
    out->raw[1] = numbers[view->raw[1]];
    out->value[1] = numbers[view->value[1]];
}

void jfr__tally_lane(const jfr__tally *sums, uint32_t number, jfr_sums_lane *out)
{
    const jfr__lane *lane = &sums->lanes[number];
    const struct jfr__view *view = &sums->views[number];
    *out = (jfr_sums_lane){.thread = view->thread,
                           .klass = view->klass,
                           .source = (uint8_t)sums->shapes[lane->shape].plan->source,
                           .state = lane->state,
                           .lock_kind = view->lock_kind,
                           .value_count = view->value_count};
    for (int i = 0; i < view->value_count; i++)
        out->types[i] = view->types[i];
}

/* A row of one of the tallies. */
typedef struct found_row {
    const jfr__tally *sums;
    const jfr__row *row;
    uint32_t lanes; /* number of lanes of the tallies before */
} found_row;

enum { AHEAD = 32 };

/* Finds rows and prefetches their memory while the rows before them are copied. */
static void find_rows(jfr__tally *const *sums, const uint32_t *numbers, size_t count,
                      found_row *found)
{
    for (size_t i = 0; i < count; i++) {
        jfr__tally *const *part = sums;
        uint32_t number = numbers[i];
        uint32_t lanes = 0;
        for (; number >= (*part)->row_count; part++) {
            number -= (*part)->row_count;
            lanes += (*part)->lane_count;
        }
        found[i] = (found_row){*part, &(*part)->rows[number + 1], lanes};
        __builtin_prefetch(&(*part)->rows[number + 1]);
    }
}

static size_t at_most(size_t count)
{
    return count < AHEAD ? count : AHEAD;
}

void jfr__tally_pick(jfr__tally *const *sums, const uint32_t *numbers, size_t count,
                     jfr_sums_row *rows)
{
    found_row found[2][AHEAD];
    size_t here = at_most(count);
    int next = 0;
    find_rows(sums, numbers, here, found[next]);
    for (size_t at = 0; at < count; at += here) {
        const found_row *row = found[next];
        here = at_most(count - at);
        next ^= 1;
        find_rows(sums, numbers + at + here, at_most(count - at - here), found[next]);
        for (size_t i = 0; i < here; i++) {
            uint32_t lane = (uint32_t)(row[i].row->key >> 32);
            rows[at + i].lane = row[i].lanes + lane;
            show_values(&rows[at + i], &row[i].sums->views[lane], row[i].row);
        }
    }
}
