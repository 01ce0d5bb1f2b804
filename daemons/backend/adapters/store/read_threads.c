/* SPDX-License-Identifier: Apache-2.0 */
/* Reads thread snapshots. */
#include <string.h>

#include <catalogue/profile_type.h>

#include "read.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MS           READ_MS
#define NO_STACK     "toFixedString('', 16)"

static void add_condition(statement *s, const char *condition)
{
    sql_add(s, " AND ");
    sql_add(s, condition);
}

/* Whether a condition needs the runs of snapshots: only they know where a target runs. */
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

static const row_field source_numbers[] = {
    ROW_FIELD("target", snapshot_source, target),
    ROW_FIELD("pid", snapshot_source, pid),
    ROW_FIELD("taken", snapshot_source, taken),
    ROW_FIELD("failed", snapshot_source, failed),
    ROW_FIELD("threads_cut", snapshot_source, cut),
    ROW_FIELD("stacks_cut", snapshot_source, stacks_cut),
    ROW_FIELD("no_cpu", snapshot_source, no_cpu),
    ROW_FIELD("failure", snapshot_source, reason),
    ROW_FIELD("first", snapshot_source, first_ms),
    ROW_FIELD("last_time", snapshot_source, last_ms),
    ROW_FIELD("failed_time", snapshot_source, failed_ms),
    ROW_FIELD("whole_time", snapshot_source, whole_ms),
};
static const row_field source_texts[] = {
    ROW_KEY(snapshot_source),
    ROW_FIELD("o_pod", snapshot_source, pod),
    ROW_FIELD("o_container", snapshot_source, container),
    ROW_FIELD("o_node", snapshot_source, node),
};
static const row_shape source_shape = ROW_SHAPE(source_numbers, source_texts);

static int give_source(void *context, const void *row)
{
    const sources *r = context;

    return r->each(r->context, row);
}

static int on_sources(void *context, const chs_result *block)
{
    snapshot_source row;

    return read_rows(block, &source_shape, &row, sizeof(row), give_source, context);
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
                "countIf(bitAnd(cut, 2) != 0) AS stacks_cut, "
                "countIf(reason = 0 AND bitAnd(offers, 1) = 0) AS no_cpu, "
                "toUInt64(argMaxIf(reason, time, reason != 0)) AS failure");
    sql_add(&s, ", " MS("minIf(time, reason = 0)") " AS first");
    sql_add(&s, ", " MS("maxIf(time, reason = 0)") " AS last_time");
    sql_add(&s, ", " MS("maxIf(time, reason != 0)") " AS failed_time");
    sql_add(
        &s,
        ", " MS(
            "maxIf(time, reason = 0 AND bitAnd(cut, 2) = 0 AND interval_ms > 0)") " AS whole_time");
    sql_add(&s, " FROM thread_snapshot_runs");
    sql_where_windows(&s, filter);
    sql_add(&s, " GROUP BY cluster, namespace, workload, target_id ORDER BY cluster, namespace, "
                "workload, target_id LIMIT {limit:UInt64}");
    add_thread_params(&s, filter);
    return read_run(self, &s, on_sources, &r, err);
}

/* ---- threads ---- */

/* Every column that reads of threads may have. */
#define NUMBER(name, field) ROW_FIELD(name, thread_row, field)

static const row_field numbers[] = {
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
    NUMBER("carried_tid", carries_tid),
};
static const row_field texts[] = {
    NUMBER("thread_name", name), NUMBER("thread_pool", pool), NUMBER("awaited_class", lock_class),
    NUMBER("holder", owner),     NUMBER("carried", carries),  NUMBER("stack", stack_id),
};
/* The value of a column in a read; columns without one are zero or empty. */
typedef struct expression {
    const char *name, *value;
} expression;

enum { EXPRESSIONS_MAX = 20 };

/* One read: its expressions, its table, more conditions, and the text after them. */
typedef struct thread_query {
    expression columns[EXPRESSIONS_MAX];
    const char *from, *condition, *tail;
    void (*add)(statement *s, const store_filter *f); /* adds a condition that has a subquery */
} thread_query;

static void add_newest(statement *s, const store_filter *f)
{
    sql_add(s, " AND (target_id, time) IN (SELECT target_id, max(time) FROM "
               "thread_snapshot_runs");
    sql_where(s, f, "time");
    sql_add(s, " AND reason = 0 GROUP BY target_id)");
}

static void add_awaited(statement *s, const store_filter *f)
{
    sql_add(s, " AND (target_id, class, id) IN (SELECT target_id, lock_class, lock_id FROM "
               "thread_snapshots");
    sql_where(s, f, "time");
    sql_add(s, " AND lock_class != '')");
}

/* Most threads are idle: the columns of those that are not are read alone. */
static void add_used(statement *s, const store_filter *f)
{
    if (f->busy_percent == 0)
        return;
    sql_add(s, " AND (target_id, java_tid) IN (SELECT target_id, java_tid FROM thread_snapshots");
    sql_where(s, f, "time");
    sql_add(s, " AND (cpu_ns > 1 OR state = 2))");
}

static void add_owners(statement *s, const store_filter *f)
{
    sql_add(s, " AND (carries_tid != 0 OR (target_id, java_tid) IN (SELECT target_id, owner_tid "
               "FROM thread_snapshots");
    sql_where(s, f, "time");
    sql_add(s, " AND owner_tid != 0))");
}

#define ONE_CPU      "toUInt64(if(cpu_ns > 0, cpu_ns - 1, 0))"
#define ONE_INTERVAL "toUInt64(if(cpu_ns > 0, interval_ms, 0))"
#define CPU          "sum(" ONE_CPU ")"
#define INTERVAL     "sum(" ONE_INTERVAL ")"
/* The columns of a thread in one snapshot. */
#define AS_SNAPSHOT                                                                                \
    {"target", "target_id"}, {"first", MS("time")}, {"last_time", MS("time")},                     \
        {"tid", "java_tid"}, {"os", "os_tid"}, {"thread_state", "toUInt64(state)"},                \
        {"thread_flags", "toUInt64(flags)"}, {"cpu", ONE_CPU}, {"interval", ONE_INTERVAL},         \
        {"snapshots", "toUInt64(1)"}, {"awaited_id", "toUInt64(lock_id)"},                         \
        {"holder_tid", "owner_tid"}, {"thread_name", "name"}, {"thread_pool", "toString(pool)"},   \
        {"awaited_class", "toString(lock_class)"}, {"holder", "owner"}, {"carried", "carries"},    \
        {"carried_tid", "carries_tid"},                                                            \
    {                                                                                              \
        "stack", "stack_id"                                                                        \
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
          {"carried_tid", "argMax(carries_tid, time)"},
          {"stack", LAST_STACK}},
         "thread_snapshots",
         NULL,
         " GROUP BY target_id, java_tid ORDER BY cpu DESC, runnable DESC, target, tid "
         "LIMIT {limit:UInt64}",
         add_used},
    [THREADS_OWNERS] = {{{"target", "target_id"},
                         {"last_time", MS("max(time)")},
                         {"tid", "java_tid"},
                         {"thread_name", "argMax(name, time)"},
                         {"thread_pool", "toString(argMax(pool, time))"},
                         {"carried_tid", "argMax(carries_tid, time)"},
                         {"stack", LAST_STACK}},
                        "thread_snapshots",
                        NULL,
                        " GROUP BY target_id, java_tid ORDER BY target, tid LIMIT {limit:UInt64}",
                        add_owners},
    [THREADS_NEWEST] = {{AS_SNAPSHOT},
                        "thread_snapshots",
                        NULL,
                        " ORDER BY target_id, java_tid LIMIT {limit:UInt64}",
                        add_newest},
    [THREADS_OF_ONE] =
        {{AS_SNAPSHOT}, "thread_snapshots", NULL, " ORDER BY time DESC LIMIT {limit:UInt64}", NULL},
    [THREADS_LANES] = {{{"thread_pool", "toString(pool)"},
                        {"first", "toUInt64({from_ms:UInt64} + intDiv(" MS(
                                      "time") " - {from_ms:UInt64}, "
                                              "{bucket_ms:UInt64}) * {bucket_ms:UInt64})"},
                        {"cpu", CPU},
                        {"interval", INTERVAL},
                        {"runnable", "countIf(state = 2)"},
                        {"blocked", "countIf(state = 3)"},
                        {"waiting", "countIf(state = 4)"},
                        {"timed_waiting", "countIf(state = 5)"},
                        {"lock_waits", "countIf(owner_tid != 0)"},
                        {"threads", "uniqExact(cityHash64(target_id, java_tid))"},
                        {"snapshots", "uniqExact(cityHash64(target_id, time))"}},
                       "thread_snapshots",
                       NULL,
                       " GROUP BY thread_pool, first ORDER BY thread_pool, first LIMIT 100000",
                       NULL},
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
                        {"carried_tid", "argMax(carries_tid, time)"},
                        {"stack", LAST_STACK}},
                       "thread_snapshots",
                       "lock_class != ''",
                       " GROUP BY target_id, java_tid, lock_class, lock_id ORDER BY target, "
                       "awaited_class, awaited_id, tid LIMIT {limit:UInt64}",
                       NULL},
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
         "notEmpty(held_id)",
         " GROUP BY target_id, class, id, java_tid ORDER BY target, awaited_class, "
         "awaited_id, snapshots DESC LIMIT {limit:UInt64}",
         add_awaited},
    [THREADS_PROFILE] = {{{"target", "target_id"},
                          {"first", MS("min(time)")},
                          {"last_time", MS("max(time)")},
                          {"tid", "java_tid"},
                          {"os", "max(os_tid)"},
                          {"cpu", "sum(amount)"},
                          {"thread_name", "argMax(name, time)"},
                          {"thread_pool", "toString(argMax(pool, time))"}},
                         "profile_threads",
                         NULL,
                         " GROUP BY target_id, java_tid ORDER BY cpu DESC, target, tid LIMIT "
                         "{limit:UInt64}",
                         NULL},
    [THREADS_DELAY] = {{{"cpu", "sum(amount)"}, {"awaited_class", "toString(object)"}},
                       "profile_samples",
                       "object != ''",
                       " GROUP BY object ORDER BY cpu DESC LIMIT {limit:UInt64}",
                       NULL},
};

/* The columns of one read, and what takes its rows. */
typedef struct threads {
    row_field numbers[EXPRESSIONS_MAX], texts[EXPRESSIONS_MAX];
    row_shape shape;
    thread_fn each;
    void *context;
} threads;

/* The field of a column by its name; NULL: it is not one of these. */
static const row_field *find_field(const row_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].column, name) == 0)
            return &fields[i];
    }
    return NULL;
}

/* The columns that the read names, and none for the others: a planner pays for each. */
static void add_columns(statement *s, const thread_query *q, threads *r)
{
    r->shape = (row_shape){r->numbers, r->texts, 0, 0};
    for (size_t i = 0; i < EXPRESSIONS_MAX && q->columns[i].name != NULL; i++) {
        const expression *one = &q->columns[i];
        const row_field *number = find_field(numbers, COUNT(numbers), one->name);
        if (number != NULL)
            r->numbers[r->shape.number_count++] = *number;
        else
            r->texts[r->shape.text_count++] = *find_field(texts, COUNT(texts), one->name);
        sql_add(s, i == 0 ? "SELECT " : ", ");
        sql_add(s, one->value);
        sql_add(s, " AS ");
        sql_add(s, one->name);
    }
}

static int give_thread(void *context, const void *row)
{
    static const char no_stack[STACK_ID_BYTES];
    const threads *r = context;
    thread_row thread = *(const thread_row *)row;

    if (thread.stack_id.data == NULL)
        thread.stack_id = (text){no_stack, sizeof(no_stack)};
    return thread.stack_id.length == STACK_ID_BYTES ? r->each(r->context, &thread) : -1;
}

static int on_threads(void *context, const chs_result *block)
{
    const threads *r = context;
    thread_row row;

    return read_rows(block, &r->shape, &row, sizeof(row), give_thread, context);
}

int clickhouse__read_threads(void *self, thread_read what, const store_filter *filter,
                             thread_fn each, void *context, store_error *err)
{
    threads r = {.each = each, .context = context};
    const thread_query *q = &queries[what];
    store_filter f = *filter;
    statement s;

    f.type = what == THREADS_PROFILE ? PROFILE_TYPE_CPU
             : what == THREADS_DELAY ? PROFILE_TYPE_LOCK_DELAY
                                     : 0;
    sql_begin(&s);
    add_columns(&s, q, &r);
    sql_add(&s, " FROM ");
    sql_add(&s, q->from);
    sql_where(&s, &f, "time");
    if (what == THREADS_PROFILE && f.pool != NULL)
        add_condition(&s, "pool = {pool:String}");
    if (what == THREADS_PROFILE && f.target != 0)
        add_condition(&s, "target_id = {target:UInt64}");
    if (what != THREADS_PROFILE)
        add_thread_conditions(&s, &f);
    if (q->condition != NULL)
        add_condition(&s, q->condition);
    if (q->add != NULL)
        q->add(&s, &f);
    sql_add(&s, q->tail);
    add_thread_params(&s, &f);
    return read_run(self, &s, on_threads, &r, err);
}

/* ---- deadlocks ---- */

typedef struct sightings {
    sighting_fn each;
    void *context;
} sightings;

static const row_field sighting_numbers[] = {
    ROW_FIELD("target", sighting_row, target),    ROW_FIELD("number", sighting_row, cycle),
    ROW_FIELD("first", sighting_row, first_ms),   ROW_FIELD("last_time", sighting_row, last_ms),
    ROW_FIELD("place", sighting_row, position),   ROW_FIELD("tid", sighting_row, java_tid),
    ROW_FIELD("id", sighting_row, lock_id),       ROW_FIELD("kind", sighting_row, lock_kind),
    ROW_FIELD("depth", sighting_row, held_depth), ROW_FIELD("probable", sighting_row, inferred),
};
static const row_field sighting_texts[] = {
    ROW_KEY(sighting_row),
    ROW_FIELD("thread_name", sighting_row, name),
    ROW_FIELD("class", sighting_row, lock_class),
    ROW_FIELD("stack", sighting_row, stack_id),
};
static const row_shape sighting_shape = ROW_SHAPE(sighting_numbers, sighting_texts);

static int give_sighting(void *context, const void *row)
{
    const sightings *r = context;

    const sighting_row *sighting = row;

    return sighting->stack_id.length == STACK_ID_BYTES ? r->each(r->context, sighting) : -1;
}

static int on_sightings(void *context, const chs_result *block)
{
    sighting_row row;

    return read_rows(block, &sighting_shape, &row, sizeof(row), give_sighting, context);
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
                "toUInt64(argMax(inferred, time)) AS probable, "
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
