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

static int ask(chs_transport *to, const profile_batch *b, const char *name, const own_row *row,
               bool *held, store_error *err)
{
    uint64_t found = 0;
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
    int rc = sql_query(&s, to, 0, read_found, &found, err);
    sql_end(&s);
    *held = found > 0;
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

/* What the first of rows that name a window, or a snapshot, is of. False: there is none. */
static bool first_of_window(own_row *out, const profile_batch *b, u32s window)
{
    if (window.count > 0)
        *out = row_of_window(b, window.at[0]);
    return window.count > 0;
}

static bool first_of_snapshot(own_row *out, const profile_batch *b, u32s snapshot)
{
    if (snapshot.count > 0)
        *out = row_of_snapshot(b, snapshot.at[0]);
    return snapshot.count > 0;
}

/* The first row that the batch has in a table. False: it has none there. */
static bool first_row(own_row *out, const profile_batch *b, batch_table of)
{
    static const uint32_t first = 0;
    const u32s deadlocked = b->deadlocks.thread;

    switch (of) {
    case TABLE_THREADS:
        return first_of_window(out, b, b->threads.window);
    case TABLE_SAMPLES:
        return first_of_window(out, b, b->samples.window);
    case TABLE_WINDOWS:
        return first_of_window(out, b, (u32s){&first, b->windows.target.count});
    case TABLE_SNAPSHOTS:
        return first_of_snapshot(out, b, b->states.snapshot);
    case TABLE_DEADLOCKS:
        return first_of_snapshot(
            out, b,
            (u32s){deadlocked.count > 0 ? &b->states.snapshot.at[deadlocked.at[0]] : NULL,
                   deadlocked.count});
    case TABLE_RUNS:
        return first_of_snapshot(out, b, (u32s){&first, b->snapshots.target.count});
    default:
        return false; /* stacks may stand twice, and the ledger has been asked */
    }
}

int clickhouse__holds(chs_transport *to, const batch_write *w, batch_table of, bool *asked,
                      bool *held, store_error *err)
{
    static const char *const names[TABLES] = {
        [TABLE_THREADS] = "profile_threads",      [TABLE_SAMPLES] = "profile_samples",
        [TABLE_WINDOWS] = "profile_windows",      [TABLE_SNAPSHOTS] = "thread_snapshots",
        [TABLE_DEADLOCKS] = "deadlock_sightings", [TABLE_RUNS] = "thread_snapshot_runs",
    };
    own_row row;

    *held = false;
    *asked = first_row(&row, w->batch, of);
    return *asked ? ask(to, w->batch, names[of], &row, held, err) : 0;
}
