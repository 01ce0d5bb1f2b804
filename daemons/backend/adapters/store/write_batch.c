/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the blocks of one batch, in the order of docs/formats/storage.md. */
#include <base/clock.h>

#include <stdlib.h>
#include <string.h>

#include "sql.h"
#include "table.h"
#include "write_impl.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SUMS                                                                                       \
    {"amount", "UInt64"}, {"amount_added", "UInt64"}, {"count", "UInt64"},                         \
    {                                                                                              \
        "count_added", "UInt64"                                                                    \
    }

/* Appends what the estimates add to what was recorded. An estimate below it wraps around, and reads
 * wrap back. */
static void put_added(table *t, const uint64_t *estimate, const uint64_t *recorded, size_t count)
{
    enum { ROWS_AT_ONCE = 256 };
    chs_column *column = table_next(t);
    uint64_t added[ROWS_AT_ONCE];

    for (size_t at = 0; at < count; at += ROWS_AT_ONCE) {
        size_t some = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        for (size_t i = 0; i < some; i++)
            added[i] = estimate[at + i] - recorded[at + i];
        chs_append_uint_rows(column, added, some);
    }
}

/* Appends the `count` sums from entry `i` on, to the columns SUMS. */
static void put_sums(table *t, const sum_columns *from, size_t i, size_t count)
{
    table_put_u64_rows(t, from->amount.at + i, count);
    put_added(t, from->amount.at + i, from->raw_amount.at + i, count);
    table_put_u64_rows(t, from->count.at + i, count);
    put_added(t, from->count.at + i, from->raw_count.at + i, count);
}

/* Returns how many rows from `from` on belong to one window. */
static size_t rows_alike(u32s window, size_t from)
{
    size_t end = from + 1;

    while (end < window.count && window.at[end] == window.at[from])
        end++;
    return end - from;
}

/* ---- profile_stacks ---- */

/* The strings of the columns of frames, and room for one column's values in the deepest stack. */
typedef struct frames {
    table_keys class_name, method, file;
    uint32_t *keys;
    uint64_t *numbers;
} frames;

static void frames_free(frames *f)
{
    table_keys_free(&f->class_name);
    table_keys_free(&f->method);
    table_keys_free(&f->file);
    free(f->keys);
    free(f->numbers);
}

static int frames_make(frames *f, const string_columns *strings, size_t depth)
{
    f->keys = malloc((depth + 1) * sizeof(*f->keys));
    f->numbers = malloc((depth + 1) * sizeof(*f->numbers));
    return table_keys_init(&f->class_name, strings) && table_keys_init(&f->method, strings) &&
                   table_keys_init(&f->file, strings) && f->keys != NULL && f->numbers != NULL
               ? 0
               : -1;
}

/* Appends the strings of a stack's frames in one column of the dictionary. */
static void put_frame_strings(table *t, frames *f, table_keys *keys, u32s strings,
                              const uint32_t *stack, uint32_t depth)
{
    chs_column *column = table_next(t);

    for (uint32_t i = 0; i < depth; i++)
        f->keys[i] = table_key(keys, column, strings.at[stack[i]]);
    chs_append_key_array(column, f->keys, depth);
}

static void put_frames(table *t, frames *f, const stack_dictionary *d, const uint32_t *stack,
                       uint32_t depth)
{
    put_frame_strings(t, f, &f->class_name, d->frame_class, stack, depth);
    put_frame_strings(t, f, &f->method, d->frame_method, stack, depth);
    put_frame_strings(t, f, &f->file, d->frame_file, stack, depth);
    for (uint32_t i = 0; i < depth; i++)
        f->numbers[i] = d->frame_line.at[stack[i]];
    table_put_uints(t, f->numbers, depth);
    for (uint32_t i = 0; i < depth; i++)
        f->numbers[i] = (unsigned char)d->frame_kind.data[stack[i]];
    table_put_uints(t, f->numbers, depth);
}

/* Returns where each stack's frames begin in the dictionary; *deepest is the greatest depth. */
static size_t *find_starts(const stack_dictionary *d, size_t *deepest)
{
    size_t *starts = malloc((d->stack_depth.count + 1) * sizeof(*starts));

    *deepest = 0;
    for (size_t i = 0, at = 0; starts != NULL && i < d->stack_depth.count; i++) {
        starts[i] = at;
        at += d->stack_depth.at[i];
        *deepest = d->stack_depth.at[i] > *deepest ? d->stack_depth.at[i] : *deepest;
    }
    return starts;
}

static void put_stack(table *t, frames *f, const batch_write *w, const stack_use *use,
                      const size_t *starts)
{
    const stack_dictionary *d = &w->batch->stacks;
    const service_key *service = &w->services[use->service];

    table_put_text(t, service->cluster);
    table_put_text(t, service->namespace_name);
    table_put_text(t, service->workload);
    table_put_uint(t, w->batch->day);
    table_put_text(t,
                   (text){d->stack_ids.data + (size_t)use->stack * STACK_ID_BYTES, STACK_ID_BYTES});
    table_put_uint(t, (unsigned char)d->normaliser.data[use->stack]);
    table_put_uint(t, (unsigned char)d->stack_flags.data[use->stack]);
    put_frames(t, f, d, d->stack_frame.at + starts[use->stack], d->stack_depth.at[use->stack]);
}

static int write_stacks(chs_transport *to, const batch_write *w, store_error *err)
{
    static const table_column columns[] = {
        KEY,
        {"day", "Date"},
        {"stack_id", "FixedString(16)"},
        {"normaliser", "UInt8"},
        {"flags", "UInt8"},
        {"class", "Array(" LOW ")"},
        {"method", "Array(" LOW ")"},
        {"file", "Array(" LOW ")"},
        {"line", "Array(UInt32)"},
        {"kind", "Array(UInt8)"},
    };
    size_t deepest;
    frames f = {0};
    table t;
    int rc = table_begin(&t, "profile_stacks", columns, COUNT(columns), err);
    size_t *starts = find_starts(&w->batch->stacks, &deepest);

    if (rc == 0 && (starts == NULL || frames_make(&f, &w->batch->stacks.strings, deepest) != 0))
        rc = sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory for a batch's stacks.");
    for (size_t i = 0; i < w->stack_count && rc == 0; i++)
        put_stack(&t, &f, w, &w->stacks[i], starts);
    /* A resend may contain other stacks: the token must distinguish the blocks. */
    if (rc == 0)
        rc = insert_table(&t, to, w, true, err);
    frames_free(&f);
    free(starts);
    table_end(&t);
    return rc;
}

/* ---- profile_windows ---- */

/* The rows of `seconds`, sorted by window: those of window i are order[starts[i]..starts[i+1]). */
typedef struct seconds_by_window {
    uint32_t *order;
    size_t *starts;
    chs_bytes *pool; /* of one window */
    uint64_t *second, *amount, *count;
    uint32_t *sample_rows, *thread_rows; /* by window: its number of rows in the other tables */
} seconds_by_window;

static void seconds_free(seconds_by_window *s)
{
    free(s->order);
    free(s->starts);
    free(s->pool);
    free(s->second);
    free(s->amount);
    free(s->count);
    free(s->sample_rows);
    free(s->thread_rows);
}

/* Returns how many rows each window has; NULL: no memory. */
static uint32_t *count_rows(u32s window, size_t windows)
{
    uint32_t *rows = calloc(windows + 1, sizeof(*rows));

    for (size_t i = 0; rows != NULL && i < window.count; i++)
        rows[window.at[i]]++;
    return rows;
}

static int seconds_gather(seconds_by_window *s, const profile_batch *b)
{
    size_t rows = b->seconds.window.count, windows = b->windows.target.count;

    s->order = malloc((rows + 1) * sizeof(*s->order));
    s->starts = calloc(windows + 2, sizeof(*s->starts));
    s->pool = malloc((rows + 1) * sizeof(*s->pool));
    s->second = malloc((rows + 1) * sizeof(*s->second));
    s->amount = malloc((rows + 1) * sizeof(*s->amount));
    s->count = malloc((rows + 1) * sizeof(*s->count));
    s->sample_rows = count_rows(b->samples.window, windows);
    s->thread_rows = count_rows(b->threads.window, windows);
    if (s->order == NULL || s->starts == NULL || s->pool == NULL || s->second == NULL ||
        s->amount == NULL || s->count == NULL || s->sample_rows == NULL || s->thread_rows == NULL)
        return -1;
    /* A counting sort: it keeps the batch's own order, so that a resend makes the same block. */
    for (size_t i = 0; i < rows; i++)
        s->starts[b->seconds.window.at[i] + 2]++;
    for (size_t i = 2; i < windows + 2; i++)
        s->starts[i] += s->starts[i - 1];
    for (size_t i = 0; i < rows; i++)
        s->order[s->starts[b->seconds.window.at[i] + 1]++] = (uint32_t)i;
    return 0;
}

static void put_seconds(table *t, seconds_by_window *s, const profile_batch *b, uint32_t window)
{
    size_t count = s->starts[window + 1] - s->starts[window];

    for (size_t i = 0; i < count; i++) {
        uint32_t row = s->order[s->starts[window] + i];
        text pool = string_of(b, &b->seconds.pool, row);
        s->pool[i] = (chs_bytes){pool.data, pool.length};
        s->second[i] = b->seconds.second.at[row];
        s->amount[i] = b->seconds.amount.at[row];
        s->count[i] = b->seconds.count.at[row];
    }
    table_put_texts(t, s->pool, count);
    table_put_uints(t, s->second, count);
    table_put_uints(t, s->amount, count);
    table_put_uints(t, s->count, count);
}

static void put_window(table *t, seconds_by_window *s, const profile_batch *b, uint32_t i)
{
    const window_columns *w = &b->windows;
    const target_columns *targets = &b->targets;
    uint32_t target = w->target.at[i];

    put_service(t, b, target, 1);
    table_put_text(t, string_of(b, &targets->workload_kind, target));
    table_put_uint(t, w->source.at[i]);
    table_put_ms(t, w->start_ms.at[i]);
    table_put_uint(t, target_id_at(targets, &b->strings, target));
    table_put_text(t, string_of(b, &targets->pod, target));
    table_put_text(t, string_of(b, &targets->container, target));
    table_put_text(t, b->collector.node);
    table_put_uint(t, targets->host_pid.at[target]);
    table_put_text(t, string_of(b, &targets->jvm_version, target));
    table_put_text(t, string_of(b, &targets->app_version, target));
    table_put_uint(t, w->length_ms.at[i]);
    table_put_uint(t, w->covered_ms.at[i]);
    table_put_text(t, string_of(b, &w->engine, i));
    table_put_uint(t, w->interval.at[i]);
    put_sums(t, &w->total, i, 1);
    table_put_uint(t, w->truncated_amount.at[i]);
    table_put_uint(t, w->truncated_count.at[i]);
    table_put_uint(t, w->dropped_amount.at[i]);
    table_put_uint(t, w->dropped_count.at[i]);
    table_put_uint(t, w->dropped_stacks.at[i]);
    table_put_uint(t, w->lost_events.at[i]);
    table_put_uint(t, w->reason.at[i]);
    table_put_uint(t, batch_mark(b));
    table_put_uint(t, s->sample_rows[i]);
    table_put_uint(t, s->thread_rows[i]);
    put_seconds(t, s, b, i);
}

static int write_windows(chs_transport *to, const batch_write *w, store_error *err)
{
    static const table_column columns[] = {
        KEY,
        {"workload_kind", LOW},
        {"source", "UInt8"},
        {"time", MOMENT},
        {"target_id", "UInt64"},
        {"pod", LOW},
        {"container", LOW},
        {"node", LOW},
        {"host_pid", "UInt32"},
        {"jvm_version", LOW},
        {"app_version", LOW},
        {"length_ms", "UInt32"},
        {"covered_ms", "UInt32"},
        {"engine", LOW},
        {"interval", "UInt64"},
        SUMS,
        {"truncated_amount", "UInt64"},
        {"truncated_count", "UInt64"},
        {"dropped_amount", "UInt64"},
        {"dropped_count", "UInt64"},
        {"dropped_stacks", "UInt64"},
        {"lost_events", "UInt64"},
        {"reason", "UInt16"},
        {"batch", "UInt32"},
        {"sample_rows", "UInt32"},
        {"thread_rows", "UInt32"},
        {"second_pool", "Array(" LOW ")"},
        {"second_index", "Array(UInt32)"},
        {"second_amount", "Array(UInt64)"},
        {"second_count", "Array(UInt64)"},
    };
    seconds_by_window s = {0};
    table t;
    int rc = table_begin(&t, "profile_windows", columns, COUNT(columns), err);

    if (rc == 0 && seconds_gather(&s, w->batch) != 0)
        rc = sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory for a batch's windows.");
    for (uint32_t i = 0; i < w->batch->windows.target.count && rc == 0; i++)
        put_window(&t, &s, w->batch, i);
    if (rc == 0)
        rc = insert_table(&t, to, w, false, err);
    seconds_free(&s);
    table_end(&t);
    return rc;
}

/* ---- profile_threads ---- */

/* Appends the `count` threads from `i` on, which belong to one window. */
static void put_threads(table *t, const profile_batch *b, table_keys *pools, size_t i, size_t count)
{
    const thread_columns *rows = &b->threads;
    uint32_t window = rows->window.at[i], target = b->windows.target.at[window];

    put_service(t, b, target, count);
    table_put_uint_times(t, b->windows.source.at[window], count);
    table_put_ms_times(t, b->windows.start_ms.at[window], count);
    table_put_uint_times(t, target_id_at(&b->targets, &b->strings, target), count);
    table_put_string_rows(t, pools, rows->pool.at + i, count);
    chs_column *names = table_next(t);
    for (size_t k = 0; k < count; k++) {
        text name = string_of(b, &rows->name, (uint32_t)(i + k));
        chs_append_bytes(names, name.data, name.length);
    }
    table_put_u64_rows(t, rows->os_tid.at + i, count);
    table_put_u64_rows(t, rows->java_tid.at + i, count);
    put_sums(t, &rows->sum, i, count);
}

static int write_threads(chs_transport *to, const batch_write *w, store_error *err)
{
    static const table_column columns[] = {
        KEY,           {"source", "UInt8"}, {"time", MOMENT},     {"target_id", "UInt64"},
        {"pool", LOW}, {"name", LOW},       {"os_tid", "UInt64"}, {"java_tid", "UInt64"},
        SUMS,
    };
    const u32s window = w->batch->threads.window;
    table_keys pools = {0};
    table t;
    int rc = table_begin(&t, "profile_threads", columns, COUNT(columns), err);

    if (rc == 0 && !table_keys_init(&pools, &w->batch->strings))
        rc = sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory for a batch's threads.");
    for (size_t i = 0, count; i < window.count && rc == 0; i += count) {
        count = rows_alike(window, i);
        put_threads(&t, w->batch, &pools, i, count);
    }
    if (rc == 0)
        rc = insert_table(&t, to, w, false, err);
    table_keys_free(&pools);
    table_end(&t);
    return rc;
}

/* ---- profile_samples ---- */

static void put_stack_ids(table *t, const profile_batch *b, const uint32_t *stacks, size_t count)
{
    chs_column *column = table_next(t);

    for (size_t i = 0; i < count; i++)
        chs_append_bytes(column, b->stack_ids.data + (size_t)stacks[i] * STACK_ID_BYTES,
                         STACK_ID_BYTES);
}

/* The strings of the columns of samples. */
typedef struct sample_keys {
    table_keys pools, objects;
} sample_keys;

/* Appends the `count` samples from `i` on, which belong to one window. */
static void put_samples(table *t, const profile_batch *b, sample_keys *keys, size_t i, size_t count)
{
    const sample_columns *rows = &b->samples;
    uint32_t window = rows->window.at[i], target = b->windows.target.at[window];

    put_service(t, b, target, count);
    table_put_uint_times(t, b->windows.source.at[window], count);
    table_put_ms_times(t, b->windows.start_ms.at[window], count);
    put_stack_ids(t, b, rows->stack.at + i, count);
    table_put_uint_times(t, target_id_at(&b->targets, &b->strings, target), count);
    table_put_text_times(t, string_of(b, &b->targets.pod, target), count);
    table_put_text_times(t, string_of(b, &b->targets.container, target), count);
    table_put_text_times(t, b->collector.node, count);
    table_put_text_times(t, string_of(b, &b->targets.app_version, target), count);
    table_put_string_rows(t, &keys->pools, rows->pool.at + i, count);
    table_put_u32_rows(t, rows->facet.at + i, count);
    table_put_string_rows(t, &keys->objects, rows->object.at + i, count);
    put_sums(t, &rows->sum, i, count);
}

static int write_samples(chs_transport *to, const batch_write *w, store_error *err)
{
    static const table_column columns[] = {
        KEY,
        {"source", "UInt8"},
        {"time", MOMENT},
        {"stack_id", "FixedString(16)"},
        {"target_id", "UInt64"},
        {"pod", LOW},
        {"container", LOW},
        {"node", LOW},
        {"app_version", LOW},
        {"pool", LOW},
        {"facet", "UInt8"},
        {"object", LOW},
        SUMS,
    };
    const u32s window = w->batch->samples.window;
    sample_keys keys = {0};
    table t;
    int rc = table_begin(&t, "profile_samples", columns, COUNT(columns), err);

    if (rc == 0 && (!table_keys_init(&keys.pools, &w->batch->strings) ||
                    !table_keys_init(&keys.objects, &w->batch->strings)))
        rc = sql_fail(err, STORE_ERR_UNAVAILABLE, "No memory for a batch's samples.");
    for (size_t i = 0, count; i < window.count && rc == 0; i += count) {
        count = rows_alike(window, i);
        put_samples(&t, w->batch, &keys, i, count);
    }
    if (rc == 0)
        rc = insert_table(&t, to, w, false, err);
    table_keys_free(&keys.pools);
    table_keys_free(&keys.objects);
    table_end(&t);
    return rc;
}

static const struct {
    const char *name;
    int (*write)(chs_transport *, const batch_write *, store_error *);
} tables[TABLES] = {
    [TABLE_STACKS] = {"profile_stacks", write_stacks},
    [TABLE_THREADS] = {"profile_threads", write_threads},
    [TABLE_SAMPLES] = {"profile_samples", write_samples},
    [TABLE_WINDOWS] = {"profile_windows", write_windows},
    [TABLE_SNAPSHOTS] = {"thread_snapshots", clickhouse__write_snapshots},
    [TABLE_DEADLOCKS] = {"deadlock_sightings", clickhouse__write_deadlocks},
    [TABLE_RUNS] = {"thread_snapshot_runs", clickhouse__write_snapshot_runs},
    [TABLE_LEDGER] = {"ingestion_batches", clickhouse__write_ledger},
};

static int write_table(const clickhouse *c, chs_transport *to, const batch_write *w, batch_table of,
                       store_error *err)
{
    uint64_t began_ns = clock_monotonic_ns();
    int rc = tables[of].write(to, w, err);

    if (rc == 0)
        metrics_observe(c->options.metrics, METRIC_INSERT_SECONDS, tables[of].name,
                        clock_monotonic_ns() - began_ns);
    return rc;
}

/* Finds out whether the block that was just inserted is still missing, because a server that was
 * killed had recorded its token but not the block. */
static int find_lost(chs_transport *to, const batch_write *w, batch_table of, bool *lost,
                     store_error *err)
{
    block_state state;
    int rc = clickhouse__holds(to, w, of, &state, err);

    *lost = false;
    if (rc == 0 && state == BLOCK_MISSING)
        rc = clickhouse__may_lose_blocks(to, tables[of].name, lost, err);
    return rc;
}

/*
 * Writes the block of a table that may have it already. The first token protects against another
 * try at the same moment, whose rows the check could not see. The next token is used only if the
 * block of the one before is missing, so that all tries use the same tokens in the same order. The
 * table of stacks may hold equal rows, so that each try has a token of its own there.
 */
static int write_in_doubt(const clickhouse *c, chs_transport *to, const batch_write *w,
                          batch_table of, store_error *err)
{
    enum { KILLS_MAX = 8 }; /* kills of the server, each between a token and its block */
    batch_write one = *w;
    block_state state = BLOCK_NOT_ASKED;
    bool missing = true;
    int rc = 0;

    if (of != TABLE_LEDGER) /* the caller has checked that the ledger does not have the batch */
        rc = clickhouse__holds(to, w, of, &state, err);
    if (rc == 0 && state != BLOCK_NOT_ASKED)
        metrics_add(c->options.metrics, METRIC_IN_DOUBT_CHECKS,
                    state == BLOCK_HELD ? "stored" : "missing", NULL, 1);
    if (rc != 0 || state == BLOCK_HELD)
        return rc;
    one.token_number = of == TABLE_STACKS ? w->batch->attempt : 0;
    for (unsigned i = 0; i < KILLS_MAX && missing && rc == 0; i++, one.token_number++) {
        rc = write_table(c, to, &one, of, err);
        if (rc == 0)
            rc = find_lost(to, w, of, &missing, err);
    }
    if (rc == 0 && missing)
        rc = sql_fail(err, STORE_ERR_UNAVAILABLE, "%s does not keep the rows that it takes.",
                      tables[of].name);
    return rc;
}

int clickhouse__write_batch(void *self, const batch_write *w, store_error *err)
{
    clickhouse *c = self;
    chs_transport *to = clickhouse__take(c, &c->writers, err);
    int rc = 0;

    if (to == NULL)
        return err->code;
    for (batch_table i = 0; i < TABLES && rc == 0; i++)
        rc = w->batch->attempt > 1 ? write_in_doubt(c, to, w, i, err)
                                   : write_table(c, to, w, i, err);
    clickhouse__give(c, &c->writers, to);
    return rc;
}
