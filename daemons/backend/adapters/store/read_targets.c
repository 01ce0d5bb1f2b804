/* SPDX-License-Identifier: Apache-2.0 */
/* The last verdict on every JVM of a range. */
#include "read.h"

typedef struct targets {
    target_fn each;
    void *context;
} targets;

typedef struct target_columns_read {
    key_columns keys;
    chs_strings pod, container, node, service, jvm_version, detail;
    chs_uints target, pid, state, reason, session, mode, until, length, covered;
    chs_uints started, last_window, observed, reported;
} target_columns_read;

static int bind(target_columns_read *c, const chs_result *block)
{
    const struct {
        chs_strings *out;
        const char *name;
    } strings[] = {
        {&c->pod, "pod"},         {&c->container, "container"},     {&c->node, "node"},
        {&c->service, "service"}, {&c->jvm_version, "jvm_version"}, {&c->detail, "detail"}};
    const struct {
        chs_uints *out;
        const char *name;
    } numbers[] = {
        {&c->target, "target_id"},    {&c->pid, "host_pid"},          {&c->state, "state"},
        {&c->reason, "reason"},       {&c->session, "session"},       {&c->mode, "mode"},
        {&c->until, "until_ms"},      {&c->length, "length_ms"},      {&c->covered, "covered_ms"},
        {&c->started, "started_ms"},  {&c->last_window, "window_ms"}, {&c->observed, "observed_ms"},
        {&c->reported, "reported_ms"}};

    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        if (read_strings(strings[i].out, block, strings[i].name) != 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (read_uints(numbers[i].out, block, numbers[i].name) != 0)
            return -1;
    }
    return read_keys(&c->keys, block);
}

static int on_targets(void *context, const chs_result *block)
{
    targets *r = context;
    target_columns_read c;

    if (chs_result_rows(block) == 0)
        return 0;
    if (bind(&c, block) != 0)
        return -1;
    for (uint64_t i = 0; i < c.pid.rows; i++) {
        target_row row = {
            .key = read_key(&c.keys, i),
            .pod = read_text(&c.pod, i),
            .container = read_text(&c.container, i),
            .node = read_text(&c.node, i),
            .service = read_text(&c.service, i),
            .jvm_version = read_text(&c.jvm_version, i),
            .detail = read_text(&c.detail, i),
            .target = c.target.values[i],
            .pid = c.pid.values[i],
            .state = c.state.values[i],
            .reason = c.reason.values[i],
            .session = c.session.values[i],
            .mode = c.mode.values[i],
            .until_ms = c.until.values[i],
            .last_length_ms = c.length.values[i],
            .last_covered_ms = c.covered.values[i],
            .started_ms = c.started.values[i],
            .last_window_ms = c.last_window.values[i],
            .observed_ms = c.observed.values[i],
            .reported_ms = c.reported.values[i],
        };
        if (r->each(r->context, &row) != 0)
            return -1;
    }
    return 0;
}

static const char columns[] =
    "SELECT cluster, namespace, workload, pod, container, node, service, jvm_version, detail, "
    "target_id, host_pid, state, reason, session, mode, length_ms, covered_ms, "
    "toUInt64(toUnixTimestamp64Milli(mode_until)) AS until_ms, "
    "toUInt64(toUnixTimestamp64Milli(started)) AS started_ms, "
    "toUInt64(toUnixTimestamp64Milli(last_window)) AS window_ms, "
    "toUInt64(toUnixTimestamp64Milli(observed)) AS observed_ms, "
    "toUInt64(toUnixTimestamp64Milli(reported)) AS reported_ms FROM ";

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
    sql_add(&s, columns);
    sql_add(&s, "(SELECT *, max(observed) OVER (PARTITION BY cluster, instance) AS reported FROM "
                "target_status_history");
    sql_where(&s, filter, "observed");
    sql_add(&s, " ORDER BY observed DESC LIMIT 1 BY cluster, target_id)");
    if (filter->target != 0) /* here: what its collector reported last may be of another JVM */
        sql_add(&s, " WHERE target_id = {target:UInt64}");
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
    sql_add(&s, columns);
    sql_add(&s, "(SELECT *, observed AS reported FROM target_status_history");
    sql_where(&s, filter, "observed");
    sql_add(&s, " AND target_id = {target:UInt64}) ORDER BY observed DESC LIMIT {limit:UInt64}");
    add_params(&s, filter);
    return read_run(self, &s, on_targets, &r, err);
}
