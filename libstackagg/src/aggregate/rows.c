/* SPDX-License-Identifier: Apache-2.0 */
/* Adds rows, whose common properties are given once per lane. */
#include "aggregate/aggregate_impl.h"
#include "fail_impl.h"

enum {
    LANES = 64, /* lanes in the cache */
    GROUP = 32  /* rows that are added at a time */
};

#define NO_LANE SIZE_MAX

/* A lane in the cache, and the totals of its rows that are still to be added. */
struct lane {
    size_t number; /* NO_LANE = none */
    uint32_t thread;
    sagg__entry sums; /* the key is that of the lane's entries, except for the stack */
};

struct adding {
    sagg *agg;
    const sagg_lane *lanes;
    size_t lane_count;
    struct lane near[LANES]; /* by number */
};

static void keep_lane(sagg *agg, const struct lane *lane)
{
    for (uint32_t half = 0; half < sagg__entry_halves(&lane->sums); half++) {
        sagg__entry one = sagg__entry_half(&lane->sums, half);
        sagg__keep_sums(agg, one.key.slot, lane->thread, &one.totals);
    }
}

static void keep_lanes(const struct adding *a)
{
    for (int i = 0; i < LANES; i++) {
        if (a->near[i].number != NO_LANE)
            keep_lane(a->agg, &a->near[i]);
    }
}

static bool has_type(const sagg *agg, uint32_t type)
{
    return type <= SAGG_MAX_TYPE && agg->slot_of[type] != SAGG__NO_SLOT;
}

static int check_lane(const sagg *agg, const sagg_lane *lane, size_t number, sagg_error *err)
{
    bool twin = lane->twin == 0 || (lane->twin != lane->type && has_type(agg, lane->twin));
    if (!has_type(agg, lane->type) || !twin)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Lane %zu has profile type %u and twin %u: give types of the "
                          "aggregate's table, and another one or 0 as twin.",
                          number, lane->type, lane->twin);
    if (lane->thread >= agg->threads.count || lane->label >= agg->labels.count)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Thread %u or label %u of lane %zu does not exist.", lane->thread,
                          lane->label, number);
    return 0;
}

/* Puts a lane into the cache in place of another. */
static int change_lane(const struct adding *a, struct lane *near, size_t number, sagg_error *err)
{
    sagg *agg = a->agg;
    if (number >= a->lane_count)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "A row is of lane %zu: there are %zu.", number,
                          a->lane_count);
    const sagg_lane *lane = &a->lanes[number];
    int rc = check_lane(agg, lane, number, err);
    if (rc != 0)
        return rc;
    if (near->number != NO_LANE)
        keep_lane(agg, near);
    *near = (struct lane){.number = number, .thread = lane->thread};
    near->sums.key = (sagg__key){.slot = agg->slot_of[lane->type],
                                 .twin = lane->twin != 0 ? agg->slot_of[lane->twin] : SAGG__NO_TWIN,
                                 .thread = sagg__group_thread(agg, lane->thread),
                                 .label = (uint16_t)lane->label};
    return 0;
}

/* Makes an entry of a row, and adds it to its lane's totals. */
static int take_row(struct adding *a, sagg__entry *out, const sagg_row *row, sagg_error *err)
{
    struct lane *near = &a->near[row->lane % LANES];
    int rc = near->number != row->lane ? change_lane(a, near, row->lane, err) : 0;
    if (rc != 0)
        return rc;
    if (row->stack >= a->agg->stacks.count)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Stack %u does not exist: indices of stacks are void after sagg_compact.",
                          row->stack);
    out->key = near->sums.key;
    out->key.stack = row->stack;
    out->totals = (sagg_totals){row->raw_value, row->value, row->samples};
    if (!sagg__sum_up(&near->sums.totals, &out->totals)) {
        keep_lane(a->agg, near);
        near->sums.totals = out->totals;
    }
    return 0;
}

static int add_rows(struct adding *a, const sagg_row *rows, size_t count, sagg_error *err)
{
    sagg__entry entries[GROUP];
    int bad = 0;
    for (size_t at = 0; bad == 0 && at < count;) {
        size_t used = 0;
        while (used < GROUP && at < count &&
               (bad = take_row(a, &entries[used], &rows[at], err)) == 0) {
            used++;
            at++;
        }
        if (sagg__add_entries(a->agg, entries, used) < used)
            return sagg__no_memory(err);
    }
    return bad;
}

int sagg_add_rows(sagg *agg, const sagg_lane *lanes, size_t lane_count, const sagg_row *rows,
                  size_t count, sagg_error *err)
{
    struct adding a;
    a.agg = agg;
    a.lanes = lanes;
    a.lane_count = lane_count;
    for (int i = 0; i < LANES; i++)
        a.near[i].number = NO_LANE;
    int rc = add_rows(&a, rows, count, err);
    keep_lanes(&a);
    return rc;
}
