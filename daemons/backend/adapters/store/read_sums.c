/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the samples of each stack, from the samples and from their hourly sums. */
#include <string.h>

#include <catalogue/profile_type.h>

#include "read.h"

/* ---- hours that have been summed ---- */

enum { HOURS_MAX = 7 * 24 + 2, GENERATIONS_MAX = 500, HOUR_MS = 3600000 };

/* The hours of a read. Hours with valid sums are listed as generations of their services, the
 * others (`live`) by hour. */
typedef struct hour_split {
    uint64_t generations[GENERATIONS_MAX], live[HOURS_MAX];
    size_t generation_count, live_count;
    uint64_t from_ms, to_ms; /* range of the read */
    bool complete;           /* the hours have been read; otherwise all are read from the samples */
} hour_split;

static bool is_within(const hour_split *h, uint64_t hour_ms)
{
    return hour_ms >= h->from_ms && hour_ms + HOUR_MS <= h->to_ms;
}

/* Receives one row per hour: the generations of all its services, or none if one must be read from
 * the samples. */
static int on_hours(void *context, const chs_result *block)
{
    hour_split *h = context;
    chs_uints hour, generations;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_uints(&hour, block, "hour_s") != 0 ||
        chs_result_uint_arrays(&generations, block, "generations", NULL) != 0)
        return -1;
    for (uint64_t i = 0; i < hour.rows; i++) {
        size_t first = i > 0 ? generations.ends[i - 1] : 0;
        size_t count = generations.ends[i] - first;
        if (count > 0 && is_within(h, hour.values[i] * 1000) &&
            count <= GENERATIONS_MAX - h->generation_count) {
            memcpy(&h->generations[h->generation_count], &generations.values[first],
                   count * sizeof(h->generations[0]));
            h->generation_count += count;
        } else if (h->live_count < HOURS_MAX) {
            h->live[h->live_count++] = hour.values[i];
        } else {
            return -1;
        }
    }
    return 0;
}

/* Sums help only if the range contains a whole hour. */
static int split_hours(clickhouse *c, const store_filter *filter, hour_split *h, store_error *err)
{
    store_filter wide = {.scope = filter->scope,
                         .cluster = filter->cluster,
                         .namespace_name = filter->namespace_name,
                         .workload = filter->workload,
                         .from_ms = filter->from_ms / HOUR_MS * HOUR_MS,
                         .to_ms = (filter->to_ms + HOUR_MS - 1) / HOUR_MS * HOUR_MS};
    statement s;

    *h = (hour_split){.from_ms = filter->from_ms, .to_ms = filter->to_ms};
    if (wide.to_ms - wide.from_ms > (uint64_t)(HOURS_MAX - 1) * HOUR_MS ||
        filter->to_ms / HOUR_MS <= (filter->from_ms + HOUR_MS - 1) / HOUR_MS)
        return 0;
    h->complete = true;
    sql_begin(&s);
    sql_add(&s, "SELECT toUInt64(hour_at) AS hour_s, if(countIf(found != rolled) = 0, "
                "groupArray(latest), emptyArrayUInt64()) AS generations FROM (SELECT cluster, "
                "namespace, workload, toUnixTimestamp(toStartOfHour(time)) AS hour_at, count() AS "
                "found FROM profile_windows");
    sql_where(&s, &wide, "time");
    sql_add(&s, " GROUP BY cluster, namespace, workload, hour_at) AS w LEFT JOIN (SELECT cluster, "
                "namespace, workload, toUnixTimestamp(hour) AS hour_at, argMax(windows, "
                "generation) AS rolled, max(generation) AS latest FROM rollup_runs");
    sql_where(&s, &wide, "hour");
    sql_add(&s, " GROUP BY cluster, namespace, workload, hour_at) AS r USING (cluster, namespace, "
                "workload, hour_at) GROUP BY hour_at");
    sql_filter_params(&s, &wide);
    return read_run(c, &s, on_hours, h, err);
}

static void add_numbers(statement *s, const uint64_t *numbers, size_t count, bool as_times)
{
    for (size_t i = 0; i < count; i++) {
        sql_add(s, i == 0 ? "(" : ", ");
        sql_add(s, as_times ? "toDateTime(" : "");
        sql_add_number(s, numbers[i]);
        sql_add(s, as_times ? ", 'UTC')" : "");
    }
    sql_add(s, ")");
}

static void add_conditions_of_samples(statement *s, const store_filter *filter, const hour_split *h)
{
    sql_where_samples(s, filter);
    if (!h->complete)
        return;
    sql_add(s, " AND toStartOfHour(time) IN ");
    add_numbers(s, h->live, h->live_count, true);
}

static void add_conditions_of_rollups(statement *s, const store_filter *filter, const hour_split *h)
{
    sql_where_rollups(s, filter);
    sql_add(s, " AND generation IN ");
    add_numbers(s, h->generations, h->generation_count, false);
}

/* Adds `columns` of the filter's samples, and of the sums that replace samples. */
static void add_sources(statement *s, const char *columns, const store_filter *filter,
                        const hour_split *h)
{
    bool samples = !h->complete || h->live_count > 0;

    if (samples) {
        sql_add(s, "SELECT ");
        sql_add(s, columns);
        sql_add(s, " FROM profile_samples");
        add_conditions_of_samples(s, filter, h);
    }
    if (h->generation_count == 0)
        return;
    sql_add(s, samples ? " UNION ALL SELECT " : "SELECT ");
    sql_add(s, columns);
    sql_add(s, " FROM profile_rollups");
    add_conditions_of_rollups(s, filter, h);
}

/* ---- sums ---- */

typedef struct sums {
    sum_fn each;
    void *context;
} sums;

static int on_sums(void *context, const chs_result *block)
{
    const sums *r = context;
    chs_strings id;
    chs_uints raw, value, samples, rows;
    stack_sum sum;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_strings(&id, block, "stack_id") != 0 || read_uints(&raw, block, "raw") != 0 ||
        read_uints(&value, block, "estimate") != 0 || read_uints(&samples, block, "events") != 0 ||
        read_uints(&rows, block, "row_count") != 0)
        return -1;
    for (uint64_t i = 0; i < id.rows; i++) {
        if (id.values[i].length != STACK_ID_BYTES)
            return -1;
        memcpy(sum.stack_id, id.values[i].data, STACK_ID_BYTES);
        sum.raw_value = raw.values[i];
        sum.value = value.values[i];
        sum.samples = samples.values[i];
        sum.rows = rows.values[i];
        if (r->each(r->context, &sum) != 0)
            return -1;
    }
    return 0;
}

static void select_sums(statement *s, const store_filter *filter, const hour_split *h)
{
    bool counts = profile_type_get(filter->type)->measure == PROFILE_COUNT;

    sql_begin(s);
    sql_add(s, "SELECT stack_id, sum(raw) AS raw, sum(estimate) AS estimate, sum(raw_count) AS "
               "events, count() AS row_count FROM (");
    add_sources(s,
                counts ? "stack_id, raw_count AS raw, count AS estimate, raw_count"
                       : "stack_id, raw_amount AS raw, amount AS estimate, raw_count",
                filter, h);
    sql_add(s, ") GROUP BY stack_id");
    sql_filter_params(s, filter);
}

int clickhouse__read_sums(void *self, const store_filter *filter, sum_fn each, void *context,
                          store_error *err)
{
    sums r = {each, context};
    hour_split hours;
    statement s;
    int rc = split_hours(self, filter, &hours, err);

    if (rc != 0 || (hours.complete && hours.live_count + hours.generation_count == 0))
        return rc;
    select_sums(&s, filter, &hours);
    return read_run(self, &s, on_sums, &r, err);
}
