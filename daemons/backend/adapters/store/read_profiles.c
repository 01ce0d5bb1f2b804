/* SPDX-License-Identifier: Apache-2.0 */
/* Reads over the samples: services, types, stacks with their frames, freshness. */
#include <stdlib.h>

#include "read.h"

/* ---- services ---- */

typedef struct services {
    service_fn each;
    void *context;
} services;

static int on_services(void *context, const chs_result *block)
{
    services *r = context;
    key_columns keys;
    chs_uints targets, seen;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_keys(&keys, block) != 0 || read_uints(&targets, block, "targets") != 0 ||
        read_uints(&seen, block, "last_seen") != 0)
        return -1;
    for (uint64_t i = 0; i < targets.rows; i++) {
        service_row row = {read_key(&keys, i), targets.values[i], seen.values[i]};
        if (r->each(r->context, &row) != 0)
            return -1;
    }
    return 0;
}

int clickhouse__read_services(void *self, const store_filter *filter, service_fn each,
                              void *context, store_error *err)
{
    services r = {each, context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT cluster, namespace, workload, uniqExact(target_id) AS targets, "
                "toUInt64(max(seen)) AS last_seen FROM (SELECT cluster, namespace, workload, "
                "target_id, toUnixTimestamp64Milli(time) + length_ms AS seen FROM profile_windows");
    sql_where(&s, filter, "time");
    sql_add(&s, " UNION ALL SELECT cluster, namespace, workload, target_id, "
                "toUnixTimestamp64Milli(observed) AS seen FROM target_status_history");
    sql_where(&s, filter, "observed");
    sql_add(&s, ") GROUP BY cluster, namespace, workload ORDER BY cluster, namespace, workload "
                "LIMIT {limit:UInt64}");
    sql_filter_params(&s, filter);
    sql_number(&s, "limit", filter->limit);
    return read_run(self, &s, on_services, &r, err);
}

/* ---- types ---- */

typedef struct types {
    type_fn each;
    void *context;
} types;

static int on_types(void *context, const chs_result *block)
{
    types *r = context;
    key_columns keys;
    chs_uints type, raw, value;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_keys(&keys, block) != 0 || read_uints(&type, block, "profile_type") != 0 ||
        read_uints(&raw, block, "raw") != 0 || read_uints(&value, block, "estimate") != 0)
        return -1;
    for (uint64_t i = 0; i < type.rows; i++) {
        type_row row = {read_key(&keys, i), (unsigned)type.values[i], raw.values[i],
                        value.values[i]};
        if (r->each(r->context, &row) != 0)
            return -1;
    }
    return 0;
}

int clickhouse__read_types(void *self, const store_filter *filter, type_fn each, void *context,
                           store_error *err)
{
    types r = {each, context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT cluster, namespace, workload, profile_type, sum(raw_total) AS raw, "
                "sum(value_total) AS estimate FROM profile_windows");
    sql_where(&s, filter, "time");
    sql_add(&s, " GROUP BY cluster, namespace, workload, profile_type HAVING sum(samples) > 0 "
                "ORDER BY cluster, namespace, workload, profile_type");
    sql_filter_params(&s, filter);
    return read_run(self, &s, on_types, &r, err);
}

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

int clickhouse__read_stacks(void *self, const store_filter *filter, stack_fn each, void *context,
                            store_error *err)
{
    stacks r = {.each = each, .context = context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT s.stack_id AS stack_id, s.raw AS raw, s.estimate AS estimate, s.events AS "
                "events, s.row_count AS row_count, k.known AS known, k.flags AS flags, k.class AS "
                "class, k.method AS method, k.file AS file, k.line AS line, k.kind AS kind FROM "
                "(SELECT stack_id, sum(raw_value) AS raw, sum(value) AS estimate, sum(samples) AS "
                "events, count() AS row_count FROM profile_samples");
    sql_where_samples(&s, filter);
    sql_add(&s, " GROUP BY stack_id) AS s LEFT ANY JOIN (SELECT stack_id, toUInt8(1) AS known, "
                "flags, class, method, file, line, kind FROM profile_stacks");
    sql_where_days(&s, filter, "day");
    sql_add(&s, " AND stack_id IN (SELECT stack_id FROM profile_samples");
    sql_where_samples(&s, filter);
    sql_add(&s, ")) AS k ON s.stack_id = k.stack_id");
    sql_filter_params(&s, filter);
    int rc = read_run(self, &s, on_stacks, &r, err);
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

/* ---- freshness ---- */

static int on_fresh(void *context, const chs_result *block)
{
    store_freshness *out = context;
    chs_uints fresh, lost;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_uints(&fresh, block, "fresh") != 0 || read_uints(&lost, block, "lost") != 0)
        return -1;
    *out = (store_freshness){.until_ms = fresh.values[0], .lost_events = lost.values[0]};
    return 0;
}

int clickhouse__read_fresh(void *self, const store_filter *filter, store_freshness *out,
                           store_error *err)
{
    statement s;

    *out = (store_freshness){0};
    sql_begin(&s);
    sql_add(&s, "SELECT toUInt64(max(toUnixTimestamp64Milli(time) + length_ms)) AS fresh, "
                "sum(lost_events) AS lost FROM profile_windows");
    sql_where_windows(&s, filter);
    sql_filter_params(&s, filter);
    return read_run(self, &s, on_fresh, out, err);
}
