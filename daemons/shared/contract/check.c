/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/check.h>

#include <base/index_set.h>
#include <base/utf8.h>

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

int(check_no_memory)(verdict *v)
{
    return verdict_retry(v, "over_capacity", 5000, "The backend has no memory for this now.");
}

int check_contract(uint32_t contract, verdict *v)
{
    if (contract == 1)
        return 0;
    return verdict_reject(v, "contract_unknown",
                          "contract is %u; this backend understands 1. Use a collector of its "
                          "version.",
                          contract);
}

static int check_name(const char *field, text value, verdict *v)
{
    if (value.length == 0 || value.length > 253)
        return verdict_reject(v, "bad_identity",
                              "collector.%s has %zu bytes; 1 to 253 are allowed.", field,
                              value.length);
    if (!utf8_is_text(value.data, value.length))
        return verdict_reject(v, "bad_identity", "collector.%s is not UTF-8 without NUL.", field);
    return 0;
}

int check_collector(const collector_id *collector, verdict *v)
{
    if (check_name("cluster", collector->cluster, v) != 0 ||
        check_name("node", collector->node, v) != 0 ||
        check_name("instance", collector->instance, v) != 0)
        return -1;
    if (collector->version.length > 253)
        return verdict_reject(v, "bad_identity",
                              "collector.version has %zu bytes; at most 253 are allowed.",
                              collector->version.length);
    if (!utf8_is_text(collector->version.data, collector->version.length))
        return verdict_reject(v, "bad_identity", "collector.version is not UTF-8 without NUL.");
    return 0;
}

static int check_string(const string_columns *table, const char *name, size_t index, verdict *v)
{
    text entry = string_at(table, (uint32_t)index);

    if (entry.length > 65535)
        return verdict_reject(v, "bad_strings",
                              "%s: entry %zu has %zu bytes; at most 65,535 are "
                              "allowed.",
                              name, index, entry.length);
    if (!utf8_is_text(entry.data, entry.length))
        return verdict_reject(v, "bad_strings", "%s: entry %zu is not UTF-8 without NUL.", name,
                              index);
    return 0;
}

int check_strings(string_columns *table, const char *name, uint64_t max_bytes, verdict *v)
{
    uint64_t at = 0;

    if (table->data.length > max_bytes || table->data.length > UINT32_MAX)
        return verdict_reject(v, "payload_too_large", "%s has %zu bytes; at most %llu are allowed.",
                              name, table->data.length, (unsigned long long)max_bytes);
    if (table->length.count == 0)
        return table->data.length == 0
                   ? 0
                   : verdict_reject(v, "bad_strings", "%s has data and no lengths.", name);
    if (table->length.at[0] != 0)
        return verdict_reject(v, "bad_strings", "%s: entry 0 must be the empty string.", name);
    free(table->offset);
    table->offset = malloc(table->length.count * sizeof(*table->offset));
    if (table->offset == NULL)
        return check_no_memory(v);
    for (size_t i = 0; i < table->length.count; i++) {
        table->offset[i] = (uint32_t)at;
        at += table->length.at[i];
        if (at > table->data.length)
            return verdict_reject(v, "bad_strings",
                                  "%s: entry %zu reaches beyond the data of %zu bytes.", name, i,
                                  table->data.length);
        if (check_string(table, name, i, v) != 0)
            return -1;
    }
    if (at != table->data.length)
        return verdict_reject(v, "bad_strings", "%s: the lengths add up to %llu bytes, not %zu.",
                              name, (unsigned long long)at, table->data.length);
    return 0;
}

int check_lengths(const char *group, const named_column *columns, size_t count, const char *code,
                  verdict *v)
{
    for (size_t i = 1; i < count; i++) {
        if (columns[i].count != columns[0].count)
            return verdict_reject(v, code,
                                  "%s.%s has %zu entries and %s.%s has %zu; all columns of "
                                  "a group have as many.",
                                  group, columns[i].name, columns[i].count, group, columns[0].name,
                                  columns[0].count);
    }
    return 0;
}

int check_indexes(const char *name, u32s column, size_t bound, const char *code, verdict *v)
{
    for (size_t i = 0; i < column.count; i++) {
        if (column.at[i] >= bound)
            return verdict_reject(v, code, "%s: entry %zu is %u; it must be below %zu.", name, i,
                                  column.at[i], bound);
    }
    return 0;
}

int check_ranged(const ranged_column *columns, size_t count, verdict *v)
{
    for (size_t i = 0; i < count; i++) {
        if (check_indexes(columns[i].name, columns[i].column, columns[i].bound, "bad_index", v) !=
            0)
            return -1;
    }
    return 0;
}

int check_group_counts(const counted_group *groups, size_t count, verdict *v)
{
    for (size_t i = 0; i < count; i++) {
        if (groups[i].count > groups[i].most)
            return verdict_reject(v, "too_many_rows",
                                  "%s has %zu entries; at most %llu are allowed.", groups[i].name,
                                  groups[i].count, (unsigned long long)groups[i].most);
    }
    return 0;
}

int check_unique(const char *what, size_t count, const void *context,
                 bool (*equal)(const void *, uint32_t, uint32_t),
                 uint64_t (*hash)(const void *, uint32_t), verdict *v)
{
    index_set set;
    int rc = 0;

    if (index_set_init(&set, count, equal, context) != 0)
        return check_no_memory(v);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        uint32_t same = index_set_add(&set, hash(context, i), i);
        if (same != INDEX_SET_NONE)
            rc = verdict_reject(v, "duplicate_row", "%s: entries %u and %u are the same.", what,
                                same, i);
    }
    index_set_free(&set);
    return rc;
}

static int check_digest(const profile_batch *batch, verdict *v)
{
    XXH128_canonical_t digest;

    if (batch->batch_id.length != 16)
        return verdict_reject(v, "malformed", "batch_id has %zu bytes; it must have 16.",
                              batch->batch_id.length);
    if (batch->digest.length != 16)
        return verdict_reject(v, "malformed", "digest has %zu bytes; it must have 16.",
                              batch->digest.length);
    XXH128_canonicalFromHash(&digest, XXH3_128bits(batch->body.data, batch->body.length));
    if (memcmp(digest.digest, batch->digest.data, 16) != 0)
        return verdict_reject(v, "digest_mismatch",
                              "digest is not the XXH3-128 of body: the bytes were damaged.");
    return 0;
}

int check_profile_batch(profile_batch *batch, const ingest_limits *limits, uint64_t now_ms,
                        verdict *v)
{
    if (check_digest(batch, v) != 0 || check_contract(batch->contract, v) != 0 ||
        check_collector(&batch->collector, v) != 0 ||
        check_strings(&batch->strings, "strings", limits->strings_bytes, v) != 0 ||
        check_strings(&batch->stacks.strings, "stacks.strings", limits->strings_bytes, v) != 0 ||
        check_targets(&batch->targets, &batch->strings, limits, v) != 0 ||
        check_rows(batch, limits, v) != 0 ||
        check_texts("threads.name_str", &batch->strings, batch->threads.name, limits, v) != 0 ||
        check_snapshots(batch, limits, v) != 0 || check_windows(batch, v) != 0 ||
        check_times(batch, limits, now_ms, v) != 0 || check_totals(batch, v) != 0)
        return -1;
    return check_stacks(&batch->stacks, limits, v);
}

void profile_batch_clear(profile_batch *batch)
{
    free(batch->strings.offset);
    free(batch->stacks.strings.offset);
    batch->strings.offset = batch->stacks.strings.offset = NULL;
}

/* ---- status and heartbeat ---- */

static int check_last_window(const status_columns *s, size_t i, verdict *v)
{
    if (s->last_length_ms.at[i] > DAY_MS)
        return verdict_reject(
            v, "bad_window", "status.last_length_ms: entry %zu is %u; 0 to 86,400,000 are allowed.",
            i, s->last_length_ms.at[i]);
    if (s->last_covered_ms.at[i] > s->last_length_ms.at[i])
        return verdict_reject(
            v, "bad_window", "status.last_covered_ms: entry %zu is %u, more than its length of %u.",
            i, s->last_covered_ms.at[i], s->last_length_ms.at[i]);
    return 0;
}

static int check_status_columns(const status_batch *report, const ingest_limits *limits,
                                uint64_t now_ms, verdict *v)
{
    const status_columns *s = &report->status;
    const named_column columns[] = {
        {"target", report->targets.workload.count},
        {"observed_ms", s->observed_ms.count},
        {"state", s->state.count},
        {"reason", s->reason.count},
        {"detail_str", s->detail.count},
        {"last_window_ms", s->last_window_ms.count},
        {"session", s->session.count},
        {"mode", s->mode.count},
        {"until_ms", s->until_ms.count},
        {"last_length_ms", s->last_length_ms.count},
        {"last_covered_ms", s->last_covered_ms.count},
        {"collector_ns", s->collector_ns.count},
    };

    if (check_lengths("status", columns, sizeof(columns) / sizeof(columns[0]), "bad_columns", v) !=
            0 ||
        check_indexes("status.detail_str", s->detail, report->strings.length.count, "bad_index",
                      v) != 0 ||
        check_indexes("status.state", s->state, 256, "bad_index", v) != 0 ||
        check_indexes("status.reason", s->reason, 65536, "bad_index", v) != 0 ||
        check_indexes("status.session", s->session, 256, "bad_index", v) != 0 ||
        check_indexes("status.mode", s->mode, 256, "bad_index", v) != 0 ||
        check_texts("status.detail_str", &report->strings, s->detail, limits, v) != 0)
        return -1;
    for (size_t i = 0; i < s->observed_ms.count; i++) {
        if (check_last_window(s, i, v) != 0)
            return -1;
        uint64_t day = s->observed_ms.at[i] / DAY_MS;
        if (s->observed_ms.at[i] > now_ms + limits->future_ms)
            return verdict_reject(v, "clock_ahead",
                                  "status.observed_ms: entry %zu is %llu ms ahead "
                                  "of the backend's clock; %llu are allowed.",
                                  i, (unsigned long long)(s->observed_ms.at[i] - now_ms),
                                  (unsigned long long)limits->future_ms);
        if (day * DAY_MS + limits->retention_ms <= now_ms)
            return verdict_reject(v, "window_too_old",
                                  "status.observed_ms: entry %zu is older than the retention.", i);
    }
    return 0;
}

int check_status_batch(status_batch *report, const ingest_limits *limits, uint64_t now_ms,
                       verdict *v)
{
    if (check_contract(report->contract, v) != 0 || check_collector(&report->collector, v) != 0 ||
        check_strings(&report->strings, "strings", limits->strings_bytes, v) != 0 ||
        check_targets(&report->targets, &report->strings, limits, v) != 0)
        return -1;
    return check_status_columns(report, limits, now_ms, v);
}

void status_batch_clear(status_batch *report)
{
    free(report->strings.offset);
    report->strings.offset = NULL;
}

static int check_engine(text engine, verdict *v)
{
    if (engine.length > ENGINE_TEXT_MAX)
        return verdict_reject(v, "bad_identity", "engine has %zu bytes; at most %d are allowed.",
                              engine.length, ENGINE_TEXT_MAX);
    if (!utf8_is_text(engine.data, engine.length))
        return verdict_reject(v, "bad_identity", "engine is not UTF-8 without NUL.");
    return 0;
}

static int check_drops(const drop_columns *drops, verdict *v)
{
    const named_column columns[] = {
        {"cause", drops->cause.count},
        {"batches", drops->batches.count},
        {"oldest_ms", drops->oldest_ms.count},
        {"newest_ms", drops->newest_ms.count},
    };
    const counted_group group = {"drops", drops->cause.count, DROP_CAUSES_MAX};

    if (check_lengths("drops", columns, sizeof(columns) / sizeof(columns[0]), "bad_columns", v) !=
            0 ||
        check_group_counts(&group, 1, v) != 0)
        return -1;
    return check_indexes("drops.cause", drops->cause, 256, "bad_index", v);
}

int check_heartbeat(const heartbeat *beat, verdict *v)
{
    if (check_contract(beat->contract, v) != 0 || check_collector(&beat->collector, v) != 0 ||
        check_engine(beat->engine, v) != 0)
        return -1;
    return check_drops(&beat->drops, v);
}
