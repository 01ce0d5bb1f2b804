/* SPDX-License-Identifier: Apache-2.0 */
#include "query_ingestion.h"

#include <stdlib.h>
#include <string.h>

#include <contract/intern.h>

static const uint64_t COLLECTORS_MAX = 20000;

/* Whether the scope covers data about all services of a node: not if it names namespaces or
 * workloads. */
static bool covers_nodes(const scope *s)
{
    return s->namespace_count == 0 && s->workload_count == 0;
}

static int keep_all(copies *to, text **texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (copies_keep(to, texts[i]) != 0)
            return -1;
    }
    return 0;
}

/* ---- collectors ---- */

typedef struct collector_reader {
    collector_list *list;
    size_t room, limit, total, cursor;
    uint64_t silent_before_ms;
} collector_reader;

static int on_collector(void *context, const collector_row *row)
{
    collector_reader *r = context;
    collector_list *list = r->list;

    if (r->total++ >= r->limit)
        return 0;
    if (array_reserve((void **)&list->items, &r->room, list->count, sizeof(*list->items)) != 0)
        return -1;
    collector_entry *entry = &list->items[list->count++];
    *entry = (collector_entry){.row = *row, .silent = row->received_ms < r->silent_before_ms};
    text *texts[] = {&entry->row.cluster, &entry->row.node, &entry->row.instance,
                     &entry->row.version, &entry->row.engine};
    return keep_all(&list->texts, texts, sizeof(texts) / sizeof(texts[0]));
}

static int on_drop(void *context, const drop_row *row)
{
    const collector_reader *r = context;

    for (size_t i = 0; i < r->list->count; i++) {
        collector_entry *entry = &r->list->items[i];
        if (!text_equal(entry->row.cluster, row->cluster) ||
            !text_equal(entry->row.instance, row->instance))
            continue;
        if (entry->drop_count < COLLECTOR_CAUSES_MAX)
            entry->drops[entry->drop_count++] = *row;
        break;
    }
    return 0;
}

query_code query_collectors(const query *q, const store_filter *filter, collector_list *out,
                            query_meta *meta, store_error *err)
{
    const ingestion_port *port = q->store.ingestion;
    uint64_t now_ms = q->now_ms(q->clock);
    uint64_t end_ms = filter->to_ms < now_ms ? filter->to_ms : now_ms;
    collector_reader r = {.list = out,
                          .limit = (size_t)filter->limit,
                          .silent_before_ms = end_ms > q->silent_ms ? end_ms - q->silent_ms : 0};
    store_filter wide = *filter;

    wide.limit = COLLECTORS_MAX;
    if (!covers_nodes(filter->scope))
        return QUERY_FORBIDDEN;
    query_code code = query_fresh(q, filter, meta, err);
    if (code == QUERY_OK)
        code = query_code_of(port->read_collectors(q->store.self, &wide, on_collector, &r, err));
    if (code == QUERY_OK)
        code = query_code_of(port->read_drops(q->store.self, filter, on_drop, &r, err));
    meta->rows_scanned = r.total;
    meta->nodes_omitted = r.total - out->count;
    return code;
}

void collector_list_free(collector_list *list)
{
    free(list->items);
    copies_free(&list->texts);
    *list = (collector_list){.items = NULL};
}

/* ---- batches ---- */

typedef struct ingestion_reader {
    ingestion_report *report;
    size_t bucket_room, refused_room;
} ingestion_reader;

static int on_outcome(void *context, const outcome_row *row)
{
    ingestion_reader *r = context;
    ingestion_report *report = r->report;
    outcome_row *all = &report->all;

    if (array_reserve((void **)&report->buckets, &r->bucket_room, report->bucket_count,
                      sizeof(*row)) != 0)
        return -1;
    report->buckets[report->bucket_count++] = *row;
    all->accepted += row->accepted;
    all->duplicate += row->duplicate;
    all->rejected += row->rejected;
    all->retry += row->retry;
    all->rows += row->rows;
    return 0;
}

static int on_refused(void *context, const refused_row *row)
{
    ingestion_reader *r = context;
    ingestion_report *report = r->report;

    if (array_reserve((void **)&report->refused, &r->refused_room, report->refused_count,
                      sizeof(*row)) != 0)
        return -1;
    refused_row *to = &report->refused[report->refused_count++];
    *to = *row;
    text *texts[] = {&to->batch_id, &to->status,   &to->sender, &to->cluster,
                     &to->node,     &to->instance, &to->code,   &to->message};
    return keep_all(&report->texts, texts, sizeof(texts) / sizeof(texts[0]));
}

static int on_any_drop(void *context, const drop_row *row)
{
    ingestion_report *report = context;

    report->dropped += row->batches;
    if (row->cause < DROP_END)
        report->dropped_by[row->cause] += row->batches;
    return 0;
}

query_code query_ingestion(const query *q, const store_filter *filter, ingestion_report *out,
                           query_meta *meta, store_error *err)
{
    const ingestion_port *port = q->store.ingestion;
    ingestion_reader r = {.report = out};
    void *self = q->store.self;

    if (!covers_nodes(filter->scope))
        return QUERY_FORBIDDEN;
    out->bucket_ms = filter->bucket_ms;
    query_code code = query_fresh(q, filter, meta, err);
    if (code == QUERY_OK)
        code = query_code_of(port->read_outcomes(self, filter, on_outcome, &r, err));
    if (code == QUERY_OK)
        code = query_code_of(port->read_refused(self, filter, on_refused, &r, err));
    if (code == QUERY_OK)
        code = query_code_of(port->read_events(self, filter, &out->events, err));
    if (code == QUERY_OK)
        code = query_code_of(port->read_drops(self, filter, on_any_drop, out, err));
    return code;
}

void ingestion_report_free(ingestion_report *report)
{
    free(report->buckets);
    free(report->refused);
    copies_free(&report->texts);
    *report = (ingestion_report){.buckets = NULL};
}

/* ---- retention ---- */

typedef struct table_reader {
    retention_report *report;
    size_t room;
} table_reader;

static int on_table(void *context, const stored_table *row)
{
    table_reader *r = context;
    retention_report *report = r->report;

    if (array_reserve((void **)&report->tables, &r->room, report->count, sizeof(*row)) != 0)
        return -1;
    stored_table *to = &report->tables[report->count++];
    *to = *row;
    return copies_keep(&report->texts, &to->name);
}

query_code query_retention(const query *q, const store_filter *filter, retention_report *out,
                           query_meta *meta, store_error *err)
{
    table_reader r = {.report = out};

    if (!covers_nodes(filter->scope) || filter->scope->cluster_count > 0)
        return QUERY_FORBIDDEN;
    query_code code = query_fresh(q, filter, meta, err);
    if (code == QUERY_OK)
        code = query_code_of(q->store.ingestion->read_tables(q->store.self, on_table, &r, err));
    meta->rows_scanned = out->count;
    return code;
}

void retention_report_free(retention_report *report)
{
    free(report->tables);
    copies_free(&report->texts);
    *report = (retention_report){.tables = NULL};
}
