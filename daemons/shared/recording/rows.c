/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of libjfr's sums into rows of an aggregate: what is known of a lane is found out once. */
#include <stdlib.h>

#include "cache.h"

/* Rows that are added at a time. One of libjfr's can be two of the aggregate's. */
enum { ROWS = 256 };

/* Whether each event has some of the first type and, as many as there are samples, of the second:
 * what the aggregate keeps as one. */
static bool is_pair(const jfr_sum *lane)
{
    return lane->value_count == 2 && lane->values[0].type == JFR_ALLOC_BYTES &&
           lane->values[1].type == JFR_ALLOC_OBJECTS;
}

/* Makes one or two lanes of one that has rows. */
static int learn_lane(recording_cache *c, const recording_rows *sorted, uint32_t number)
{
    jfr_sum lane;
    jfr_sums_lane(sorted->filled->sums, number, &lane);
    sagg_lane first = {.type = recording__type(lane.values[0].type)};
    uint32_t second = lane.value_count == 2 ? recording__type(lane.values[1].type) : 0;
    int rc = recording__map_thread(c, lane.thread, &first.thread);
    if (rc == 0)
        rc = recording__map_label(c, &lane, &first.label);
    if (rc != 0)
        return rc;
    c->lane_facets[number] = (uint8_t)recording__facet(&lane);
    sagg_lane other = first;
    if (is_pair(&lane))
        first.twin = second;
    other.type = first.twin == 0 ? second : 0;
    c->lanes[number] = first;
    c->lanes[c->lane_count + number] = other;
    return 0;
}

static void count_cut(recording_cache *c, const jfr_sum_row *row)
{
    const sagg_lane *first = &c->lanes[row->lane];
    const sagg_lane *second = &c->lanes[c->lane_count + row->lane];
    uint32_t other = first->twin != 0 ? first->twin : second->type;
    c->truncated_raw[first->type] += row->raw[0];
    if (other != 0)
        c->truncated_raw[other] += row->raw[1];
}

/* Writes one or two rows. Returns how many, or SAGG_ERR_NOMEM. */
static int put_row(recording_cache *c, const recording_rows *sorted, const jfr_sum_row *from,
                   sagg_row *out)
{
    const sagg_lane *first = &c->lanes[from->lane];
    const sagg_lane *second = &c->lanes[c->lane_count + from->lane];
    uint32_t slot = from->stack < c->stack_count ? from->stack : c->stack_count;
    uint32_t stack = c->stacks[slot] - 1;
    int rc = first->type == 0 ? learn_lane(c, sorted, from->lane) : 0;
    if (rc == 0 && c->stacks[slot] == 0)
        rc = recording__map_stack(c, from->stack, &stack);
    if (rc == 0)
        rc = recording__map_state(c, c->lane_facets[from->lane], from->stack, &stack);
    if (rc != 0)
        return rc;
    if (c->cut[slot])
        count_cut(c, from);
    out[0] = (sagg_row){.stack = stack,
                        .lane = from->lane,
                        .raw_value = from->raw[0],
                        .value = from->value[first->twin != 0],
                        .samples = from->samples};
    if (second->type == 0)
        return 1;
    out[1] = (sagg_row){.stack = stack,
                        .lane = c->lane_count + from->lane,
                        .raw_value = from->raw[1],
                        .value = from->value[1],
                        .samples = from->samples};
    return 2;
}

static int add_some(recording_cache *c, const recording_rows *sorted, const uint32_t *numbers,
                    size_t count)
{
    jfr_sum_row picked[ROWS];
    sagg_row rows[2 * ROWS];
    size_t used = 0;
    jfr_sums_pick_rows(sorted->filled->sums, numbers, count, picked);
    for (size_t i = 0; i < count; i++) {
        int put = put_row(c, sorted, &picked[i], &rows[used]);
        if (put < 0)
            return put;
        used += (size_t)put;
    }
    return sagg_add_rows(c->agg, c->lanes, 2 * (size_t)c->lane_count, rows, used, NULL);
}

/* Lanes that nobody has met yet. */
static bool make_lanes(recording_cache *c, const recording_filled *filled)
{
    c->lane_count = jfr_sums_lane_count(filled->sums, filled->count);
    c->lanes = calloc(2 * (size_t)c->lane_count + 1, sizeof(*c->lanes));
    c->lane_facets = calloc((size_t)c->lane_count + 1, sizeof(*c->lane_facets));
    return c->lanes != NULL && c->lane_facets != NULL;
}

int recording__add_rows(recording_cache *c, const recording_rows *sorted, uint32_t from,
                        uint32_t to)
{
    uint32_t end = sorted->begins[to];
    int rc = 0;
    if (c->lanes == NULL && !make_lanes(c, sorted->filled))
        return SAGG_ERR_NOMEM;
    for (uint32_t at = sorted->begins[from]; rc == 0 && at < end; at += ROWS)
        rc = add_some(c, sorted, sorted->order + at, end - at < ROWS ? end - at : ROWS);
    return rc;
}
