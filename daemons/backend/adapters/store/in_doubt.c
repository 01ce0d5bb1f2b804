/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables hold the block of a batch already, though the ledger does not know the batch. */
#include "read.h"
#include "write_impl.h"

/* A row of the batch that belongs to no other batch. */
typedef struct own_row {
    uint32_t target;
    uint64_t time_ms;
    unsigned source; /* 0: the table has none */
} own_row;

static int on_count(void *context, const chs_result *block)
{
    chs_uints found;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_uints(&found, block, "found") != 0)
        return -1;
    *(bool *)context = found.values[0] > 0;
    return 0;
}

static int ask(chs_transport *to, const profile_batch *b, const char *name, const own_row *row,
               bool *held, store_error *err)
{
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT count() AS found FROM ");
    sql_add(&s, name);
    sql_add(&s, " WHERE cluster = {cluster:String} AND namespace = {namespace:String} AND workload "
                "= {workload:String} AND target_id = {target:UInt64} AND time = "
                "fromUnixTimestamp64Milli({time_ms:Int64}, 'UTC')");
    if (row->source != 0)
        sql_add(&s, " AND source = {source:UInt8}");
    sql_text(&s, "cluster", b->collector.cluster);
    sql_text(&s, "namespace", string_of(b, &b->targets.namespace_name, row->target));
    sql_text(&s, "workload", string_of(b, &b->targets.workload, row->target));
    sql_number(&s, "target", target_id_at(&b->targets, &b->strings, row->target));
    sql_number(&s, "time_ms", row->time_ms);
    if (row->source != 0)
        sql_number(&s, "source", row->source);
    int rc = sql_query(&s, to, WRITER_ASKS_MS, on_count, held, err);
    sql_end(&s);
    return rc;
}

static own_row row_of_window(const profile_batch *b, uint32_t window)
{
    return (own_row){b->windows.target.at[window], b->windows.start_ms.at[window],
                     b->windows.source.at[window]};
}

static own_row row_of_snapshot(const profile_batch *b, uint32_t snapshot)
{
    return (own_row){b->snapshots.target.at[snapshot], b->snapshots.taken_ms.at[snapshot], 0};
}

/* The first row that the batch has in a table. False: it has none there. */
static bool first_row(own_row *out, const profile_batch *b, batch_table of)
{
    switch (of) {
    case TABLE_THREADS:
        if (b->threads.window.count > 0)
            *out = row_of_window(b, b->threads.window.at[0]);
        return b->threads.window.count > 0;
    case TABLE_SAMPLES:
        if (b->samples.window.count > 0)
            *out = row_of_window(b, b->samples.window.at[0]);
        return b->samples.window.count > 0;
    case TABLE_WINDOWS:
        if (b->windows.target.count > 0)
            *out = row_of_window(b, 0);
        return b->windows.target.count > 0;
    case TABLE_SNAPSHOTS:
        if (b->states.snapshot.count > 0)
            *out = row_of_snapshot(b, b->states.snapshot.at[0]);
        return b->states.snapshot.count > 0;
    case TABLE_DEADLOCKS:
        if (b->deadlocks.thread.count > 0)
            *out = row_of_snapshot(b, b->states.snapshot.at[b->deadlocks.thread.at[0]]);
        return b->deadlocks.thread.count > 0;
    case TABLE_RUNS:
        if (b->snapshots.target.count > 0)
            *out = row_of_snapshot(b, 0);
        return b->snapshots.target.count > 0;
    default:
        return false; /* stacks may stand twice, and the ledger has been asked */
    }
}

int clickhouse__holds(chs_transport *to, const batch_write *w, batch_table of, bool *held,
                      store_error *err)
{
    static const char *const names[TABLES] = {
        [TABLE_THREADS] = "profile_threads",      [TABLE_SAMPLES] = "profile_samples",
        [TABLE_WINDOWS] = "profile_windows",      [TABLE_SNAPSHOTS] = "thread_snapshots",
        [TABLE_DEADLOCKS] = "deadlock_sightings", [TABLE_RUNS] = "thread_snapshot_runs",
    };
    own_row row;

    *held = false;
    return first_row(&row, w->batch, of) ? ask(to, w->batch, names[of], &row, held, err) : 0;
}
