/* SPDX-License-Identifier: Apache-2.0 */
/* Reads over thread snapshots. */
#include <stddef.h>
#include <string.h>

#include <catalogue/profile_type.h>

#include "read.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MS(column)   "toUInt64(toUnixTimestamp64Milli(" column "))"
#define NO_STACK     "toFixedString('', 16)"

static void add_condition(statement *s, const char *condition)
{
    sql_add(s, " AND ");
    sql_add(s, condition);
}

/* A condition on the runs of snapshots, which alone know where a target is. */
static bool has_place(const store_filter *f)
{
    return f->pod != NULL || f->container != NULL || f->version != NULL;
}

static void add_thread_conditions(statement *s, const store_filter *f)
{
    if (has_place(f)) {
        sql_add(s, " AND target_id IN (SELECT target_id FROM thread_snapshot_runs");
        sql_where_windows(s, f);
        sql_add(s, ")");
    } else if (f->target != 0) {
        add_condition(s, "target_id = {target:UInt64}");
    }
    if (f->pool != NULL)
        add_condition(s, "pool = {pool:String}");
    if (f->java_tid != 0)
        add_condition(s, "java_tid = {java_tid:UInt64}");
}

static void add_thread_params(statement *s, const store_filter *f)
{
    sql_filter_params(s, f);
    sql_number(s, "limit", f->limit);
    if (f->java_tid != 0)
        sql_number(s, "java_tid", f->java_tid);
    if (f->bucket_ms != 0)
        sql_number(s, "bucket_ms", f->bucket_ms);
}

/* ---- sources ---- */

typedef struct sources {
    source_fn each;
    void *context;
} sources;

static int on_sources(void *context, const chs_result *block)
{
    enum { NUMBERS = 9, TEXTS = 3 };
    static const char *const numbers[NUMBERS] = {"target", "pid",         "taken",
                                                 "failed", "threads_cut", "failure",
                                                 "first",  "last_time",   "failed_time"};
    static const char *const texts[TEXTS] = {"o_pod", "o_container", "o_node"};
    sources *r = context;
    key_columns keys;
    chs_uints n[NUMBERS];
    chs_strings t[TEXTS];

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_keys(&keys, block) != 0)
        return -1;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (read_uints(&n[i], block, numbers[i]) != 0)
            return -1;
    }
    for (size_t i = 0; i < TEXTS; i++) {
        if (read_strings(&t[i], block, texts[i]) != 0)
            return -1;
    }
    for (uint64_t i = 0; i < n[0].rows; i++) {
        const snapshot_source row = {
            .key = read_key(&keys, i),
            .target = n[0].values[i],
            .pod = read_text(&t[0], i),
            .container = read_text(&t[1], i),
            .node = read_text(&t[2], i),
            .pid = n[1].values[i],
            .taken = n[2].values[i],
            .failed = n[3].values[i],
            .cut = n[4].values[i],
            .reason = n[5].values[i],
            .first_ms = n[6].values[i],
            .last_ms = n[7].values[i],
            .failed_ms = n[8].values[i],
        };
        if (r->each(r->context, &row) != 0)
            return -1;
    }
    return 0;
}

int clickhouse__read_sources(void *self, const store_filter *filter, source_fn each, void *context,
                             store_error *err)
{
    sources r = {each, context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT cluster, namespace, workload, target_id AS target, any(pod) AS o_pod, "
                "any(container) AS o_container, any(node) AS o_node, toUInt64(any(host_pid)) AS "
                "pid, countIf(reason = 0) AS taken, countIf(reason != 0) AS failed, "
                "countIf(bitAnd(cut, 1) != 0) AS threads_cut, "
                "toUInt64(argMaxIf(reason, time, reason != 0)) AS failure");
    sql_add(&s, ", " MS("minIf(time, reason = 0)") " AS first");
    sql_add(&s, ", " MS("maxIf(time, reason = 0)") " AS last_time");
    sql_add(&s, ", " MS("maxIf(time, reason != 0)") " AS failed_time");
    sql_add(&s, " FROM thread_snapshot_runs");
    sql_where_windows(&s, filter);
    sql_add(&s, " GROUP BY cluster, namespace, workload, target_id ORDER BY cluster, namespace, "
                "workload, target_id LIMIT {limit:UInt64}");
    add_thread_params(&s, filter);
    return read_run(self, &s, on_sources, &r, err);
}

/* ---- threads ---- */

/* The columns of every read of threads: where a value goes, and what it is where a read has none.
 */
typedef struct number_column {
    const char *name;
    size_t offset;
} number_column;

#define NUMBER(name, field)                                                                        \
    {                                                                                              \
        name, offsetof(thread_row, field)                                                          \
    }

static const number_column numbers[] = {
    NUMBER("target", target),
    NUMBER("first", first_ms),
    NUMBER("last_time", last_ms),
    NUMBER("tid", java_tid),
    NUMBER("os", os_tid),
    NUMBER("thread_state", state),
    NUMBER("thread_flags", flags),
    NUMBER("cpu", cpu_ns),
    NUMBER("interval", interval_ms),
    NUMBER("snapshots", snapshots),
    NUMBER("runnable", runnable),
    NUMBER("blocked", blocked),
    NUMBER("waiting", waiting),
    NUMBER("timed_waiting", timed_waiting),
    NUMBER("lock_waits", lock_waits),
    NUMBER("threads", threads),
    NUMBER("awaited_id", lock_id),
    NUMBER("holder_tid", owner_tid),
    NUMBER("kind_held", held_kind),
    NUMBER("depth_held", held_depth),
};
static const number_column texts[] = {
    NUMBER("thread_name", name), NUMBER("thread_pool", pool), NUMBER("awaited_class", lock_class),
    NUMBER("holder", owner),     NUMBER("carried", carries),  NUMBER("stack", stack_id),
};

/* What a column of a read is; the columns it does not name are zero or empty. */
typedef struct expression {
    const char *name, *value;
} expression;

enum { EXPRESSIONS_MAX = 20 };

/* One read: its expressions, the table, more conditions, and what follows them. */
typedef struct thread_query {
    expression columns[EXPRESSIONS_MAX];
    const char *from, *condition, *tail;
} thread_query;

#define CPU      "sum(toUInt64(if(cpu_ns > 0, cpu_ns - 1, 0)))"
#define INTERVAL "sum(toUInt64(if(cpu_ns > 0, interval_ms, 0)))"
#define COUNTS                                                                                     \
    {"cpu", CPU}, {"interval", INTERVAL}, {"runnable", "countIf(state = 2)"},                      \
        {"blocked", "countIf(state = 3)"}, {"waiting", "countIf(state = 4)"},                      \
        {"timed_waiting", "countIf(state = 5)"}, {"lock_waits", "countIf(owner_tid != 0)"},        \
        {"threads", "uniqExact(target_id, java_tid)"},                                             \
    {                                                                                              \
        "snapshots", "uniqExact(target_id, time)"                                                  \
    }
#define LAST_STACK "argMaxIf(stack_id, time, stack_id != " NO_STACK ")"

static const thread_query queries[THREAD_READS] = {
    [THREADS_USAGE] =
        {{{"target", "target_id"},
          {"first", MS("min(time)")},
          {"last_time", MS("max(time)")},
          {"tid", "java_tid"},
          {"os", "max(os_tid)"},
          {"thread_state", "toUInt64(argMax(state, time))"},
          {"thread_flags", "toUInt64(argMax(flags, time))"},
          {"cpu", CPU},
          {"interval", INTERVAL},
          {"snapshots", "count()"},
          {"runnable", "countIf(state = 2)"},
          {"thread_name", "argMax(name, time)"},
          {"thread_pool", "toString(argMax(pool, time))"},
          {"carried", "argMax(carries, time)"},
          {"stack", LAST_STACK}},
         "thread_snapshots",
         NULL,
         " GROUP BY target_id, java_tid ORDER BY cpu DESC, runnable DESC, target, tid "
         "LIMIT {limit:UInt64}"},
    [THREADS_NEWEST] = {{{"target", "target_id"},
                         {"first", MS("time")},
                         {"last_time", MS("time")},
                         {"tid", "java_tid"},
                         {"os", "os_tid"},
                         {"thread_state", "toUInt64(state)"},
                         {"thread_flags", "toUInt64(flags)"},
                         {"cpu", "toUInt64(if(cpu_ns > 0, cpu_ns - 1, 0))"},
                         {"interval", "toUInt64(if(cpu_ns > 0, interval_ms, 0))"},
                         {"snapshots", "toUInt64(1)"},
                         {"awaited_id", "toUInt64(lock_id)"},
                         {"holder_tid", "owner_tid"},
                         {"thread_name", "name"},
                         {"thread_pool", "toString(pool)"},
                         {"awaited_class", "toString(lock_class)"},
                         {"holder", "owner"},
                         {"carried", "carries"},
                         {"stack", "stack_id"}},
                        "thread_snapshots",
                        "NEWEST",
                        " ORDER BY target_id, java_tid LIMIT {limit:UInt64}"},
    [THREADS_OF_ONE] = {{{"target", "target_id"},
                         {"first", MS("time")},
                         {"last_time", MS("time")},
                         {"tid", "java_tid"},
                         {"os", "os_tid"},
                         {"thread_state", "toUInt64(state)"},
                         {"thread_flags", "toUInt64(flags)"},
                         {"cpu", "toUInt64(if(cpu_ns > 0, cpu_ns - 1, 0))"},
                         {"interval", "toUInt64(if(cpu_ns > 0, interval_ms, 0))"},
                         {"snapshots", "toUInt64(1)"},
                         {"awaited_id", "toUInt64(lock_id)"},
                         {"holder_tid", "owner_tid"},
                         {"thread_name", "name"},
                         {"thread_pool", "toString(pool)"},
                         {"awaited_class", "toString(lock_class)"},
                         {"holder", "owner"},
                         {"carried", "carries"},
                         {"stack", "stack_id"}},
                        "thread_snapshots",
                        NULL,
                        " ORDER BY time DESC LIMIT {limit:UInt64}"},
    [THREADS_POOLS] = {{{"thread_pool", "toString(pool)"}, COUNTS},
                       "thread_snapshots",
                       NULL,
                       " GROUP BY pool ORDER BY cpu DESC, threads DESC, thread_pool LIMIT "
                       "{limit:UInt64}"},
    [THREADS_LANES] = {{{"thread_pool", "toString(pool)"},
                        {"first", "toUInt64({from_ms:UInt64} + intDiv(" MS(
                                      "time") " - {from_ms:UInt64}, "
                                              "{bucket_ms:UInt64}) * {bucket_ms:UInt64})"},
                        COUNTS},
                       "thread_snapshots",
                       NULL,
                       " GROUP BY thread_pool, first ORDER BY thread_pool, first LIMIT 100000"},
    [THREADS_WAITS] = {{{"target", "target_id"},
                        {"first", MS("min(time)")},
                        {"last_time", MS("max(time)")},
                        {"tid", "java_tid"},
                        {"os", "max(os_tid)"},
                        {"thread_state", "toUInt64(argMax(state, time))"},
                        {"thread_flags", "toUInt64(argMax(flags, time))"},
                        {"snapshots", "count()"},
                        {"awaited_id", "toUInt64(lock_id)"},
                        {"holder_tid", "argMax(owner_tid, time)"},
                        {"thread_name", "argMax(name, time)"},
                        {"thread_pool", "toString(argMax(pool, time))"},
                        {"awaited_class", "toString(lock_class)"},
                        {"holder", "argMax(owner, time)"},
                        {"carried", "argMax(carries, time)"},
                        {"stack", LAST_STACK}},
                       "thread_snapshots",
                       "lock_class != ''",
                       " GROUP BY target_id, java_tid, lock_class, lock_id ORDER BY target, "
                       "awaited_class, awaited_id, tid LIMIT {limit:UInt64}"},
    [THREADS_HOLDERS] =
        {{{"target", "target_id"},
          {"first", MS("min(time)")},
          {"last_time", MS("max(time)")},
          {"tid", "java_tid"},
          {"snapshots", "count()"},
          {"awaited_id", "toUInt64(id)"},
          {"kind_held", "toUInt64(any(kind))"},
          {"depth_held", "toUInt64(argMaxIf(depth, time, stack_id != " NO_STACK "))"},
          {"thread_name", "argMax(name, time)"},
          {"thread_pool", "toString(argMax(pool, time))"},
          {"awaited_class", "toString(class)"},
          {"stack", LAST_STACK}},
         "thread_snapshots ARRAY JOIN held_class AS class, held_id AS id, held_kind "
         "AS kind, held_depth AS depth",
         "AWAITED",
         " GROUP BY target_id, class, id, java_tid ORDER BY target, awaited_class, "
         "awaited_id, snapshots DESC LIMIT {limit:UInt64}"},
    [THREADS_PROFILE] = {{{"target", "target_id"},
                          {"first", MS("min(time)")},
                          {"last_time", MS("max(time)")},
                          {"tid", "java_tid"},
                          {"os", "max(os_tid)"},
                          {"cpu", "sum(value)"},
                          {"thread_name", "argMax(name, time)"},
                          {"thread_pool", "toString(argMax(pool, time))"}},
                         "profile_threads",
                         NULL,
                         " GROUP BY target_id, java_tid ORDER BY cpu DESC, target, tid LIMIT "
                         "{limit:UInt64}"},
    [THREADS_DELAY] = {{{"cpu", "sum(value)"}, {"awaited_class", "toString(object)"}},
                       "profile_samples",
                       "object != ''",
                       " GROUP BY object ORDER BY cpu DESC LIMIT {limit:UInt64}"},
};

static const char *value_of(const thread_query *q, const char *name, const char *fallback)
{
    for (size_t i = 0; i < EXPRESSIONS_MAX && q->columns[i].name != NULL; i++) {
        if (strcmp(q->columns[i].name, name) == 0)
            return q->columns[i].value;
    }
    return fallback;
}

static void add_column(statement *s, const thread_query *q, const char *name, const char *fallback,
                       bool first)
{
    sql_add(s, first ? "SELECT " : ", ");
    sql_add(s, value_of(q, name, fallback));
    sql_add(s, " AS ");
    sql_add(s, name);
}

/* Conditions that need a query of their own. */
static void add_own_condition(statement *s, const thread_query *q, const store_filter *f)
{
    if (q->condition == NULL)
        return;
    if (strcmp(q->condition, "NEWEST") == 0) {
        sql_add(s, " AND (target_id, time) IN (SELECT target_id, max(time) FROM "
                   "thread_snapshot_runs");
        sql_where(s, f, "time");
        sql_add(s, " AND reason = 0 GROUP BY target_id)");
    } else if (strcmp(q->condition, "AWAITED") == 0) {
        sql_add(s, " AND (target_id, class, id) IN (SELECT target_id, lock_class, lock_id FROM "
                   "thread_snapshots");
        sql_where(s, f, "time");
        sql_add(s, " AND lock_class != '')");
    } else {
        add_condition(s, q->condition);
    }
}

typedef struct threads {
    thread_fn each;
    void *context;
} threads;

static int on_threads(void *context, const chs_result *block)
{
    threads *r = context;
    chs_uints n[COUNT(numbers)];
    chs_strings t[COUNT(texts)];

    if (chs_result_rows(block) == 0)
        return 0;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (read_uints(&n[i], block, numbers[i].name) != 0)
            return -1;
    }
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (read_strings(&t[i], block, texts[i].name) != 0)
            return -1;
    }
    for (uint64_t row = 0; row < n[0].rows; row++) {
        thread_row out = {0};
        for (size_t i = 0; i < COUNT(numbers); i++)
            memcpy((char *)&out + numbers[i].offset, &n[i].values[row], sizeof(uint64_t));
        for (size_t i = 0; i < COUNT(texts); i++) {
            text value = read_text(&t[i], row);
            memcpy((char *)&out + texts[i].offset, &value, sizeof(value));
        }
        if (out.stack_id.length != STACK_ID_BYTES || r->each(r->context, &out) != 0)
            return -1;
    }
    return 0;
}

int clickhouse__read_threads(void *self, thread_read what, const store_filter *filter,
                             thread_fn each, void *context, store_error *err)
{
    threads r = {each, context};
    const thread_query *q = &queries[what];
    store_filter f = *filter;
    statement s;

    f.type = what == THREADS_PROFILE ? PROFILE_TYPE_CPU
             : what == THREADS_DELAY ? PROFILE_TYPE_LOCK_DELAY
                                     : 0;
    sql_begin(&s);
    for (size_t i = 0; i < COUNT(numbers); i++)
        add_column(&s, q, numbers[i].name, "toUInt64(0)", i == 0);
    for (size_t i = 0; i < COUNT(texts); i++)
        add_column(&s, q, texts[i].name,
                   texts[i].offset == offsetof(thread_row, stack_id) ? NO_STACK : "''", false);
    sql_add(&s, " FROM ");
    sql_add(&s, q->from);
    sql_where(&s, &f, "time");
    if (what == THREADS_PROFILE && f.pool != NULL)
        add_condition(&s, "pool = {pool:String}");
    if (what == THREADS_PROFILE && f.target != 0)
        add_condition(&s, "target_id = {target:UInt64}");
    if (what != THREADS_PROFILE)
        add_thread_conditions(&s, &f);
    add_own_condition(&s, q, &f);
    sql_add(&s, q->tail);
    add_thread_params(&s, &f);
    return read_run(self, &s, on_threads, &r, err);
}

/* ---- deadlocks ---- */

typedef struct sightings {
    sighting_fn each;
    void *context;
} sightings;

static int on_sightings(void *context, const chs_result *block)
{
    enum { NUMBERS = 9, TEXTS = 3 };
    static const char *const names[NUMBERS] = {"target", "number", "first", "last_time", "place",
                                               "tid",    "id",     "kind",  "depth"};
    static const char *const words[TEXTS] = {"thread_name", "class", "stack"};
    sightings *r = context;
    key_columns keys;
    chs_uints n[NUMBERS];
    chs_strings t[TEXTS];

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_keys(&keys, block) != 0)
        return -1;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (read_uints(&n[i], block, names[i]) != 0)
            return -1;
    }
    for (size_t i = 0; i < TEXTS; i++) {
        if (read_strings(&t[i], block, words[i]) != 0)
            return -1;
    }
    for (uint64_t i = 0; i < n[0].rows; i++) {
        const sighting_row row = {
            .key = read_key(&keys, i),
            .target = n[0].values[i],
            .cycle = n[1].values[i],
            .first_ms = n[2].values[i],
            .last_ms = n[3].values[i],
            .position = n[4].values[i],
            .java_tid = n[5].values[i],
            .lock_id = n[6].values[i],
            .lock_kind = n[7].values[i],
            .held_depth = n[8].values[i],
            .name = read_text(&t[0], i),
            .lock_class = read_text(&t[1], i),
            .stack_id = read_text(&t[2], i),
        };
        if (row.stack_id.length != STACK_ID_BYTES || r->each(r->context, &row) != 0)
            return -1;
    }
    return 0;
}

int clickhouse__read_sightings(void *self, const store_filter *filter, sighting_fn each,
                               void *context, store_error *err)
{
    sightings r = {each, context};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT cluster, namespace, workload, target_id AS target, cycle AS number, "
                "toUInt64(position) AS place, argMax(java_tid, time) AS tid, "
                "toUInt64(argMax(lock_id, time)) AS id, toUInt64(max(lock_kind)) AS kind, "
                "argMax(name, time) AS thread_name, toString(argMax(lock_class, time)) AS class");
    sql_add(&s, ", " MS("min(time)") " AS first");
    sql_add(&s, ", " MS("max(time)") " AS last_time");
    sql_add(&s, ", toUInt64(argMaxIf(held_depth, time, stack_id != " NO_STACK ")) AS depth");
    sql_add(&s, ", " LAST_STACK " AS stack FROM deadlock_sightings");
    sql_where(&s, filter, "time");
    add_thread_conditions(&s, filter);
    sql_add(&s, " GROUP BY cluster, namespace, workload, target_id, cycle, position ORDER BY "
                "max(last_time) OVER (PARTITION BY target, number) DESC, target, number, place "
                "LIMIT {limit:UInt64}");
    add_thread_params(&s, filter);
    return read_run(self, &s, on_sightings, &r, err);
}
