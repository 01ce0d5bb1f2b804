/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/ingestion, /v1/collectors, /v1/retention. */
#include <base/hex.h>
#include <string.h>

#include "../answer_json.h"
#include "../query_call.h"
#include "reports/query_ingestion.h"

static json_t *drops_json(const collector_entry *entry)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < entry->drop_count; i++) {
        const drop_row *drop = &entry->drops[i];
        const drop_cause_info *cause = drop_cause_get((unsigned)drop->cause);
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "cause",
                                              cause != NULL ? cause->name : "unknown", "message",
                                              cause != NULL ? cause->explanation : "", "fix",
                                              cause != NULL ? cause->fix : "", "batches",
                                              (json_int_t)drop->batches, "oldest",
                                              json_time(drop->oldest_ms), "newest",
                                              json_time(drop->newest_ms)));
    }
    return rows;
}

static json_t *collector_json(const collector_entry *entry)
{
    const collector_row *c = &entry->row;
    json_t *queue = json_pack("{s:I, s:I, s:I, s:o}", "batches", (json_int_t)c->queued_batches,
                              "bytes", (json_int_t)c->queued_bytes, "max_bytes",
                              (json_int_t)c->queue_bytes, "oldest", json_time(c->oldest_queued_ms));

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o}",
                     "cluster", json_text(c->cluster), "node", json_text(c->node), "instance",
                     json_text(c->instance), "version", json_text(c->version), "engine",
                     json_text(c->engine), "state", entry->silent ? "silent" : "alive", "heartbeat",
                     json_time(c->received_ms), "sent", json_time(c->sent_ms), "started",
                     json_time(c->started_ms), "last_success", json_time(c->last_success_ms),
                     "queue", queue, "cut_batches", (json_int_t)c->cut_batches, "jvms_seen",
                     (json_int_t)c->jvms_seen, "jvms_profiled", (json_int_t)c->jvms_profiled,
                     "drops", drops_json(entry));
}

void api_collectors(void *context, const http_request *request, http_response *response)
{
    call c;
    collector_list list = {.items = NULL};

    if (call_begin(&c, QUERY_LIST, context, request, response) && call_may_ask(&c)) {
        query_code code = query_collectors(&c.api->query, &c.params.filter, &list, &c.meta, &c.err);
        json_t *rows = json_array();
        for (size_t i = 0; i < list.count && code == QUERY_OK; i++)
            json_array_append_new(rows, collector_json(&list.items[i]));
        if (code == QUERY_OK)
            call_send_tagged(&c, json_pack("{s:O}", "collectors", rows));
        else
            call_fail(&c, code);
        json_decref(rows);
    }
    collector_list_free(&list);
    call_end(&c);
}

static json_t *outcome_json(const outcome_row *row)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "accepted", (json_int_t)row->accepted,
                     "duplicate", (json_int_t)row->duplicate, "rejected", (json_int_t)row->rejected,
                     "retry", (json_int_t)row->retry, "rows", (json_int_t)row->rows);
}

static json_t *buckets_json(const ingestion_report *report)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < report->bucket_count; i++) {
        json_t *row = outcome_json(&report->buckets[i]);
        json_object_set_new(row, "time", json_time(report->buckets[i].time_ms));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* Makes the id of a batch; "" where a row stands for several batches. */
static json_t *batch_id_json(text id)
{
    static const char none[16];
    char printed[33] = "";

    if (id.length == sizeof(none) && memcmp(id.data, none, sizeof(none)) != 0)
        printed[hex_write(printed, (const uint8_t *)id.data, sizeof(none))] = '\0';
    return json_string(printed);
}

static json_t *refused_json(const refused_row *row)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:I, s:I, s:I}",
                     "batch", batch_id_json(row->batch_id), "status", json_text(row->status),
                     "sender", json_text(row->sender), "cluster", json_text(row->cluster), "node",
                     json_text(row->node), "instance", json_text(row->instance), "code",
                     json_text(row->code), "message", json_text(row->message), "batches",
                     (json_int_t)row->batches, "attempts", (json_int_t)row->attempts, "first_seen",
                     json_time(row->first_ms), "last_seen", json_time(row->last_ms), "body_bytes",
                     (json_int_t)row->body_bytes, "windows", (json_int_t)row->windows, "rows",
                     (json_int_t)row->rows);
}

static json_t *events_json(const ingestion_report *report)
{
    const store_events *e = &report->events;

    return json_pack("{s:o, s:o, s:o, s:o}", "seen", json_sum(e->seen), "lost", json_sum(e->lost),
                     "truncated", json_sum(e->truncated), "dropped", json_sum(e->dropped));
}

static json_t *dropped_json(const ingestion_report *report)
{
    json_t *by = json_object();

    for (unsigned cause = 1; cause < DROP_END; cause++)
        json_object_set_new(by, drop_cause_get(cause)->name,
                            json_integer((json_int_t)report->dropped_by[cause]));
    return json_pack("{s:I, s:o}", "batches", (json_int_t)report->dropped, "by_cause", by);
}

static json_t *ingestion_json(const ingestion_report *report)
{
    json_t *refused = json_array();

    for (size_t i = 0; i < report->refused_count; i++)
        json_array_append_new(refused, refused_json(&report->refused[i]));
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "bucket_ms", (json_int_t)report->bucket_ms,
                     "buckets", buckets_json(report), "outcomes", outcome_json(&report->all),
                     "refused", refused, "events", events_json(report), "dropped",
                     dropped_json(report));
}

void api_ingestion(void *context, const http_request *request, http_response *response)
{
    call c;
    ingestion_report report = {.buckets = NULL};

    if (call_begin(&c, QUERY_INGESTION, context, request, response) && call_may_ask(&c)) {
        query_code code =
            query_ingestion(&c.api->query, &c.params.filter, &report, &c.meta, &c.err);
        if (code == QUERY_OK)
            call_send_tagged(&c, ingestion_json(&report));
        else
            call_fail(&c, code);
    }
    ingestion_report_free(&report);
    call_end(&c);
}

static json_t *tables_json(const retention_report *report)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < report->count; i++) {
        const stored_table *t = &report->tables[i];
        json_array_append_new(
            rows, json_pack("{s:o, s:I, s:I, s:I, s:o, s:I}", "table", json_text(t->name), "rows",
                            (json_int_t)t->rows, "bytes", (json_int_t)t->bytes, "parts",
                            (json_int_t)t->parts, "oldest", json_time(t->oldest_s * 1000),
                            "ttl_lag_s", (json_int_t)t->ttl_lag_s));
    }
    return rows;
}

static json_t *rollups_json(const api *a)
{
    rollup_stats s = rollups_read(a->rollups);

    return json_pack("{s:I, s:o, s:I, s:I}", "pending_hours", (json_int_t)s.dirty, "looked",
                     json_time(s.last_ms), "failures", (json_int_t)s.failures, "withdrawn",
                     (json_int_t)s.drifted);
}

void api_retention(void *context, const http_request *request, http_response *response)
{
    call c;
    retention_report report = {.tables = NULL};

    if (call_begin(&c, QUERY_RETENTION, context, request, response) && call_may_ask(&c)) {
        const query *q = &c.api->query;
        query_code code = query_retention(q, &c.params.filter, &report, &c.meta, &c.err);
        if (code == QUERY_OK)
            call_send_tagged(&c, json_pack("{s:I, s:o, s:o, s:o}", "days",
                                           (json_int_t)(q->retention_ms / DAY_MS), "oldest",
                                           json_time(query_oldest_ms(q)), "tables",
                                           tables_json(&report), "rollups", rollups_json(c.api)));
        else
            call_fail(&c, code);
    }
    retention_report_free(&report);
    call_end(&c);
}
