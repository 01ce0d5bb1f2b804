/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes status reports and heartbeats, and reads answers. */
#include "wire_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int target_row(string_table *strings, const target_status *from, batch_target *target,
                      status_row *row)
{
    *target = (batch_target){.host_pid = from->jvm.id.host_pid,
                             .ns_pid = from->jvm.ns_pid,
                             .start_ticks = from->jvm.id.start_ticks,
                             .start_ms = from->jvm.start_ms};
    *row = (status_row){.observed_ms = from->observed_ms,
                        .state = from->state,
                        .reason = from->reason,
                        .last_window_ms = from->last_window_ms,
                        .session = from->session,
                        .mode = from->mode,
                        .until_ms = from->until_ms,
                        .last_length_ms = from->last_length_ms,
                        .last_covered_ms = from->last_covered_ms,
                        .collector_ns = from->collector_ns};
    const struct {
        const char *text;
        uint32_t *index;
    } texts[] = {
        {from->labels.namespace_name, &target->namespace_str},
        {from->labels.workload_kind, &target->workload_kind_str},
        {from->labels.workload, &target->workload_str},
        {from->labels.pod, &target->pod_str},
        {from->labels.container, &target->container_str},
        {from->labels.app_version, &target->app_version_str},
        {from->labels.image, &target->image_str},
        {from->labels.service, &target->service_str},
        {from->jvm.pod_uid, &target->pod_uid_str},
        {from->jvm.container_id, &target->container_id_str},
        {from->jvm.id.boot_id, &target->boot_id_str},
        {from->jvm.version, &target->jvm_version_str},
        {from->jvm.vendor, &target->jvm_vendor_str},
        {from->jvm.main_class, &target->main_class_str},
        {from->detail, &row->detail_str},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (string_table_add(strings, texts[i].text, strlen(texts[i].text), texts[i].index) != 0)
            return -1;
    }
    return 0;
}

int wire_encode_status(void *context, const status_report *report, uint8_t **out, size_t *length)
{
    const wire *self = context;
    string_table strings = {0};
    arena in = {0};
    batch_target *targets = arena_take(&in, (report->count + 1) * sizeof(*targets));
    status_row *rows = arena_take(&in, (report->count + 1) * sizeof(*rows));
    Hotstack__V1__Collector *sender = wire__collector(self, &in);
    int rc = targets != NULL && rows != NULL && sender != NULL ? 0 : -1;
    for (size_t i = 0; i < report->count && rc == 0; i++)
        rc = target_row(&strings, &report->targets[i], &targets[i], &rows[i]);
    if (rc == 0)
        rc = status_pack(&(status_rows){&strings, targets, rows, report->count}, sender, out,
                         length);
    string_table_clear(&strings);
    arena_free(&in);
    return rc;
}

/* Adds the causes that lost a batch. */
static int drop_columns(arena *in, const queue_stats *queued, Hotstack__V1__DropColumns *out)
{
    uint32_t *cause = arena_take(in, DROP_END * sizeof(*cause));
    uint64_t *numbers = arena_take(in, 3 * DROP_END * sizeof(*numbers));
    size_t count = 0;
    if (cause == NULL || numbers == NULL)
        return -1;
    for (uint32_t i = 0; i < DROP_END; i++) {
        if (queued->drops[i].entries == 0)
            continue;
        cause[count] = i;
        numbers[count] = queued->drops[i].entries;
        numbers[DROP_END + count] = queued->drops[i].oldest_ms;
        numbers[2 * DROP_END + count++] = queued->drops[i].newest_ms;
    }
    out->cause = cause;
    out->batches = numbers;
    out->oldest_ms = numbers + DROP_END;
    out->newest_ms = numbers + 2 * DROP_END;
    out->n_cause = out->n_batches = out->n_oldest_ms = out->n_newest_ms = count;
    return 0;
}

int wire_encode_heartbeat(void *context, const heartbeat *beat, uint8_t **out, size_t *length)
{
    Hotstack__V1__Heartbeat message = HOTSTACK__V1__HEARTBEAT__INIT;
    Hotstack__V1__DropColumns drops = HOTSTACK__V1__DROP_COLUMNS__INIT;
    arena in = {0};
    message.contract = BATCH_CONTRACT;
    message.collector = wire__collector(context, &in);
    message.sent_ms = beat->sent_ms;
    message.started_ms = beat->started_ms;
    message.engine = (char *)(uintptr_t)beat->engine;
    message.queued_bytes = beat->queued.bytes;
    message.queued_batches = beat->queued.entries;
    message.queue_bytes = beat->queued.max_bytes;
    message.oldest_queued_ms = beat->queued.oldest_ms;
    message.cut_batches = beat->queued.pushed - beat->split_batches;
    message.last_success_ms = beat->last_success_ms;
    message.drops = &drops;
    message.jvms_seen = beat->jvms_seen;
    message.jvms_profiled = beat->jvms_profiled;
    int rc = message.collector != NULL && drop_columns(&in, &beat->queued, &drops) == 0
                 ? message_pack(&message.base, out, length)
                 : -1;
    arena_free(&in);
    return rc;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static void read_limits(const Hotstack__V1__Limits *from, upload_answer *out)
{
    out->has_limits = true;
    out->flush_interval_ms = from->flush_interval_ms;
    out->report_interval_ms = from->report_interval_ms;
    /* A batch is sent compressed, so that a batch within the lower of the two limits keeps both. */
    out->limits =
        (batch_limits){.rows = from->rows_per_batch,
                       .stacks = from->stacks_per_batch,
                       .string_bytes = from->strings_bytes,
                       .targets = from->targets_per_batch,
                       .windows = from->windows_per_batch,
                       .payload_bytes = lower(from->payload_bytes, from->compressed_bytes)};
}

void wire_read_answer(const uint8_t *bytes, size_t length, upload_answer *out)
{
    Hotstack__V1__IngestAnswer *answer = hotstack__v1__ingest_answer__unpack(NULL, length, bytes);
    if (answer == NULL)
        return;
    if (answer->outcome >= HOTSTACK__V1__OUTCOME__OUTCOME_ACCEPTED &&
        answer->outcome <= HOTSTACK__V1__OUTCOME__OUTCOME_NEED_STACKS)
        out->outcome = (enum upload_outcome)answer->outcome;
    (void)snprintf(out->code, sizeof(out->code), "%s", answer->code);
    (void)snprintf(out->message, sizeof(out->message), "%s", answer->message);
    if (answer->retry_after_ms > 0)
        out->retry_after_ms = answer->retry_after_ms;
    if (answer->limits != NULL)
        read_limits(answer->limits, out);
    hotstack__v1__ingest_answer__free_unpacked(answer, NULL);
}
