/* SPDX-License-Identifier: Apache-2.0 */
#include "answer_json.h"

#include <stdio.h>

#include <catalogue/profile_type.h>
#include <catalogue/reason.h>
#include <catalogue/state.h>

#include "query_params.h"

json_t *json_time(uint64_t unix_ms)
{
    char printed[25];

    if (unix_ms == 0)
        return json_null();
    query_time_print(printed, unix_ms);
    return json_string(printed);
}

json_t *json_target_id(uint64_t target)
{
    char hex[17];

    snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)target);
    return json_string(hex);
}

json_t *json_sum(uint64_t value)
{
    char printed[24];

    snprintf(printed, sizeof(printed), "%llu", (unsigned long long)value);
    return json_string(printed);
}

/* Makes the part of the asked time that has been recorded; null where it is unknown. */
static json_t *json_coverage(const query_meta *m)
{
    const reason_info *reason = m->lost_windows > 0 ? reason_get(m->reason) : NULL;

    if (m->asked_ms == 0)
        return json_null();
    return json_pack("{s:f, s:I, s:s?}", "share", (double)m->recorded_ms / (double)m->asked_ms,
                     "lost_windows", (json_int_t)m->lost_windows, "reason",
                     reason != NULL ? reason->name : NULL);
}

/* Makes the batches of the range that were lost: without them, missing data would look like no
 * load. */
static json_t *json_loss(const store_loss *loss)
{
    return json_pack("{s:I, s:o, s:I, s:s?}", "dropped_batches", (json_int_t)loss->dropped,
                     "oldest_dropped", json_time(loss->oldest_dropped_ms), "rejected_batches",
                     (json_int_t)loss->rejected, "code", loss->code[0] != '\0' ? loss->code : NULL);
}

json_t *json_meta(const query_meta *m)
{
    json_t *missing = json_array();

    if (m->missing_stacks)
        json_array_append_new(missing, json_string("stacks"));
    return json_pack(
        "{s:o, s:o, s:o, s:I, s:I, s:b, s:b, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}}", "from",
        json_time(m->from_ms), "to", json_time(m->to_ms), "fresh_until",
        json_time(m->fresh_until_ms), "rows_scanned", (json_int_t)m->rows_scanned, "nodes_omitted",
        (json_int_t)m->nodes_omitted, "truncated", m->truncated, "sampled", 0, "missing", missing,
        "coverage", json_coverage(m), "lost_events", json_sum(m->lost_events), "loss",
        json_loss(&m->loss), "ledger", "seen", json_sum(m->seen), "truncated", json_sum(m->cut),
        "dropped", json_sum(m->dropped), "omitted", json_sum(m->omitted));
}

json_t *json_service(const service_entry *entry)
{
    json_t *types = json_object();

    for (size_t i = 0; i < entry->type_count; i++) {
        const profile_type_info *info = profile_type_get(entry->types[i].type);
        if (info != NULL)
            json_object_set_new(types, info->name,
                                json_pack("{s:o, s:o, s:s}", "raw_total",
                                          json_sum(entry->types[i].raw_total), "value_total",
                                          json_sum(entry->types[i].value_total), "unit",
                                          info->unit));
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "cluster", entry->cluster, "namespace",
                     entry->namespace_name, "workload", entry->workload, "targets",
                     (json_int_t)entry->targets, "last_seen", json_time(entry->last_seen_ms),
                     "types", types);
}

/* Makes the CPU time for the last window, as a share of one core; null where it is unknown. */
static json_t *json_cost(uint64_t ns, uint64_t length_ms)
{
    return ns > 0 && length_ms > 0 ? json_real((double)(ns - 1) / ((double)length_ms * 1e6))
                                   : json_null();
}

/* Adds the mode of a JVM and the state of its session. */
static void add_mode(json_t *out, const target_entry *entry)
{
    const char *mode = target_mode_name((unsigned)entry->mode);
    const char *session = session_state_name((unsigned)entry->session);
    uint64_t length_ms = entry->last_length_ms;

    if (mode == NULL || entry->mode == TARGET_MODE_UNKNOWN)
        mode = "";
    if (session == NULL)
        session = session_state_name(SESSION_STATE_UNKNOWN);
    else if (entry->session == SESSION_STATE_NONE)
        session = "";
    json_object_set_new(out, "mode", json_string(mode));
    json_object_set_new(out, "mode_until", json_time(entry->until_ms));
    json_object_set_new(out, "session", json_string(session));
    json_object_set_new(out, "coverage",
                        length_ms > 0
                            ? json_real((double)entry->last_covered_ms / (double)length_ms)
                            : json_null());
    json_object_set_new(out, "overhead", json_cost(entry->collector_ns, length_ms));
}

json_t *json_target(const target_entry *entry)
{
    const char *state = target_state_name((unsigned)entry->state);
    const reason_info *reason = reason_get((unsigned)entry->reason);
    bool has_reason = reason != NULL && entry->reason != REASON_NONE;
    json_t *out = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:s, s:o, s:s, s:s, s:s, s:s, s:s, "
        "s:o, s:o}",
        "cluster", entry->cluster, "namespace", entry->namespace_name, "workload", entry->workload,
        "pod", entry->pod, "container", entry->container, "node", entry->node, "service",
        entry->service, "version", entry->version, "jvm", json_target_id(entry->target), "pid",
        (json_int_t)entry->pid, "jvm_version", entry->jvm_version, "started",
        json_time(entry->started_ms), "state", state != NULL ? state : "unknown", "reason",
        has_reason ? reason->name : "", "message", has_reason ? reason->explanation : "", "fix",
        has_reason ? reason->fix : "", "detail", entry->detail, "last_window",
        json_time(entry->last_window_ms), "observed", json_time(entry->observed_ms));
    if (out != NULL)
        add_mode(out, entry);
    if (out != NULL && entry->since_ms != 0)
        json_object_set_new(out, "since", json_time(entry->since_ms));
    return out;
}

json_t *json_text(text value)
{
    return json_stringn(value.data != NULL ? value.data : "", value.length);
}

const char *frame_kind_name(unsigned kind)
{
    static const char *const names[] = {"java", "native", "jvm", "kernel", "unknown"};

    return names[kind < SAGG_UNKNOWN ? kind : SAGG_UNKNOWN];
}

static json_t *json_str(sagg_str value)
{
    return json_text((text){value.data, value.size});
}

json_t *json_top_row(const top_row *row, bool lines)
{
    const sagg_frame *frame = &row->frame;
    json_t *out = json_pack("{s:o, s:o, s:s, s:o, s:o}", "class", json_str(frame->class_name),
                            "method", json_str(frame->method), "kind", frame_kind_name(frame->kind),
                            "self", json_sum(row->self), "total", json_sum(row->total));

    if (lines && out != NULL) {
        json_object_set_new(out, "line", json_integer(frame->line));
        json_object_set_new(out, "file", json_str(frame->file));
    }
    return out;
}
