/* SPDX-License-Identifier: Apache-2.0 */
/* Reads figures about the store's tables. */
#include <base/clock.h>
#include <catalogue/drop_cause.h>

#include "read.h"

enum { FIGURES_MS = 10000, DAY_S = 86400 };

const kept_table clickhouse__kept[KEPT_TABLES] = {
    {"ingestion_batches", "created"},      {"profile_samples", "time"},
    {"profile_windows", "time"},           {"profile_threads", "time"},
    {"thread_snapshot_runs", "time"},      {"thread_snapshots", "time"},
    {"deadlock_sightings", "time"},        {"profile_stacks", "day"},
    {"profile_rollups", "hour"},           {"rollup_runs", "hour"},
    {"target_status_history", "observed"}, {"collector_heartbeats", "received"},
};

static const row_field table_numbers[] = {
    ROW_FIELD("bytes", stored_table, bytes),
    ROW_FIELD("parts", stored_table, parts),
    ROW_FIELD("row_count", stored_table, rows),
    ROW_FIELD("oldest", stored_table, oldest_s),
};
static const row_field table_texts[] = {ROW_FIELD("name", stored_table, name)};
static const row_shape table_shape = ROW_SHAPE(table_numbers, table_texts);

/* The receiver of a read's rows. */
typedef struct table_sink {
    const clickhouse *store;
    stored_table_fn each;
    void *context;
} table_sink;

/* Returns for how long a row of that time has outlived its retention. */
static uint64_t lag_of(const clickhouse *c, uint64_t oldest_s, uint64_t now_s)
{
    uint64_t expires_s = (oldest_s / DAY_S + c->options.retention_days) * DAY_S;

    return oldest_s > 0 && now_s > expires_s ? now_s - expires_s : 0;
}

static int give_table(void *context, const void *found)
{
    const table_sink *sink = context;
    stored_table row = *(const stored_table *)found;

    row.ttl_lag_s = lag_of(sink->store, row.oldest_s, clock_unix_ms(NULL) / 1000);
    return sink->each(sink->context, &row);
}

static int on_tables(void *context, const chs_result *block)
{
    stored_table row;

    return read_rows(block, &table_shape, &row, sizeof(row), give_table, context);
}

/* Adds a query for the oldest row of each table, which ClickHouse answers from its parts'
 * indexes. */
static void add_oldest(statement *s)
{
    for (size_t i = 0; i < KEPT_TABLES; i++) {
        sql_add(s, i > 0 ? " UNION ALL SELECT '" : "SELECT '");
        sql_add(s, clickhouse__kept[i].name);
        sql_add(s, "' AS name, toUInt64(toUnixTimestamp(toDateTime(min(");
        sql_add(s, clickhouse__kept[i].time);
        sql_add(s, "), 'UTC'))) AS oldest FROM ");
        sql_add(s, clickhouse__kept[i].name);
    }
}

static void add_tables(statement *s)
{
    sql_add(s, "SELECT o.name AS name, toUInt64(bytes) AS bytes, toUInt64(parts) AS parts, "
               "toUInt64(row_count) AS row_count, oldest FROM (");
    add_oldest(s);
    sql_add(s, ") AS o LEFT JOIN (SELECT table AS name, sum(bytes_on_disk) AS bytes, count() AS "
               "parts, sum(rows) AS row_count FROM system.parts WHERE active AND database = "
               "currentDatabase() GROUP BY name) AS p USING (name) ORDER BY "
               "name");
}

int clickhouse__read_tables(void *self, stored_table_fn each, void *context, store_error *err)
{
    table_sink sink = {self, each, context};
    statement s;

    sql_begin(&s);
    add_tables(&s);
    return read_run(self, &s, on_tables, &sink, err);
}

static int set_table(void *context, const stored_table *row)
{
    metrics *m = context;

    for (size_t i = 0; i < KEPT_TABLES; i++) {
        const char *name = clickhouse__kept[i].name;
        if (!text_equal(row->name, text_of(name)))
            continue;
        metrics_set(m, METRIC_TABLE_BYTES, name, row->bytes);
        metrics_set(m, METRIC_TABLE_PARTS, name, row->parts);
        metrics_set(m, METRIC_TABLE_ROWS, name, row->rows);
        metrics_set(m, METRIC_TABLE_OLDEST, name, row->oldest_s);
        metrics_set(m, METRIC_TABLE_TTL_LAG, name, row->ttl_lag_s);
    }
    return 0;
}

static int set_tables(clickhouse *c, store_error *err)
{
    table_sink sink = {c, set_table, c->options.metrics};
    statement s;

    sql_begin(&s);
    add_tables(&s);
    int rc = sql_query(&s, c->maintainer, FIGURES_MS, on_tables, &sink, err);
    sql_end(&s);
    return rc;
}

/* ---- what collectors lost ---- */

typedef struct lost_row {
    uint64_t cause, batches;
} lost_row;

static const row_field lost_numbers[] = {
    ROW_FIELD("cause", lost_row, cause),
    ROW_FIELD("batches", lost_row, batches),
};
static const row_shape lost_shape = {lost_numbers, NULL,
                                     sizeof(lost_numbers) / sizeof(lost_numbers[0]), 0};

static int keep_lost(void *context, const void *found)
{
    uint64_t *batches = context;
    const lost_row *row = found;

    if (row->cause < DROP_END)
        batches[row->cause] = row->batches;
    return 0;
}

static int on_lost(void *context, const chs_result *block)
{
    lost_row row;

    return read_rows(block, &lost_shape, &row, sizeof(row), keep_lost, context);
}

/* Reads the losses in heartbeats, which count since the start of their run. */
static int read_lost(clickhouse *c, store_error *err)
{
    uint64_t batches[DROP_END] = {0};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT toUInt64(which) AS cause, toUInt64(sum(most)) AS batches FROM (SELECT "
                "which, max(lost) AS most FROM collector_heartbeats ARRAY JOIN drop_cause AS "
                "which, drop_batches AS lost WHERE received >= now('UTC') - INTERVAL 1 DAY GROUP "
                "BY cluster, instance, run_id, which) GROUP BY which");
    int rc = sql_query(&s, c->maintainer, FIGURES_MS, on_lost, batches, err);
    sql_end(&s);
    for (unsigned cause = DROP_NONE + 1; cause < DROP_END && rc == 0; cause++)
        metrics_set(c->options.metrics, METRIC_COLLECTOR_DROPS, drop_cause_get(cause)->name,
                    batches[cause]);
    return rc;
}

int clickhouse_figures(clickhouse *c, store_error *err)
{
    int rc = clickhouse__check_ready(c, err);

    if (rc == 0)
        rc = set_tables(c, err);
    if (rc == 0)
        rc = read_lost(c, err);
    if (rc == 0)
        metrics_set(c->options.metrics, METRIC_STORE_FIGURES_TIME, NULL,
                    clock_unix_ms(NULL) / 1000);
    return rc;
}
