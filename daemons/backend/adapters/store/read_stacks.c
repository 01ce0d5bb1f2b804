/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks with their sums, from the samples and from the hourly sums of them, and their frames. */
#include <stdlib.h>

#include <catalogue/profile_type.h>

#include "read.h"

/* ---- stacks ---- */

typedef struct stacks {
    stack_fn each;
    void *context;
    stack_frame *frames; /* of the row at hand */
    size_t capacity;
} stacks;

/* The columns of a block of stacks. */
typedef struct stack_columns {
    chs_strings id, class_name, method, file;
    chs_uints raw, value, samples, rows, known, flags, line, kind;
} stack_columns;

static int bind_stacks(stack_columns *c, const chs_result *block)
{
    if (read_strings(&c->id, block, "stack_id") != 0 || read_uints(&c->raw, block, "raw") != 0 ||
        read_uints(&c->value, block, "estimate") != 0 ||
        read_uints(&c->samples, block, "events") != 0 ||
        read_uints(&c->rows, block, "row_count") != 0 ||
        read_uints(&c->known, block, "known") != 0 || read_uints(&c->flags, block, "flags") != 0)
        return -1;
    return chs_result_string_arrays(&c->class_name, block, "class", NULL) != 0 ||
                   chs_result_string_arrays(&c->method, block, "method", NULL) != 0 ||
                   chs_result_string_arrays(&c->file, block, "file", NULL) != 0 ||
                   chs_result_uint_arrays(&c->line, block, "line", NULL) != 0 ||
                   chs_result_uint_arrays(&c->kind, block, "kind", NULL) != 0
               ? -1
               : 0;
}

/* The five arrays of one stack have one length, whatever the store says. */
static bool same_lengths(const stack_columns *c, uint64_t row, size_t *first, size_t *depth)
{
    const uint64_t *const ends[] = {c->class_name.ends, c->method.ends, c->file.ends, c->line.ends,
                                    c->kind.ends};

    *first = row > 0 ? ends[0][row - 1] : 0;
    *depth = ends[0][row] - *first;
    for (size_t i = 1; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (ends[i][row] != ends[0][row])
            return false;
    }
    return true;
}

static text text_at(const chs_strings *column, size_t index)
{
    return (text){column->values[index].data, column->values[index].length};
}

static int gather_frames(stacks *r, const stack_columns *c, size_t first, size_t depth)
{
    if (depth > r->capacity) {
        stack_frame *frames = realloc(r->frames, depth * sizeof(*frames));
        if (frames == NULL)
            return -1;
        r->frames = frames;
        r->capacity = depth;
    }
    for (size_t i = 0; i < depth; i++)
        r->frames[i] =
            (stack_frame){text_at(&c->class_name, first + i), text_at(&c->method, first + i),
                          text_at(&c->file, first + i), (uint32_t)c->line.values[first + i],
                          (uint8_t)c->kind.values[first + i]};
    return 0;
}

static int on_stacks(void *context, const chs_result *block)
{
    stacks *r = context;
    stack_columns c;
    size_t first, depth;

    if (chs_result_rows(block) == 0)
        return 0;
    if (bind_stacks(&c, block) != 0)
        return -1;
    for (uint64_t i = 0; i < c.id.rows; i++) {
        if (c.id.values[i].length != STACK_ID_BYTES || !same_lengths(&c, i, &first, &depth) ||
            gather_frames(r, &c, first, depth) != 0)
            return -1;
        stack_row row = {
            .stack_id = (const uint8_t *)c.id.values[i].data,
            .raw_value = c.raw.values[i],
            .value = c.value.values[i],
            .samples = c.samples.values[i],
            .rows = c.rows.values[i],
            .known = c.known.values[i] != 0,
            .flags = (unsigned)c.flags.values[i],
            .frames = r->frames,
            .depth = depth,
        };
        if (r->each(r->context, &row) != 0)
            return -1;
    }
    return 0;
}

/* ---- hours that have been summed ---- */

enum { HOURS_MAX = 7 * 24 + 2, HOUR_MS = 3600000 };

/* The hours that a read touches: those whose sums hold by generation, the others by hour. */
typedef struct hour_split {
    uint64_t generations[HOURS_MAX], live[HOURS_MAX];
    size_t generation_count, live_count;
    uint64_t from_ms, to_ms; /* of the read */
    bool complete;           /* it asked; else every hour is read from the samples */
} hour_split;

static bool is_within(const hour_split *h, uint64_t hour_ms)
{
    return hour_ms >= h->from_ms && hour_ms + HOUR_MS <= h->to_ms;
}

static int on_hours(void *context, const chs_result *block)
{
    hour_split *h = context;
    chs_uints hour, owners, generation;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_uints(&hour, block, "hour_s") != 0 || read_uints(&owners, block, "services") != 0 ||
        read_uints(&generation, block, "newest") != 0)
        return -1;
    for (uint64_t i = 0; i < hour.rows; i++) {
        bool rolled = generation.values[i] != 0 && owners.values[i] == 1 &&
                      is_within(h, hour.values[i] * 1000);
        if (rolled && h->generation_count < HOURS_MAX)
            h->generations[h->generation_count++] = generation.values[i];
        else if (!rolled && h->live_count < HOURS_MAX)
            h->live[h->live_count++] = hour.values[i];
        else
            return -1;
    }
    return 0;
}

/* Only a range that holds a whole hour can gain by the sums. */
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
    sql_add(&s, "SELECT toUInt64(hour_at) AS hour_s, toUInt64(of) AS services, "
                "toUInt64(if(found = rolled, latest, 0)) AS newest FROM (SELECT "
                "toUnixTimestamp(toStartOfHour(time)) AS hour_at, count() AS found, "
                "uniqExact(cluster, namespace, workload) AS of FROM profile_windows");
    sql_where(&s, &wide, "time");
    sql_add(&s, " GROUP BY hour_at) AS w LEFT JOIN (SELECT toUnixTimestamp(hour) AS hour_at, "
                "argMax(windows, generation) AS rolled, max(generation) AS latest FROM "
                "rollup_runs");
    sql_where(&s, &wide, "hour");
    sql_add(&s, " GROUP BY hour_at) AS r USING (hour_at)");
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

/* `columns` of the filter's samples and of the sums that stand for others. */
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

static void select_stacks(statement *s, const store_filter *filter, const hour_split *h)
{
    bool counts = profile_type_get(filter->type)->measure == PROFILE_COUNT;

    sql_begin(s);
    sql_add(s, "SELECT s.stack_id AS stack_id, s.raw AS raw, s.estimate AS estimate, s.events AS "
               "events, s.row_count AS row_count, k.known AS known, k.flags AS flags, k.class AS "
               "class, k.method AS method, k.file AS file, k.line AS line, k.kind AS kind FROM "
               "(SELECT stack_id, sum(raw) AS raw, sum(estimate) AS estimate, sum(raw_count) AS "
               "events, count() AS row_count FROM (");
    add_sources(s,
                counts ? "stack_id, raw_count AS raw, count AS estimate, raw_count"
                       : "stack_id, raw_amount AS raw, amount AS estimate, raw_count",
                filter, h);
    sql_add(s, ") GROUP BY stack_id) AS s LEFT ANY JOIN (SELECT stack_id, toUInt8(1) AS known, "
               "flags, class, method, file, line, kind FROM profile_stacks");
    sql_where_days(s, filter, "day");
    sql_add(s, " AND stack_id IN (");
    add_sources(s, "stack_id", filter, h);
    sql_add(s, ")) AS k ON s.stack_id = k.stack_id");
    sql_filter_params(s, filter);
}

int clickhouse__read_stacks(void *self, const store_filter *filter, stack_fn each, void *context,
                            store_error *err)
{
    stacks r = {.each = each, .context = context};
    hour_split hours;
    statement s;
    int rc = split_hours(self, filter, &hours, err);

    if (rc != 0 || (hours.complete && hours.live_count + hours.generation_count == 0))
        return rc;
    select_stacks(&s, filter, &hours);
    rc = read_run(self, &s, on_stacks, &r, err);
    free(r.frames);
    return rc;
}

/* A statement is short enough for so many ids. */
enum { FRAMES_PER_QUERY = 1000 };

static int read_some_frames(clickhouse *c, const store_filter *filter, const uint8_t *const *ids,
                            size_t count, stacks *r, store_error *err)
{
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT stack_id, toUInt64(0) AS raw, toUInt64(0) AS estimate, toUInt64(0) AS "
                "events, toUInt64(0) AS row_count, toUInt8(1) AS known, flags, class, method, "
                "file, line, kind FROM profile_stacks");
    sql_where_days(&s, filter, "day");
    sql_add(&s, " AND stack_id IN {ids:Array(FixedString(16))} LIMIT 1 BY stack_id");
    sql_filter_params(&s, filter);
    sql_ids(&s, "ids", ids, count);
    return read_run(c, &s, on_stacks, r, err);
}

int clickhouse__read_frames(void *self, const store_filter *filter, const uint8_t *const *ids,
                            size_t count, stack_fn each, void *context, store_error *err)
{
    stacks r = {.each = each, .context = context};
    int rc = 0;

    for (size_t first = 0; first < count && rc == 0; first += FRAMES_PER_QUERY) {
        size_t left = count - first;
        rc = read_some_frames(self, filter, ids + first,
                              left < FRAMES_PER_QUERY ? left : FRAMES_PER_QUERY, &r, err);
    }
    free(r.frames);
    return rc;
}
