/* SPDX-License-Identifier: Apache-2.0 */
/* Writes collector_heartbeats, with one row per heartbeat. */
#include "write_reports.h"

#include <contract/check.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOW          "LowCardinality(String)"
#define MOMENT       "DateTime64(3, 'UTC')"

static const table_column columns[] = {
    {"received", MOMENT},
    {"cluster", LOW},
    {"node", LOW},
    {"instance", LOW},
    {"version", LOW},
    {"engine", LOW},
    {"run_id", "UInt64"},
    {"started", MOMENT},
    {"sent", MOMENT},
    {"queued_bytes", "UInt64"},
    {"queued_batches", "UInt64"},
    {"queue_bytes", "UInt64"},
    {"oldest_queued", MOMENT},
    {"cut_batches", "UInt64"},
    {"last_success", MOMENT},
    {"drop_cause", "Array(UInt8)"},
    {"drop_batches", "Array(UInt64)"},
    {"drop_oldest_ms", "Array(UInt64)"},
    {"drop_newest_ms", "Array(UInt64)"},
    {"jvms_seen", "UInt32"},
    {"jvms_profiled", "UInt32"},
};

int clickhouse__begin_heartbeat(table *t, store_error *err)
{
    return table_begin(t, "collector_heartbeats", columns, COUNT(columns), err);
}

static void put_drops(table *t, const drop_columns *drops)
{
    uint64_t causes[DROP_CAUSES_MAX];
    size_t count = drops->cause.count;

    for (size_t i = 0; i < count; i++)
        causes[i] = drops->cause.at[i];
    table_put_uints(t, causes, count);
    table_put_uints(t, drops->batches.at, count);
    table_put_uints(t, drops->oldest_ms.at, count);
    table_put_uints(t, drops->newest_ms.at, count);
}

void clickhouse__put_heartbeat(table *t, const void *report)
{
    const heartbeat_row *row = report;
    const heartbeat *b = row->beat;

    table_put_ms(t, row->received_ms);
    table_put_text(t, b->collector.cluster);
    table_put_text(t, b->collector.node);
    table_put_text(t, b->collector.instance);
    table_put_text(t, b->collector.version);
    table_put_text(t, b->engine);
    table_put_uint(t, b->collector.run_id);
    table_put_ms(t, b->started_ms);
    table_put_ms(t, b->sent_ms);
    table_put_uint(t, b->queued_bytes);
    table_put_uint(t, b->queued_batches);
    table_put_uint(t, b->queue_bytes);
    table_put_ms(t, b->oldest_queued_ms);
    table_put_uint(t, b->cut_batches);
    table_put_ms(t, b->last_success_ms);
    put_drops(t, &b->drops);
    table_put_uint(t, b->jvms_seen);
    table_put_uint(t, b->jvms_profiled);
}

size_t clickhouse__weigh_heartbeat(const void *report)
{
    const heartbeat *b = ((const heartbeat_row *)report)->beat;

    return ROW_BYTES + b->collector.cluster.length + b->collector.node.length +
           b->collector.instance.length + b->collector.version.length + b->engine.length +
           25 * b->drops.cause.count;
}
