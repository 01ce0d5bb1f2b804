/* SPDX-License-Identifier: Apache-2.0 */
/* Reads collectors, the ledger, and losses. */
#include "read.h"

#include <string.h>

/* The receiver of a read's rows: one of the functions, and its context. */
typedef struct row_sink {
    collector_fn collector;
    drop_fn drop;
    outcome_fn outcome;
    refused_fn refused;
    void *context;
} row_sink;

/* Adds the conditions of filter for a table of collectors whose time column is `column`. */
static void where_collectors(statement *s, const store_filter *f, const char *column)
{
    sql_where_time(s, column);
    sql_where_cluster(s, f);
}

static void add_params(statement *s, const store_filter *f)
{
    sql_cluster_params(s, f);
    sql_number(s, "from_ms", f->from_ms);
    sql_number(s, "to_ms", f->to_ms);
}

/* ---- collectors ---- */

static const row_field collector_numbers[] = {
    ROW_FIELD("run_id", collector_row, run_id),
    ROW_FIELD("received_ms", collector_row, received_ms),
    ROW_FIELD("sent_ms", collector_row, sent_ms),
    ROW_FIELD("started_ms", collector_row, started_ms),
    ROW_FIELD("queued_bytes", collector_row, queued_bytes),
    ROW_FIELD("queued_batches", collector_row, queued_batches),
    ROW_FIELD("queue_bytes", collector_row, queue_bytes),
    ROW_FIELD("oldest_ms", collector_row, oldest_queued_ms),
    ROW_FIELD("cut_batches", collector_row, cut_batches),
    ROW_FIELD("success_ms", collector_row, last_success_ms),
    ROW_FIELD("jvms_seen", collector_row, jvms_seen),
    ROW_FIELD("jvms_profiled", collector_row, jvms_profiled),
};
static const row_field collector_texts[] = {
    ROW_FIELD("cluster", collector_row, cluster),   ROW_FIELD("node", collector_row, node),
    ROW_FIELD("instance", collector_row, instance), ROW_FIELD("version", collector_row, version),
    ROW_FIELD("engine", collector_row, engine),
};
static const row_shape collector_shape = ROW_SHAPE(collector_numbers, collector_texts);

static int give_collector(void *context, const void *row)
{
    const row_sink *sink = context;

    return sink->collector(sink->context, row);
}

static int on_collectors(void *context, const chs_result *block)
{
    collector_row row;

    return read_rows(block, &collector_shape, &row, sizeof(row), give_collector, context);
}

static int read_collectors(void *self, const store_filter *filter, collector_fn each, void *context,
                           store_error *err)
{
    row_sink sink = {.collector = each, .context = context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT cluster, node, instance, version, engine, run_id, queued_bytes, "
                "queued_batches, queue_bytes, cut_batches, jvms_seen, jvms_profiled");
    sql_add(&s, ", " READ_MS("received") " AS received_ms, " READ_MS("sent") " AS sent_ms");
    sql_add(&s, ", " READ_MS("started") " AS started_ms");
    sql_add(&s, ", " READ_MS("oldest_queued") " AS oldest_ms");
    sql_add(&s, ", " READ_MS("last_success") " AS success_ms FROM (SELECT * FROM "
                                             "collector_heartbeats");
    where_collectors(&s, filter, "received");
    sql_add(&s, " ORDER BY received DESC LIMIT 1 BY cluster, instance) ORDER BY cluster, node, "
                "instance LIMIT {limit:UInt64}");
    add_params(&s, filter);
    sql_number(&s, "limit", filter->limit);
    return read_run(self, &s, on_collectors, &sink, err);
}

/* ---- what collectors dropped ---- */

/*
 * Selects the drops in heartbeats from {since_ms} up to {until_ms}: a row per heartbeat and cause,
 * with the growth since the heartbeat before.
 */
static void select_drops(statement *s, const store_filter *f)
{
    sql_add(s,
            "(SELECT cluster, node, instance, cause, oldest, newest, toInt64(total) - "
            "toInt64(lagInFrame(total) OVER (PARTITION BY cluster, instance, run_id, cause "
            "ORDER BY received ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)) AS lost, received FROM "
            "collector_heartbeats ARRAY JOIN drop_cause AS cause, drop_batches AS total, "
            "drop_oldest_ms AS oldest, drop_newest_ms AS newest WHERE received >= "
            "fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC') AND received < "
            "fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')");
    sql_where_cluster(s, f);
    sql_add(s, ")");
}

static const row_field drop_numbers[] = {
    ROW_FIELD("drop_cause", drop_row, cause),
    ROW_FIELD("batches", drop_row, batches),
    ROW_FIELD("oldest_ms", drop_row, oldest_ms),
    ROW_FIELD("newest_ms", drop_row, newest_ms),
};
static const row_field drop_texts[] = {
    ROW_FIELD("cluster", drop_row, cluster),
    ROW_FIELD("instance", drop_row, instance),
};
static const row_shape drop_shape = ROW_SHAPE(drop_numbers, drop_texts);

/* How long before a range heartbeats are read, to know the counts at its beginning. */
static const uint64_t BEFORE_MS = 600000;

static uint64_t before(uint64_t time_ms, uint64_t by_ms)
{
    return time_ms > by_ms ? time_ms - by_ms : 0;
}

static int give_drop(void *context, const void *row)
{
    const row_sink *sink = context;

    return sink->drop(sink->context, row);
}

static int on_drops(void *context, const chs_result *block)
{
    drop_row row;

    return read_rows(block, &drop_shape, &row, sizeof(row), give_drop, context);
}

static int read_drops(void *self, const store_filter *filter, drop_fn each, void *context,
                      store_error *err)
{
    row_sink sink = {.drop = each, .context = context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT cluster, instance, toUInt64(cause) AS drop_cause, toUInt64(sum(lost)) AS "
                "batches, toUInt64(minIf(oldest, oldest > 0)) AS oldest_ms, toUInt64(max(newest)) "
                "AS newest_ms FROM ");
    select_drops(&s, filter);
    sql_add(&s, " WHERE received >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC') AND lost > 0 "
                "GROUP BY cluster, instance, cause ORDER BY cluster, instance, cause");
    sql_cluster_params(&s, filter);
    sql_number(&s, "from_ms", filter->from_ms);
    sql_number(&s, "since_ms", before(filter->from_ms, BEFORE_MS));
    sql_number(&s, "until_ms", filter->to_ms);
    return read_run(self, &s, on_drops, &sink, err);
}

/* ---- the ledger ---- */

static const row_field outcome_numbers[] = {
    ROW_FIELD("time_ms", outcome_row, time_ms),     ROW_FIELD("accepted", outcome_row, accepted),
    ROW_FIELD("duplicate", outcome_row, duplicate), ROW_FIELD("rejected", outcome_row, rejected),
    ROW_FIELD("retried", outcome_row, retry),       ROW_FIELD("stored_rows", outcome_row, rows),
};
static const row_shape outcome_shape = {outcome_numbers, NULL,
                                        sizeof(outcome_numbers) / sizeof(outcome_numbers[0]), 0};

static int give_outcome(void *context, const void *row)
{
    const row_sink *sink = context;

    return sink->outcome(sink->context, row);
}

static int on_outcomes(void *context, const chs_result *block)
{
    outcome_row row;

    return read_rows(block, &outcome_shape, &row, sizeof(row), give_outcome, context);
}

static int read_outcomes(void *self, const store_filter *filter, outcome_fn each, void *context,
                         store_error *err)
{
    row_sink sink = {.outcome = each, .context = context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT toUInt64({from_ms:Int64} + intDiv(toUnixTimestamp64Milli(last_seen) - "
                "{from_ms:Int64}, {bucket_ms:Int64}) * {bucket_ms:Int64}) AS time_ms, "
                "toUInt64(sumIf(batches, status = 'accepted')) AS accepted, "
                "toUInt64(sumIf(batches, status = 'duplicate')) AS duplicate, "
                "toUInt64(sumIf(batches, status = 'rejected')) AS rejected, "
                "toUInt64(sumIf(batches, status = 'retry')) AS retried, "
                "toUInt64(sumIf(sample_rows, status = 'accepted')) AS stored_rows "
                "FROM ingestion_batches");
    where_collectors(&s, filter, "last_seen");
    sql_add(&s, " GROUP BY time_ms ORDER BY time_ms");
    add_params(&s, filter);
    sql_number(&s, "bucket_ms", filter->bucket_ms);
    return read_run(self, &s, on_outcomes, &sink, err);
}

static const row_field refused_numbers[] = {
    ROW_FIELD("batches", refused_row, batches),       ROW_FIELD("attempts", refused_row, attempts),
    ROW_FIELD("first_ms", refused_row, first_ms),     ROW_FIELD("last_ms", refused_row, last_ms),
    ROW_FIELD("body_bytes", refused_row, body_bytes), ROW_FIELD("windows", refused_row, windows),
    ROW_FIELD("sample_rows", refused_row, rows),
};
static const row_field refused_texts[] = {
    ROW_FIELD("batch_id", refused_row, batch_id), ROW_FIELD("status", refused_row, status),
    ROW_FIELD("sender", refused_row, sender),     ROW_FIELD("cluster", refused_row, cluster),
    ROW_FIELD("node", refused_row, node),         ROW_FIELD("instance", refused_row, instance),
    ROW_FIELD("code", refused_row, code),         ROW_FIELD("message", refused_row, message),
};
static const row_shape refused_shape = ROW_SHAPE(refused_numbers, refused_texts);

static int give_refused(void *context, const void *row)
{
    const row_sink *sink = context;

    return sink->refused(sink->context, row);
}

static int on_refused(void *context, const chs_result *block)
{
    refused_row row;

    return read_rows(block, &refused_shape, &row, sizeof(row), give_refused, context);
}

static int read_refused(void *self, const store_filter *filter, refused_fn each, void *context,
                        store_error *err)
{
    row_sink sink = {.refused = each, .context = context};
    statement s;

    /* Rejected batches come first, because the others are sent again. */
    sql_begin(&s);
    sql_add(&s, "SELECT batch_id, status, sender, cluster, node, instance, code, message, batches, "
                "attempts, windows, sample_rows, body_bytes, " READ_MS(
                    "first_seen") " AS first_ms, " READ_MS("last_seen") " AS last_ms FROM "
                                                                        "ingestion_batches");
    where_collectors(&s, filter, "last_seen");
    sql_add(&s, " AND status != 'accepted' ORDER BY status = 'rejected' DESC, last_seen DESC LIMIT "
                "{limit:UInt64}");
    add_params(&s, filter);
    sql_number(&s, "limit", filter->limit);
    return read_run(self, &s, on_refused, &sink, err);
}

/* ---- sums ---- */

static int on_events(void *context, const chs_result *block)
{
    static const row_field numbers[] = {
        ROW_FIELD("seen", store_events, seen),
        ROW_FIELD("truncated", store_events, truncated),
        ROW_FIELD("dropped", store_events, dropped),
        ROW_FIELD("lost", store_events, lost),
    };
    static const row_shape shape = {numbers, NULL, sizeof(numbers) / sizeof(numbers[0]), 0};

    return read_rows(block, &shape, context, sizeof(store_events), NULL, NULL);
}

static int read_events(void *self, const store_filter *filter, store_events *out, store_error *err)
{
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT toUInt64(sum(raw_count)) AS seen, toUInt64(sum(truncated_count)) AS "
                "truncated, toUInt64(sum(dropped_count)) AS dropped, toUInt64(sum(lost_events)) AS "
                "lost FROM profile_windows");
    where_collectors(&s, filter, "time");
    add_params(&s, filter);
    return read_run(self, &s, on_events, out, err);
}

/* The columns of the one statement of read_loss. */
typedef struct loss_row {
    uint64_t dropped, oldest_ms, rejected;
    text code;
} loss_row;

static int on_loss(void *context, const chs_result *block)
{
    static const row_field numbers[] = {
        ROW_FIELD("dropped", loss_row, dropped),
        ROW_FIELD("oldest_ms", loss_row, oldest_ms),
        ROW_FIELD("rejected", loss_row, rejected),
    };
    static const row_field texts[] = {ROW_FIELD("code", loss_row, code)};
    static const row_shape shape = ROW_SHAPE(numbers, texts);
    store_loss *out = context;
    loss_row row = {0};

    if (read_rows(block, &shape, &row, sizeof(row), NULL, NULL) != 0)
        return -1;
    if (chs_result_rows(block) == 0)
        return 0;
    *out = (store_loss){row.dropped, row.oldest_ms, row.rejected, ""};
    size_t length = row.code.length < sizeof(out->code) ? row.code.length : sizeof(out->code) - 1;
    memcpy(out->code, row.code.data, length);
    return 0;
}

/* A filter that names services selects the nodes on which their JVMs were seen. */
static void where_nodes(statement *s, const store_filter *f)
{
    if (f->namespace_name == NULL && f->workload == NULL && f->scope->namespace_count == 0 &&
        f->scope->workload_count == 0)
        return;
    store_filter services = *f;
    services.type = 0;
    sql_add(s, " AND node IN (SELECT DISTINCT node FROM target_status_history");
    sql_where(s, &services, "observed");
    sql_add(s, ")");
}

/*
 * A batch is cut up to five minutes after its data, and its windows may be an hour long. A drop or
 * a rejection may be reported up to a day later.
 */
static int read_loss(void *self, const store_filter *filter, store_loss *out, store_error *err)
{
    enum { CUT_AFTER_MS = 300000, TOLD_AFTER_MS = 86400000 };
    store_filter services = *filter;
    statement s;

    services.type = 0; /* a batch holds all types */
    services.pod = services.container = services.version = services.pool = NULL;
    services.facet = 0;
    services.target = 0;
    sql_begin(&s);
    sql_add(&s, "SELECT d.dropped AS dropped, d.oldest_ms AS oldest_ms, r.rejected AS rejected, "
                "r.code AS code FROM (SELECT toUInt64(sum(lost)) AS dropped, "
                "toUInt64(min(oldest)) AS oldest_ms FROM ");
    select_drops(&s, filter);
    sql_add(&s, " WHERE lost > 0 AND oldest > 0 AND newest >= {from_ms:UInt64} AND oldest < "
                "{cut_ms:UInt64}");
    where_nodes(&s, filter);
    sql_add(&s, ") AS d CROSS JOIN (SELECT toUInt64(sum(batches)) AS rejected, "
                "toString(argMax(code, last_seen)) AS code FROM ingestion_batches WHERE status = "
                "'rejected' AND created >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC') AND "
                "created < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC') AND data_to > "
                "fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC') AND data_from < "
                "fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')");
    sql_where_cluster(&s, filter);
    where_nodes(&s, filter);
    sql_add(&s, ") AS r");
    sql_filter_params(&s, &services);
    sql_number(&s, "since_ms", before(filter->from_ms, BEFORE_MS));
    sql_number(&s, "until_ms", filter->to_ms + TOLD_AFTER_MS);
    sql_number(&s, "cut_ms", filter->to_ms + CUT_AFTER_MS);
    return read_run(self, &s, on_loss, out, err);
}

const ingestion_port clickhouse_ingestion = {
    .read_collectors = read_collectors,
    .read_drops = read_drops,
    .read_outcomes = read_outcomes,
    .read_refused = read_refused,
    .read_events = read_events,
    .read_loss = read_loss,
    .read_tables = clickhouse__read_tables,
};
