/* SPDX-License-Identifier: Apache-2.0 */
/* Writes target_status_history, with one row per target of a report. */
#include "write_reports.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOW          "LowCardinality(String)"
#define MOMENT       "DateTime64(3, 'UTC')"

static text string_of(const status_batch *r, const u32s *column, uint32_t row)
{
    return string_at(&r->strings, column->at[row]);
}

static void put_identity(table *t, const status_batch *r, uint32_t i)
{
    const target_columns *c = &r->targets;

    table_put_text(t, r->collector.cluster);
    table_put_text(t, string_of(r, &c->namespace_name, i));
    table_put_text(t, string_of(r, &c->workload_kind, i));
    table_put_text(t, string_of(r, &c->workload, i));
    table_put_text(t, string_of(r, &c->pod, i));
    table_put_text(t, string_of(r, &c->container, i));
    table_put_text(t, string_of(r, &c->pod_uid, i));
    table_put_text(t, string_of(r, &c->container_id, i));
    table_put_text(t, r->collector.node);
    table_put_text(t, r->collector.instance);
    table_put_uint(t, target_id_at(c, &r->strings, i));
    table_put_text(t, string_of(r, &c->boot_id, i));
    table_put_uint(t, c->host_pid.at[i]);
    table_put_uint(t, c->ns_pid.at[i]);
    table_put_uint(t, c->start_ticks.at[i]);
    table_put_ms(t, c->start_ms.at[i]);
    table_put_text(t, string_of(r, &c->jvm_version, i));
    table_put_text(t, string_of(r, &c->jvm_vendor, i));
    table_put_text(t, string_of(r, &c->main_class, i));
    table_put_text(t, string_of(r, &c->app_version, i));
    table_put_text(t, string_of(r, &c->image, i));
    table_put_text(t, string_of(r, &c->service, i));
}

static void put_row(table *t, const status_batch *r, uint32_t i)
{
    table_put_ms(t, r->status.observed_ms.at[i]);
    put_identity(t, r, i);
    table_put_uint(t, r->status.state.at[i]);
    table_put_uint(t, r->status.reason.at[i]);
    table_put_uint(t, r->status.session.at[i]);
    table_put_text(t, string_of(r, &r->status.detail, i));
    table_put_ms(t, r->status.last_window_ms.at[i]);
    table_put_uint(t, r->status.mode.at[i]);
    table_put_ms(t, r->status.until_ms.at[i]);
    table_put_uint(t, r->status.last_length_ms.at[i]);
    table_put_uint(t, r->status.last_covered_ms.at[i]);
    table_put_uint(t, r->status.collector_ns.at[i]);
}

static const table_column columns[] = {
    {"observed", MOMENT},       {"cluster", LOW},
    {"namespace", LOW},         {"workload_kind", LOW},
    {"workload", LOW},          {"pod", LOW},
    {"container", LOW},         {"pod_uid", LOW},
    {"container_id", LOW},      {"node", LOW},
    {"instance", LOW},          {"target_id", "UInt64"},
    {"boot_id", LOW},           {"host_pid", "UInt32"},
    {"ns_pid", "UInt32"},       {"start_ticks", "UInt64"},
    {"started", MOMENT},        {"jvm_version", LOW},
    {"jvm_vendor", LOW},        {"main_class", LOW},
    {"app_version", LOW},       {"image", LOW},
    {"service", LOW},           {"state", "UInt8"},
    {"reason", "UInt16"},       {"session", "UInt8"},
    {"detail", "String"},       {"last_window", MOMENT},
    {"mode", "UInt8"},          {"mode_until", MOMENT},
    {"length_ms", "UInt32"},    {"covered_ms", "UInt32"},
    {"collector_ns", "UInt64"},
};

int clickhouse__begin_status(table *t, store_error *err)
{
    return table_begin(t, "target_status_history", columns, COUNT(columns), err);
}

void clickhouse__put_status(table *t, const void *report)
{
    const status_batch *r = report;

    for (uint32_t i = 0; i < r->targets.workload.count; i++)
        put_row(t, r, i);
}

size_t clickhouse__weigh_status(const void *report)
{
    const status_batch *r = report;
    const u32s texts[] = {
        r->targets.namespace_name, r->targets.workload_kind,
        r->targets.workload,       r->targets.pod,
        r->targets.container,      r->targets.pod_uid,
        r->targets.container_id,   r->targets.boot_id,
        r->targets.jvm_version,    r->targets.jvm_vendor,
        r->targets.main_class,     r->targets.app_version,
        r->targets.image,          r->targets.service,
        r->status.detail,
    };
    size_t bytes = ROW_BYTES * r->targets.workload.count;

    for (size_t column = 0; column < COUNT(texts); column++) {
        for (size_t i = 0; i < texts[column].count; i++)
            bytes += r->strings.length.at[texts[column].at[i]];
    }
    return bytes;
}
