/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tables that have the block of a batch that is sent again. */
#include "read.h"
#include "write_impl.h"

/* The key of a row of the batch. Another batch may have rows with the same key: a JVM is recorded
 * twice at the same time if its node's clock was set back. */
typedef struct own_row {
    uint32_t target;
    uint64_t time_ms;
    unsigned source; /* 0: the table has no such column */
} own_row;

/* Says where each batch has recorded its number of rows in a table. */
typedef struct counted_table {
    const char *name;
    const char *written_in; /* the table with one row per key and batch */
    const char *rows; /* its column with the number; NULL: each of its own rows counts as one */
} counted_table;

static const counted_table counted[TABLES] = {
    [TABLE_THREADS] = {"profile_threads", "profile_windows", "thread_rows"},
    [TABLE_SAMPLES] = {"profile_samples", "profile_windows", "sample_rows"},
    [TABLE_WINDOWS] = {"profile_windows", "profile_windows", NULL},
    [TABLE_SNAPSHOTS] = {"thread_snapshots", "thread_snapshot_runs", "threads_listed"},
    [TABLE_DEADLOCKS] = {"deadlock_sightings", "thread_snapshot_runs", "sightings"},
    [TABLE_RUNS] = {"thread_snapshot_runs", "thread_snapshot_runs", NULL},
};

static void add_key(statement *s, const own_row *row)
{
    sql_add(s, " WHERE cluster = {cluster:String} AND namespace = {namespace:String} AND workload "
               "= {workload:String} AND target_id = {target:UInt64} AND time = "
               "fromUnixTimestamp64Milli({time_ms:Int64}, 'UTC')");
    if (row->source != 0)
        sql_add(s, " AND source = {source:UInt8}");
}

/* Adds a query for the rows with the key that no other batch wrote. Windows and runs are written
 * after all the rows that they count. */
static void add_question(statement *s, const counted_table *of, const own_row *row)
{
    sql_add(s, "SELECT ifNull("); /* subqueries may be NULL by their type */
    if (of->rows != NULL) {
        sql_add(s, "(SELECT count() FROM ");
        sql_add(s, of->name);
        add_key(s, row);
        sql_add(s, ") > (SELECT sum(");
        sql_add(s, of->rows);
        sql_add(s, ") FROM ");
    } else {
        sql_add(s, "(SELECT count() > 0 FROM ");
    }
    sql_add(s, of->written_in);
    add_key(s, row);
    sql_add(s, of->rows != NULL ? " AND batch != {batch:UInt32})" : " AND batch = {batch:UInt32})");
    sql_add(s, ", 0) AS found");
}

static int ask(chs_transport *to, const profile_batch *b, const counted_table *of,
               const own_row *row, bool *held, store_error *err)
{
    uint64_t found = 0;
    statement s;

    sql_begin(&s);
    add_question(&s, of, row);
    sql_text(&s, "cluster", b->collector.cluster);
    sql_text(&s, "namespace", string_of(b, &b->targets.namespace_name, row->target));
    sql_text(&s, "workload", string_of(b, &b->targets.workload, row->target));
    sql_number(&s, "target", target_id_at(&b->targets, &b->strings, row->target));
    sql_number(&s, "time_ms", row->time_ms);
    sql_number(&s, "batch", batch_mark(b));
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

/* Gets the key of the first row, whose window is the first of `window`. Returns false if there is
 * none. */
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

/* Gets the key of the batch's first row in a table. Returns false if it has none there. */
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
        return false; /* a stack may be stored twice */
    }
}

static int ask_ledger(chs_transport *to, const profile_batch *b, bool *held, store_error *err)
{
    uint64_t found = 0;
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT count() AS found FROM ingestion_batches WHERE batch_id = "
                "{id:FixedString(16)} AND status = 'accepted'");
    sql_text(&s, "id", b->batch_id);
    int rc = sql_query(&s, to, 0, read_found, &found, err);
    sql_end(&s);
    *held = found > 0;
    return rc;
}

int clickhouse__holds(chs_transport *to, const batch_write *w, batch_table of, block_state *state,
                      store_error *err)
{
    bool held = false;
    own_row row;
    int rc = 0;

    *state = BLOCK_NOT_ASKED;
    if (of == TABLE_LEDGER)
        rc = ask_ledger(to, w->batch, &held, err);
    else if (first_row(&row, w->batch, of))
        rc = ask(to, w->batch, &counted[of], &row, &held, err);
    else
        return 0;
    *state = held ? BLOCK_HELD : BLOCK_MISSING;
    return rc;
}

int clickhouse__may_lose_blocks(chs_transport *to, const char *name, bool *may, store_error *err)
{
    uint64_t found = 0;
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT count() AS found FROM system.tables WHERE database = currentDatabase() AND "
                "name = {name:String} AND engine IN ('MergeTree', 'ReplacingMergeTree')");
    sql_text(&s, "name", text_of(name));
    int rc = sql_query(&s, to, 0, read_found, &found, err);
    sql_end(&s);
    *may = found > 0;
    return rc;
}
