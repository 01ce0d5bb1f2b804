/* SPDX-License-Identifier: Apache-2.0 */
/* Generations of hourly sums: finds the hours that need one, makes it, and checks that one is
 * right. */
#include "read.h"

#include "rollups.h"

enum { ROLL_MS = 120000 };

/* The key of an hour in both tables, and the hour as seconds since 1970. */
#define HOUR_KEY "cluster, namespace, workload, "
#define SUMS                                                                                       \
    "sum(amount) AS amount, sum(amount_added) AS amount_added, sum(count) AS count, "              \
    "sum(count_added) AS count_added"

static void add_range(statement *s, uint64_t from_ms, uint64_t to_ms)
{
    sql_number(s, "from_s", (from_ms + 3599999) / 3600000 * 3600);
    sql_number(s, "to_s", to_ms / 3600000 * 3600);
}

static int run(clickhouse *c, statement *s, chs_block_fn on_block, void *context, store_error *err)
{
    int rc = clickhouse__check_ready(c, err);

    if (rc == 0)
        rc = sql_query(s, c->maintainer, ROLL_MS, on_block, context, err);
    sql_end(s);
    return rc;
}

/* ---- dirty hours ---- */

typedef struct dirty_reader {
    rollup_hour_fn each;
    void *context;
    uint64_t total;
} dirty_reader;

typedef struct dirty_row {
    service_key key;
    uint64_t hour_s, windows, total;
} dirty_row;

static const row_field dirty_numbers[] = {
    ROW_FIELD("hour_s", dirty_row, hour_s),
    ROW_FIELD("windows_now", dirty_row, windows),
    ROW_FIELD("total", dirty_row, total),
};
static const row_field dirty_texts[] = {ROW_KEY(dirty_row)};
static const row_shape dirty_shape = ROW_SHAPE(dirty_numbers, dirty_texts);

static int give_hour(void *context, const void *found)
{
    dirty_reader *r = context;
    const dirty_row *row = found;
    const rollup_hour hour = {row->key, row->hour_s * 1000, row->windows};

    r->total = row->total;
    return r->each(r->context, &hour);
}

static int on_dirty(void *context, const chs_result *block)
{
    dirty_row row;

    return read_rows(block, &dirty_shape, &row, sizeof(row), give_hour, context);
}

static int find_dirty(void *self, uint64_t from_ms, uint64_t to_ms, uint64_t limit,
                      rollup_hour_fn each, void *context, uint64_t *dirty, store_error *err)
{
    dirty_reader r = {each, context, 0};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT " HOUR_KEY "toUInt64(hour_at) AS hour_s, toUInt64(found) AS windows_now, "
                "toUInt64(count() OVER ()) AS total FROM (SELECT " HOUR_KEY
                "toUnixTimestamp(toStartOfHour(time)) AS hour_at, count() AS found FROM "
                "profile_windows WHERE time >= toDateTime({from_s:UInt32}, 'UTC') AND time < "
                "toDateTime({to_s:UInt32}, 'UTC') GROUP BY " HOUR_KEY "hour_at) AS w LEFT JOIN "
                "(SELECT " HOUR_KEY "toUnixTimestamp(hour) AS hour_at, argMax(windows, generation) "
                "AS rolled FROM rollup_runs WHERE hour >= toDateTime({from_s:UInt32}, 'UTC') AND "
                "hour < toDateTime({to_s:UInt32}, 'UTC') GROUP BY " HOUR_KEY "hour_at) AS r USING "
                "(" HOUR_KEY "hour_at) WHERE found != rolled ORDER BY hour_s, " HOUR_KEY
                "found LIMIT {limit:UInt64}");
    add_range(&s, from_ms, to_ms);
    sql_number(&s, "limit", limit);
    int rc = run(self, &s, on_dirty, &r, err);
    *dirty = r.total;
    return rc;
}

/* ---- one generation ---- */

static void add_hour(statement *s, const rollup_hour *hour)
{
    sql_text(s, "cluster", hour->key.cluster);
    sql_text(s, "namespace", hour->key.namespace_name);
    sql_text(s, "workload", hour->key.workload);
    sql_number(s, "hour_s", hour->hour_ms / 1000);
}

static int execute(clickhouse *c, statement *s, store_error *err)
{
    int rc = clickhouse__check_ready(c, err);

    if (rc == 0)
        rc = sql_exec(s, c->maintainer, ROLL_MS, err);
    sql_end(s);
    return rc;
}

static int write_rows(clickhouse *c, const rollup_hour *hour, uint64_t generation, store_error *err)
{
    statement s;

    sql_begin(&s);
    sql_add(&s,
            "INSERT INTO profile_rollups (" HOUR_KEY
            "source, hour, stack_id, target_id, pod, container, node, app_version, pool, "
            "facet, object, amount, amount_added, count, count_added, generation) SELECT " HOUR_KEY
            "source, toDateTime({hour_s:UInt32}, 'UTC') AS hour, stack_id, target_id, pod, "
            "container, node, app_version, pool, facet, object, " SUMS
            ", {generation:UInt64} AS generation FROM profile_samples WHERE cluster = "
            "{cluster:String} AND namespace = {namespace:String} AND workload = "
            "{workload:String} AND toStartOfHour(time) = toDateTime({hour_s:UInt32}, 'UTC') "
            "AND time >= toDateTime({hour_s:UInt32}, 'UTC') AND time < "
            "toDateTime({hour_s:UInt32}, 'UTC') + INTERVAL 1 HOUR GROUP BY " HOUR_KEY
            "source, stack_id, target_id, pod, container, node, app_version, pool, facet, "
            "object");
    add_hour(&s, hour);
    sql_number(&s, "generation", generation);
    return execute(c, &s, err);
}

static int write_run(clickhouse *c, const rollup_hour *hour, uint64_t generation, store_error *err)
{
    statement s;

    sql_begin(&s);
    sql_add(&s, "INSERT INTO rollup_runs (" HOUR_KEY
                "hour, generation, windows, made) SELECT {cluster:String}, {namespace:String}, "
                "{workload:String}, toDateTime({hour_s:UInt32}, 'UTC'), {generation:UInt64}, "
                "{windows:UInt64}, now('UTC')");
    add_hour(&s, hour);
    sql_number(&s, "generation", generation);
    sql_number(&s, "windows", hour->windows);
    return execute(c, &s, err);
}

static int roll(void *self, const rollup_hour *hour, uint64_t generation, store_error *err)
{
    int rc = write_rows(self, hour, generation, err);

    return rc == 0 ? write_run(self, hour, generation, err) : rc;
}

/* ---- drift ---- */

/* A random hour that has sums, with the number of windows in its generation. */
#define CHOSEN_HOUR                                                                                \
    "(SELECT " HOUR_KEY "hour, max(generation) AS newest, argMax(windows, generation) AS seen "    \
    "FROM rollup_runs WHERE hour >= toDateTime({from_s:UInt32}, 'UTC') AND hour < "                \
    "toDateTime({to_s:UInt32}, 'UTC') GROUP BY " HOUR_KEY "hour HAVING seen > 0 ORDER BY "         \
    "sipHash64(newest, {chance:UInt64}) LIMIT 1)"

/* Adds `before` and a FROM over the chosen hour, if the sums of its generation differ from the
 * totals of its windows and the windows are the same as when the sums were made. */
static void add_drifted(statement *s, const char *before, uint64_t from_ms, uint64_t to_ms,
                        uint64_t chance)
{
    sql_begin(s);
    sql_add(s, before);
    sql_add(s, " FROM " CHOSEN_HOUR " AS c LEFT JOIN (SELECT generation, " SUMS
               " FROM profile_rollups WHERE generation IN (SELECT newest FROM " CHOSEN_HOUR
               ") GROUP BY generation) AS r ON r.generation = c.newest LEFT JOIN (SELECT " HOUR_KEY
               "toStartOfHour(time) AS hour_at, count() AS found, " SUMS
               " FROM profile_windows WHERE time >= toDateTime({from_s:UInt32}, 'UTC') AND time < "
               "toDateTime({to_s:UInt32}, 'UTC') GROUP BY " HOUR_KEY "hour_at) AS w ON w.cluster = "
               "c.cluster AND w.namespace = c.namespace AND w.workload = c.workload AND w.hour_at "
               "= c.hour WHERE w.found = c.seen AND (r.amount, r.amount_added, r.count, "
               "r.count_added) != (w.amount, w.amount_added, w.count, w.count_added)");
    add_range(s, from_ms, to_ms);
    sql_number(s, "chance", chance);
}

static int verify(void *self, uint64_t from_ms, uint64_t to_ms, uint64_t chance, bool *drifted,
                  store_error *err)
{
    uint64_t count = 0;
    statement s;

    add_drifted(&s, "SELECT count() AS found", from_ms, to_ms, chance);
    int rc = run(self, &s, read_found, &count, err);
    *drifted = count > 0;
    if (rc != 0 || count == 0)
        return rc;
    /* A newer run with no windows makes the hour dirty again, and its generations are no longer
     * read. */
    add_drifted(&s,
                "INSERT INTO rollup_runs (" HOUR_KEY "hour, generation, windows, made) SELECT "
                "c.cluster, c.namespace, c.workload, c.hour, c.newest + 1, 0, now('UTC')",
                from_ms, to_ms, chance);
    return execute(self, &s, err);
}

const rollup_ops clickhouse_rollups = {find_dirty, roll, verify};
