/* SPDX-License-Identifier: Apache-2.0 */
/* Writes ingestion_batches, with one row per batch. */
#include "write_ledger.h"

#include "write_impl.h"

static const table_column columns[] = {
    {"created", MOMENT},
    {"batch_id", "FixedString(16)"},
    {"digest", "FixedString(16)"},
    {"kind", LOW},
    {"status", LOW},
    {"batches", "UInt32"},
    {"sender", LOW},
    {"cluster", LOW},
    {"node", LOW},
    {"instance", LOW},
    {"first_seen", MOMENT},
    {"last_seen", MOMENT},
    {"attempts", "UInt32"},
    {"data_from", MOMENT},
    {"data_to", MOMENT},
    {"windows", "UInt32"},
    {"sample_rows", "UInt32"},
    {"snapshots", "UInt32"},
    {"thread_rows", "UInt32"},
    {"stacks", "UInt32"},
    {"body_bytes", "UInt64"},
    {"code", LOW},
    {"message", "String"},
};

typedef struct time_range {
    uint64_t from_ms, to_ms;
} time_range;

static void widen(time_range *r, uint64_t from_ms, uint64_t to_ms)
{
    r->from_ms = from_ms < r->from_ms ? from_ms : r->from_ms;
    r->to_ms = to_ms > r->to_ms ? to_ms : r->to_ms;
}

/* Returns the time of a batch's data; an empty batch has the time at which it was cut. */
static time_range range_of(const profile_batch *b)
{
    time_range r = {UINT64_MAX, 0};

    for (size_t i = 0; i < b->windows.start_ms.count; i++)
        widen(&r, b->windows.start_ms.at[i],
              b->windows.start_ms.at[i] + b->windows.length_ms.at[i]);
    for (size_t i = 0; i < b->snapshots.taken_ms.count; i++)
        widen(&r, b->snapshots.taken_ms.at[i], b->snapshots.taken_ms.at[i] + 1);
    return r.to_ms != 0 ? r : (time_range){b->created_ms, b->created_ms + 1};
}

static void put_sender(table *t, text sender, const collector_id *collector)
{
    table_put_text(t, sender);
    table_put_text(t, collector->cluster);
    table_put_text(t, collector->node);
    table_put_text(t, collector->instance);
}

static void put_stored(table *t, const batch_write *w)
{
    const profile_batch *b = w->batch;
    const time_range data = range_of(b);

    table_put_ms(t, b->created_ms);
    table_put_text(t, b->batch_id);
    table_put_text(t, b->digest);
    table_put_text(t, text_of("profiles"));
    table_put_text(t, text_of(outcome_name(OUTCOME_ACCEPTED)));
    table_put_uint(t, 1);
    put_sender(t, text_of(w->sender), &b->collector);
    table_put_ms(t, w->received_ms - (b->waited_ms < w->received_ms ? b->waited_ms : 0));
    table_put_ms(t, w->received_ms);
    table_put_uint(t, b->attempt > 0 ? b->attempt : 1);
    table_put_ms(t, data.from_ms);
    table_put_ms(t, data.to_ms);
    table_put_uint(t, b->windows.target.count);
    table_put_uint(t, b->samples.window.count);
    table_put_uint(t, b->snapshots.target.count);
    table_put_uint(t, b->states.snapshot.count);
    table_put_uint(t, w->stack_count);
    table_put_uint(t, b->body.length);
    table_put_text(t, text_of(""));
    table_put_text(t, text_of(""));
}

static void put_refused(table *t, const refusal *r)
{
    static const char no_digest[16];
    const collector_id collector = {
        .cluster = text_of(r->cluster),
        .node = text_of(r->node),
        .instance = text_of(r->instance),
    };

    table_put_ms(t, r->created_ms);
    table_put_text(t, (text){(const char *)r->batch_id, sizeof(r->batch_id)});
    table_put_text(t, (text){no_digest, sizeof(no_digest)});
    table_put_text(t, text_of("profiles"));
    table_put_text(t, text_of(outcome_name(r->status)));
    table_put_uint(t, r->batches);
    put_sender(t, text_of(r->sender), &collector);
    table_put_ms(t, r->first_ms);
    table_put_ms(t, r->last_ms);
    table_put_uint(t, r->attempts);
    table_put_ms(t, r->from_ms);
    table_put_ms(t, r->to_ms);
    table_put_uint(t, r->windows);
    table_put_uint(t, r->rows);
    for (unsigned i = 0; i < 3; i++) /* snapshots, thread_rows, stacks */
        table_put_uint(t, 0);
    table_put_uint(t, r->body_bytes);
    table_put_text(t, text_of(r->code));
    table_put_text(t, text_of(r->message));
}

static int begin(table *t, store_error *err)
{
    return table_begin(t, "ingestion_batches", columns, sizeof(columns) / sizeof(columns[0]), err);
}

int clickhouse__write_ledger(chs_transport *to, const batch_write *w, store_error *err)
{
    table t;
    int rc = begin(&t, err);

    if (rc == 0) {
        put_stored(&t, w);
        rc = insert_table(&t, to, w, false, err);
    }
    table_end(&t);
    return rc;
}

int clickhouse__write_refused(chs_transport *to, const refusal *refused, size_t count,
                              store_error *err)
{
    table t;
    int rc = begin(&t, err);

    for (size_t i = 0; i < count && rc == 0; i++)
        put_refused(&t, &refused[i]);
    if (rc == 0)
        rc = table_insert(&t, to, (table_token){.by_content = true}, err);
    table_end(&t);
    return rc;
}
