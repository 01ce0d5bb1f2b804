/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the last verdict on every JVM of a range. */
#include "read.h"

typedef struct targets {
    target_fn each;
    void *context;
} targets;

static const row_field numbers[] = {
    ROW_FIELD("target_id", target_row, target),
    ROW_FIELD("host_pid", target_row, pid),
    ROW_FIELD("state", target_row, state),
    ROW_FIELD("reason", target_row, reason),
    ROW_FIELD("session", target_row, session),
    ROW_FIELD("mode", target_row, mode),
    ROW_FIELD("until_ms", target_row, until_ms),
    ROW_FIELD("length_ms", target_row, last_length_ms),
    ROW_FIELD("covered_ms", target_row, last_covered_ms),
    ROW_FIELD("collector_ns", target_row, collector_ns),
    ROW_FIELD("started_ms", target_row, started_ms),
    ROW_FIELD("window_ms", target_row, last_window_ms),
    ROW_FIELD("observed_ms", target_row, observed_ms),
    ROW_FIELD("reported_ms", target_row, reported_ms),
};
static const row_field texts[] = {
    ROW_KEY(target_row),
    ROW_FIELD("pod", target_row, pod),
    ROW_FIELD("container", target_row, container),
    ROW_FIELD("node", target_row, node),
    ROW_FIELD("service", target_row, service),
    ROW_FIELD("app_version", target_row, version),
    ROW_FIELD("jvm_version", target_row, jvm_version),
    ROW_FIELD("detail", target_row, detail),
};
static const row_shape shape = ROW_SHAPE(numbers, texts);

static int give_target(void *context, const void *row)
{
    const targets *r = context;

    return r->each(r->context, row);
}

static int on_targets(void *context, const chs_result *block)
{
    target_row row;

    return read_rows(block, &shape, &row, sizeof(row), give_target, context);
}

static void select_targets(statement *s)
{
    sql_add(s, "SELECT cluster, namespace, workload, pod, container, node, service, app_version, "
               "jvm_version, detail, target_id, host_pid, state, reason, session, mode, length_ms, "
               "covered_ms, collector_ns");
    sql_add(s, ", " READ_MS("mode_until") " AS until_ms");
    sql_add(s, ", " READ_MS("started") " AS started_ms");
    sql_add(s, ", " READ_MS("last_window") " AS window_ms");
    sql_add(s, ", " READ_MS("observed") " AS observed_ms");
    sql_add(s, ", " READ_MS("reported") " AS reported_ms FROM ");
}

static void add_params(statement *s, const store_filter *filter)
{
    sql_filter_params(s, filter);
    sql_number(s, "limit", filter->limit);
    if (filter->target != 0)
        sql_number(s, "target", filter->target);
}

int clickhouse__read_targets(void *self, const store_filter *filter, target_fn each, void *context,
                             store_error *err)
{
    targets r = {each, context};
    statement s;

    sql_begin(&s);
    select_targets(&s);
    sql_add(&s, "(SELECT * FROM target_status_history");
    sql_where(&s, filter, "observed");
    if (filter->target != 0)
        sql_add(&s, " AND target_id = {target:UInt64}");
    sql_add(&s, " ORDER BY observed DESC LIMIT 1 BY cluster, target_id) AS told INNER JOIN ");
    /* The newest report of a collector says that a JVM is gone, even if that report is about other
     * services only, or about JVMs that the caller may not see. */
    sql_add(&s, "(SELECT cluster, instance, max(observed) AS reported FROM target_status_history");
    sql_where_time(&s, "observed");
    sql_where_cluster(&s, filter);
    sql_add(&s, " GROUP BY cluster, instance) AS reports USING (cluster, instance)");
    sql_add(&s, " ORDER BY cluster, namespace, workload, node, pod, container, host_pid, started "
                "LIMIT {limit:UInt64}");
    add_params(&s, filter);
    return read_run(self, &s, on_targets, &r, err);
}

int clickhouse__read_history(void *self, const store_filter *filter, target_fn each, void *context,
                             store_error *err)
{
    targets r = {each, context};
    statement s;

    sql_begin(&s);
    select_targets(&s);
    sql_add(&s, "(SELECT *, observed AS reported FROM target_status_history");
    sql_where(&s, filter, "observed");
    sql_add(&s, " AND target_id = {target:UInt64}) ORDER BY observed DESC LIMIT {limit:UInt64}");
    add_params(&s, filter);
    return read_run(self, &s, on_targets, &r, err);
}
