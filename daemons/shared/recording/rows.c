/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the rows of libjfr's sums to an aggregate. Each lane is mapped once. */
#include <stdlib.h>

#include "cache.h"

/* How many rows are added at a time. One row of libjfr can become two of the aggregate. */
enum { ROWS = 256 };

/* Returns whether the lane has bytes and objects of allocations, of which the raw number of objects
 * is the number of samples. The aggregate keeps such a pair in one row. */
static bool is_pair(const jfr_sums_lane *lane)
{
    return lane->value_count == 2 && lane->types[0] == JFR_ALLOC_BYTES &&
           lane->types[1] == JFR_ALLOC_OBJECTS;
}

/* Maps a lane with rows to one or two lanes. */
static int define_lane(recording_cache *c, uint32_t number)
{
    const jfr_sums_lane *lane = &c->info->lanes[number];
    sagg_lane first = {.type = recording__type(lane->types[0])};
    uint32_t second = lane->value_count == 2 ? recording__type(lane->types[1]) : 0;
    int rc = recording__map_thread(c, lane->thread, &first.thread);
    if (rc == 0)
        rc = recording__map_label(c, lane, &first.label);
    if (rc != 0)
        return rc;
    c->lane_facets[number] = (uint8_t)recording__facet(lane);
    sagg_lane other = first;
    if (is_pair(lane))
        first.twin = second;
    other.type = first.twin == 0 ? second : 0;
    c->lanes[number] = first;
    c->lanes[c->info->lane_count + number] = other;
    return 0;
}

static void count_cut(recording_cache *c, const jfr_sums_row *row)
{
    const jfr_sums_lane *lane = &c->info->lanes[row->lane];
    for (int i = 0; i < lane->value_count; i++)
        c->truncated_raw[recording__type(lane->types[i])] += row->raw[i];
}

/* Writes one or two rows. Returns how many, or SAGG_ERR_NOMEM. */
static int put_row(recording_cache *c, const jfr_sums_row *from, sagg_row *out)
{
    const sagg_lane *first = &c->lanes[from->lane];
    const sagg_lane *second = &c->lanes[c->info->lane_count + from->lane];
    uint32_t slot = from->stack < c->stack_count ? from->stack : c->stack_count;
    uint32_t stack = c->stacks[slot] - 1;
    int rc = first->type == 0 ? define_lane(c, from->lane) : 0;
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
                        .lane = c->info->lane_count + from->lane,
                        .raw_value = from->raw[1],
                        .value = from->value[1],
                        .samples = from->samples};
    return 2;
}

static int add_some(recording_cache *c, const jfr_sums_row *picked, size_t count)
{
    sagg_row rows[2 * ROWS];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        int put = put_row(c, &picked[i], &rows[used]);
        if (put < 0)
            return put;
        used += (size_t)put;
    }
    return sagg_add_rows(c->agg, c->lanes, 2 * (size_t)c->info->lane_count, rows, used, NULL);
}

/* Makes the table of lanes, with none mapped yet. */
static bool make_lanes(recording_cache *c)
{
    c->lanes = calloc(2 * (size_t)c->info->lane_count + 1, sizeof(*c->lanes));
    c->lane_facets = calloc((size_t)c->info->lane_count + 1, sizeof(*c->lane_facets));
    return c->lanes != NULL && c->lane_facets != NULL;
}

int recording__add_rows(recording_cache *c, uint32_t from, uint32_t to)
{
    jfr_sums_row rows[ROWS];
    uint32_t end = c->info->begins[to];
    int rc = 0;
    if (c->lanes == NULL && !make_lanes(c))
        return SAGG_ERR_NOMEM;
    for (uint32_t at = c->info->begins[from]; rc == 0 && at < end; at += ROWS) {
        size_t count = jfr_sums_read(c->sums, at, rows, end - at < ROWS ? end - at : ROWS);
        rc = add_some(c, rows, count);
    }
    return rc;
}

static int add_second(recording_cache *c, const jfr_sums_row *row)
{
    const recording_options *o = &c->rec->options;
    const jfr_sums_lane *lane = &c->info->lanes[row->lane];
    sagg_sample sample = {.samples = row->samples};
    int64_t after = row->stack == JFR_NONE ? -1 : (int64_t)row->stack * 1000000000;
    if (__builtin_add_overflow(o->origin_ns, after, &sample.time_ns))
        sample.time_ns = after < 0 ? INT64_MIN : INT64_MAX;
    int rc = recording__map_thread(c, lane->thread, &sample.thread);
    for (int i = 0; rc == 0 && i < lane->value_count; i++) {
        sample.type = recording__type(lane->types[i]);
        sample.value = row->value[i];
        rc = sagg_add_second(c->agg, &sample, NULL);
    }
    return rc;
}

int recording__add_seconds(recording_cache *c)
{
    jfr_sums_row rows[ROWS];
    uint32_t at = c->info->row_count;
    size_t count;
    int rc = 0;
    while (rc == 0 && (count = jfr_sums_read(c->sums, at, rows, ROWS)) > 0) {
        for (size_t i = 0; rc == 0 && i < count; i++)
            rc = add_second(c, &rows[i]);
        at += (uint32_t)count;
    }
    return rc;
}
