/* SPDX-License-Identifier: Apache-2.0 */
/* Reads windows: services, types, pools, timelines, freshness. */
#include <catalogue/profile_type.h>

#include "read.h"

/* ---- services ---- */

typedef struct services {
    service_fn each;
    void *context;
} services;

static const row_field service_numbers[] = {
    ROW_FIELD("targets", service_row, targets),
    ROW_FIELD("last_seen", service_row, last_seen_ms),
};
static const row_field service_texts[] = {ROW_KEY(service_row)};
static const row_shape service_shape = ROW_SHAPE(service_numbers, service_texts);

static int give_service(void *context, const void *row)
{
    const services *r = context;

    return r->each(r->context, row);
}

static int on_services(void *context, const chs_result *block)
{
    service_row row;

    return read_rows(block, &service_shape, &row, sizeof(row), give_service, context);
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

/* The sums of the windows of one service and source. */
typedef struct source_row {
    service_key key;
    uint64_t source;
    uint64_t raw[2], estimate[2]; /* by enum profile_measure */
} source_row;

static const row_field source_numbers[] = {
    ROW_FIELD("source", source_row, source),
    ROW_FIELD("raw_amounts", source_row, raw[PROFILE_AMOUNT]),
    ROW_FIELD("amounts", source_row, estimate[PROFILE_AMOUNT]),
    ROW_FIELD("raw_counts", source_row, raw[PROFILE_COUNT]),
    ROW_FIELD("counts", source_row, estimate[PROFILE_COUNT]),
};
static const row_field source_texts[] = {ROW_KEY(source_row)};
static const row_shape source_shape = ROW_SHAPE(source_numbers, source_texts);

/* Passes each type that the source has. A type without any estimate is left out. */
static int give_types(void *context, const void *found)
{
    const types *r = context;
    const source_row *row = found;

    for (int measure = PROFILE_AMOUNT; measure <= PROFILE_COUNT; measure++) {
        type_row one = {row->key, profile_type_of((unsigned)row->source, measure),
                        row->raw[measure], row->estimate[measure]};
        if (one.type != PROFILE_TYPE_NONE && one.value_total > 0 && r->each(r->context, &one) != 0)
            return -1;
    }
    return 0;
}

static int on_types(void *context, const chs_result *block)
{
    source_row row;

    return read_rows(block, &source_shape, &row, sizeof(row), give_types, context);
}

int clickhouse__read_types(void *self, const store_filter *filter, type_fn each, void *context,
                           store_error *err)
{
    types r = {each, context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT cluster, namespace, workload, source, sum(raw_amount) AS raw_amounts, "
                "sum(amount) AS amounts, sum(raw_count) AS raw_counts, sum(count) AS counts FROM "
                "profile_windows");
    sql_where(&s, filter, "time");
    sql_add(&s, " GROUP BY cluster, namespace, workload, source ORDER BY cluster, namespace, "
                "workload, source");
    sql_filter_params(&s, filter);
    return read_run(self, &s, on_types, &r, err);
}

/* ---- pools ---- */

typedef struct pools {
    pool_fn each;
    void *context;
} pools;

static const row_field pool_numbers[] = {ROW_FIELD("windows", pool_row, windows)};
static const row_field pool_texts[] = {ROW_FIELD("thread_pool", pool_row, pool)};
static const row_shape pool_shape = ROW_SHAPE(pool_numbers, pool_texts);

static int give_pool(void *context, const void *row)
{
    const pools *r = context;

    return r->each(r->context, row);
}

static int on_pools(void *context, const chs_result *block)
{
    pool_row row;

    return read_rows(block, &pool_shape, &row, sizeof(row), give_pool, context);
}

int clickhouse__read_pools(void *self, const store_filter *filter, pool_fn each, void *context,
                           store_error *err)
{
    pools r = {each, context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT toString(arrayJoin(arrayDistinct(second_pool))) AS thread_pool, count() AS "
                "windows FROM profile_windows");
    sql_where(&s, filter, "time");
    sql_add(&s, " GROUP BY thread_pool ORDER BY windows DESC, thread_pool LIMIT {limit:UInt64}");
    sql_filter_params(&s, filter);
    sql_number(&s, "limit", filter->limit);
    return read_run(self, &s, on_pools, &r, err);
}

/* ---- timelines ---- */

typedef struct buckets {
    bucket_fn each;
    void *context;
} buckets;

static const row_field bucket_numbers[] = {
    ROW_FIELD("bucket", bucket_row, bucket),
    ROW_FIELD("total", bucket_row, value),
    ROW_FIELD("row_count", bucket_row, rows),
};
static const row_shape bucket_shape = {bucket_numbers, NULL,
                                       sizeof(bucket_numbers) / sizeof(bucket_numbers[0]), 0};

static int give_bucket(void *context, const void *row)
{
    const buckets *r = context;

    return r->each(r->context, row);
}

static int on_buckets(void *context, const chs_result *block)
{
    bucket_row row;

    return read_rows(block, &bucket_shape, &row, sizeof(row), give_bucket, context);
}

/* The bucket of a time in milliseconds. */
#define BUCKET_OF(ms) "toUInt64(intDiv((" ms ") - {from_ms:Int64}, {bucket_ms:Int64}))"
/* The time of a window's second. */
#define SECOND "toUnixTimestamp64Milli(time) + at_second * 1000"

/* Adds the value of each second. In buckets that are far longer than a window, the windows' totals
 * give the same picture, from far fewer rows; they have no pools. */
static void select_values(statement *s, const store_filter *filter)
{
    enum { LONG_BUCKET_MS = 600000 };
    bool counts = profile_type_get(filter->type)->measure == PROFILE_COUNT;

    if (filter->pool == NULL && filter->bucket_ms >= LONG_BUCKET_MS) {
        sql_add(s, "SELECT " BUCKET_OF("toUnixTimestamp64Milli(time)") " AS bucket, ");
        sql_add(s, counts ? "count AS value FROM profile_windows"
                          : "amount AS value FROM profile_windows");
        sql_where_windows(s, filter);
        return;
    }
    sql_add(s, "SELECT " BUCKET_OF(SECOND) " AS bucket, value FROM profile_windows ARRAY JOIN "
                                           "second_pool AS pool, second_index AS at_second, ");
    sql_add(s, counts ? "second_count AS value" : "second_amount AS value");
    sql_where_windows(s, filter);
    if (filter->pool != NULL)
        sql_add(s, " AND pool = {pool:String}");
}

int clickhouse__read_timeline(void *self, const store_filter *filter, bucket_fn each, void *context,
                              store_error *err)
{
    buckets r = {each, context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT bucket, sum(value) AS total, count() AS row_count FROM (");
    select_values(&s, filter);
    sql_add(&s, " UNION ALL SELECT arrayJoin(arrayDistinct(arrayMap(at_second -> ");
    sql_add(&s, BUCKET_OF(SECOND) ", range(intDiv(length_ms + 999, 1000))))) AS bucket, "
                                  "toUInt64(0) AS value FROM profile_windows");
    sql_where_windows(&s, filter);
    sql_add(&s, " AND covered_ms > 0) WHERE bucket < {buckets:UInt64} GROUP BY bucket");
    sql_filter_params(&s, filter);
    sql_number(&s, "bucket_ms", filter->bucket_ms);
    sql_number(&s, "buckets", store_buckets(filter));
    return read_run(self, &s, on_buckets, &r, err);
}

/* ---- freshness ---- */

static const row_field fresh_numbers[] = {
    ROW_FIELD("fresh", store_freshness, until_ms),
    ROW_FIELD("lost", store_freshness, lost_events),
    ROW_FIELD("asked_ms", store_freshness, asked_ms),
    ROW_FIELD("recorded_ms", store_freshness, recorded_ms),
    ROW_FIELD("lost_windows", store_freshness, lost_windows),
    ROW_FIELD("last_reason", store_freshness, reason),
    ROW_FIELD("print", store_freshness, fingerprint),
};
static const row_shape fresh_shape = {fresh_numbers, NULL,
                                      sizeof(fresh_numbers) / sizeof(fresh_numbers[0]), 0};

static int on_fresh(void *context, const chs_result *block)
{
    return read_rows(block, &fresh_shape, context, sizeof(store_freshness), NULL, NULL);
}

int clickhouse__read_fresh(void *self, const store_filter *filter, store_freshness *out,
                           store_error *err)
{
    statement s;

    *out = (store_freshness){0};
    sql_begin(&s);
    sql_add(&s, "SELECT toUInt64(max(toUnixTimestamp64Milli(time) + length_ms)) AS fresh, "
                "sum(lost_events) AS lost, toUInt64(sum(length_ms)) AS asked_ms, "
                "toUInt64(sum(covered_ms)) AS recorded_ms, toUInt64(countIf(reason != 0)) AS "
                "lost_windows, toUInt64(argMaxIf(reason, time, reason != 0)) AS last_reason, "
                "sum(cityHash64(cluster, namespace, workload, source, time, target_id, raw_amount, "
                "amount, raw_count, count)) AS print FROM profile_windows");
    sql_where_windows(&s, filter);
    sql_filter_params(&s, filter);
    return read_run(self, &s, on_fresh, out, err);
}
