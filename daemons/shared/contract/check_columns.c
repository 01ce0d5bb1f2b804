/* SPDX-License-Identifier: Apache-2.0 */
/* Makes check 9 of docs/formats/ingest.md, section Order of checks: columns agree, indexes are in
 * range, nothing occurs twice. */
#include <base/seeded_hash.h>
#include <string.h>

#include <base/index_set.h>
#include <contract/check.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int check_target_identity(const target_columns *t, const string_columns *strings, verdict *v)
{
    for (uint32_t i = 0; i < t->workload.count; i++) {
        if (string_at(strings, t->workload.at[i]).length == 0)
            return verdict_reject(v, "bad_identity",
                                  "targets.workload_str: entry %u is empty; every target has a "
                                  "workload.",
                                  i);
        if (string_at(strings, t->boot_id.at[i]).length != 36)
            return verdict_reject(v, "bad_identity",
                                  "targets.boot_id_str: entry %u must have 36 characters.", i);
    }
    return 0;
}

/* Identity and labels are shown in every list, so they must be names and not long texts. */
static int check_target_texts(const char *name, u32s column, const string_columns *strings,
                              verdict *v)
{
    for (size_t i = 0; i < column.count; i++) {
        size_t length = string_at(strings, column.at[i]).length;
        if (length > TARGET_TEXT_MAX)
            return verdict_reject(v, "bad_identity",
                                  "targets.%s: entry %zu has %zu bytes; at most %u are allowed.",
                                  name, i, length, TARGET_TEXT_MAX);
    }
    return 0;
}

int check_targets(const target_columns *t, const string_columns *strings,
                  const ingest_limits *limits, verdict *v)
{
    const u32s indexes[] = {t->namespace_name, t->workload_kind, t->workload,     t->pod,
                            t->container,      t->pod_uid,       t->container_id, t->boot_id,
                            t->jvm_version,    t->jvm_vendor,    t->main_class,   t->app_version,
                            t->image,          t->service};
    static const char *const names[] = {
        "namespace_str",  "workload_kind_str", "workload_str", "pod_str",         "container_str",
        "pod_uid_str",    "container_id_str",  "boot_id_str",  "jvm_version_str", "jvm_vendor_str",
        "main_class_str", "app_version_str",   "image_str",    "service_str"};
    named_column columns[COUNT(indexes) + 4];

    for (size_t i = 0; i < COUNT(indexes); i++)
        columns[i] = (named_column){names[i], indexes[i].count};
    columns[COUNT(indexes)] = (named_column){"host_pid", t->host_pid.count};
    columns[COUNT(indexes) + 1] = (named_column){"ns_pid", t->ns_pid.count};
    columns[COUNT(indexes) + 2] = (named_column){"start_ticks", t->start_ticks.count};
    columns[COUNT(indexes) + 3] = (named_column){"start_ms", t->start_ms.count};
    if (check_lengths("targets", columns, COUNT(columns), "bad_columns", v) != 0)
        return -1;
    if (t->workload.count > limits->targets_per_batch)
        return verdict_reject(v, "too_many_rows",
                              "targets has %zu entries; at most %llu are "
                              "allowed.",
                              t->workload.count, (unsigned long long)limits->targets_per_batch);
    for (size_t i = 0; i < COUNT(indexes); i++) {
        if (check_indexes(names[i], indexes[i], strings->length.count, "bad_index", v) != 0 ||
            check_target_texts(names[i], indexes[i], strings, v) != 0)
            return -1;
    }
    return check_target_identity(t, strings, v);
}

#define SUM_COUNTS(sum)                                                                            \
    {"raw_amount", (sum).raw_amount.count}, {"amount", (sum).amount.count},                        \
        {"raw_count", (sum).raw_count.count},                                                      \
    {                                                                                              \
        "count", (sum).count.count                                                                 \
    }

static int check_group_lengths(const profile_batch *b, verdict *v)
{
    const window_columns *w = &b->windows;
    const sample_columns *s = &b->samples;
    const second_columns *c = &b->seconds;
    const thread_columns *t = &b->threads;
    const named_column windows[] = {
        {"target", w->target.count},
        {"source", w->source.count},
        {"start_ms", w->start_ms.count},
        {"length_ms", w->length_ms.count},
        {"covered_ms", w->covered_ms.count},
        {"engine_str", w->engine.count},
        {"interval", w->interval.count},
        SUM_COUNTS(w->total),
        {"truncated_amount", w->truncated_amount.count},
        {"truncated_count", w->truncated_count.count},
        {"dropped_amount", w->dropped_amount.count},
        {"dropped_count", w->dropped_count.count},
        {"dropped_stacks", w->dropped_stacks.count},
        {"lost_events", w->lost_events.count},
        {"reason", w->reason.count},
    };
    const named_column samples[] = {
        {"window", s->window.count}, {"pool_str", s->pool.count}, {"stack", s->stack.count},
        SUM_COUNTS(s->sum),          {"facet", s->facet.count},   {"object_str", s->object.count},
    };
    const named_column seconds[] = {{"window", c->window.count},
                                    {"pool_str", c->pool.count},
                                    {"second", c->second.count},
                                    {"amount", c->amount.count},
                                    {"count", c->count.count}};
    const named_column threads[] = {
        {"window", t->window.count}, {"os_tid", t->os_tid.count}, {"java_tid", t->java_tid.count},
        {"name_str", t->name.count}, {"pool_str", t->pool.count}, SUM_COUNTS(t->sum),
    };

    if (check_lengths("windows", windows, COUNT(windows), "bad_columns", v) != 0 ||
        check_lengths("samples", samples, COUNT(samples), "bad_columns", v) != 0 ||
        check_lengths("seconds", seconds, COUNT(seconds), "bad_columns", v) != 0)
        return -1;
    return check_lengths("threads", threads, COUNT(threads), "bad_columns", v);
}

static int check_ranges(const profile_batch *b, verdict *v)
{
    size_t strings = b->strings.length.count, windows = b->windows.target.count;
    const ranged_column ranges[] = {
        {"windows.target", b->windows.target, b->targets.workload.count},
        {"windows.engine_str", b->windows.engine, strings},
        {"windows.reason", b->windows.reason, 65536},
        {"samples.window", b->samples.window, windows},
        {"samples.pool_str", b->samples.pool, strings},
        {"samples.stack", b->samples.stack, b->stack_ids.length / STACK_ID_BYTES},
        {"samples.facet", b->samples.facet, 256},
        {"samples.object_str", b->samples.object, strings},
        {"seconds.window", b->seconds.window, windows},
        {"seconds.pool_str", b->seconds.pool, strings},
        {"threads.window", b->threads.window, windows},
        {"threads.name_str", b->threads.name, strings},
        {"threads.pool_str", b->threads.pool, strings},
    };

    return check_ranged(ranges, COUNT(ranges), v);
}

static int check_counts(const profile_batch *b, const ingest_limits *limits, verdict *v)
{
    const counted_group counts[] = {
        {"windows", b->windows.target.count, limits->windows_per_batch},
        {"samples", b->samples.window.count, limits->rows_per_batch},
        {"seconds", b->seconds.window.count, limits->rows_per_batch * 10},
        {"threads", b->threads.window.count, limits->rows_per_batch},
        {"stack_ids", b->stack_ids.length / STACK_ID_BYTES, limits->stacks_per_batch},
    };

    if (b->stack_ids.length % STACK_ID_BYTES != 0)
        return verdict_reject(v, "bad_columns",
                              "stack_ids has %zu bytes; it must be a multiple of "
                              "16.",
                              b->stack_ids.length);
    return check_group_counts(counts, COUNT(counts), v);
}

/* ---- uniqueness ---- */

static bool equal_sample(const void *context, uint32_t a, uint32_t b)
{
    const sample_columns *s = context;

    return s->window.at[a] == s->window.at[b] && s->pool.at[a] == s->pool.at[b] &&
           s->stack.at[a] == s->stack.at[b] && s->facet.at[a] == s->facet.at[b] &&
           s->object.at[a] == s->object.at[b];
}

static uint64_t hash_sample(const void *context, uint32_t i)
{
    const sample_columns *s = context;
    const uint32_t key[] = {s->window.at[i], s->pool.at[i], s->stack.at[i], s->facet.at[i],
                            s->object.at[i]};

    return seeded_hash(key, sizeof(key));
}

static bool equal_window(const void *context, uint32_t a, uint32_t b)
{
    const window_columns *w = context;

    return w->target.at[a] == w->target.at[b] && w->source.at[a] == w->source.at[b] &&
           w->start_ms.at[a] == w->start_ms.at[b];
}

static uint64_t hash_window(const void *context, uint32_t i)
{
    const window_columns *w = context;
    const uint64_t key[] = {w->target.at[i], w->source.at[i], w->start_ms.at[i]};

    return seeded_hash(key, sizeof(key));
}

static bool equal_stack(const void *context, uint32_t a, uint32_t b)
{
    const char *ids = context;

    return memcmp(ids + (size_t)a * STACK_ID_BYTES, ids + (size_t)b * STACK_ID_BYTES,
                  STACK_ID_BYTES) == 0;
}

static uint64_t hash_stack(const void *context, uint32_t i)
{
    return seeded_hash((const char *)context + (size_t)i * STACK_ID_BYTES, STACK_ID_BYTES);
}

int check_rows(const profile_batch *b, const ingest_limits *limits, verdict *v)
{
    if (check_group_lengths(b, v) != 0 || check_counts(b, limits, v) != 0 ||
        check_ranges(b, v) != 0)
        return -1;
    if (check_unique("samples (window, pool_str, stack, facet, object_str)",
                     b->samples.window.count, &b->samples, equal_sample, hash_sample, v) != 0 ||
        check_unique("windows (target, source, start_ms)", b->windows.target.count, &b->windows,
                     equal_window, hash_window, v) != 0)
        return -1;
    return check_unique("stack_ids", b->stack_ids.length / STACK_ID_BYTES, b->stack_ids.data,
                        equal_stack, hash_stack, v);
}
