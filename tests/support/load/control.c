/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <stdlib.h>

#include <catalogue/state.h>
#include <contract/wire/message.h>

enum { STARTED_BEFORE_MS = 3600000, QUEUE_BYTES = 256 << 20, BATCH_BYTES = 65536 };

typedef Hotstack__V1__StatusColumns wire_status;

typedef struct status_row {
    uint64_t observed_ms, last_window_ms;
    uint32_t state, session, mode, last_length_ms, last_covered_ms;
    uint32_t reason, detail_str;
    uint64_t until_ms, profiler_ns, collector_ns;
} status_row;

static const column status_columns[] = {
    COLUMN(status_row, observed_ms, wire_status, observed_ms),
    COLUMN(status_row, state, wire_status, state),
    COLUMN(status_row, reason, wire_status, reason),
    COLUMN(status_row, detail_str, wire_status, detail_str),
    COLUMN(status_row, last_window_ms, wire_status, last_window_ms),
    COLUMN(status_row, session, wire_status, session),
    COLUMN(status_row, mode, wire_status, mode),
    COLUMN(status_row, until_ms, wire_status, until_ms),
    COLUMN(status_row, last_length_ms, wire_status, last_length_ms),
    COLUMN(status_row, last_covered_ms, wire_status, last_covered_ms),
    COLUMN(status_row, profiler_ns, wire_status, profiler_ns),
    COLUMN(status_row, collector_ns, wire_status, collector_ns),
};

static int pack(const ProtobufCMessage *message, payload *out)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    int rc = message_pack(message, &bytes, &length);

    if (rc == 0)
        rc = payload_compress(bytes, length, out);
    free(bytes);
    return rc;
}

int control_heartbeat(const fleet *f, uint32_t node, const control_queue *queue, uint64_t now_ms,
                      payload *out)
{
    Hotstack__V1__Heartbeat beat = HOTSTACK__V1__HEARTBEAT__INIT;
    Hotstack__V1__DropColumns drops = HOTSTACK__V1__DROP_COLUMNS__INIT;
    payload_sender sender;

    *out = (payload){0};
    beat.contract = BATCH_CONTRACT;
    beat.collector = payload_sender_of(f, node, &sender);
    beat.sent_ms = now_ms;
    beat.started_ms = now_ms - STARTED_BEFORE_MS;
    beat.engine = (char *)(uintptr_t) "async-profiler 4.6";
    beat.queued_batches = queue->waiting;
    beat.queued_bytes = (uint64_t)queue->waiting * BATCH_BYTES;
    beat.queue_bytes = QUEUE_BYTES;
    beat.oldest_queued_ms = queue->waiting > 0 ? now_ms : 0;
    beat.cut_batches = queue->cut;
    beat.drops = &drops;
    beat.jvms_seen = beat.jvms_profiled = f->jvms;
    return pack(&beat.base, out);
}

static int pack_report(const fleet *f, uint32_t node, const batch *targets, const status_row *rows,
                       payload *out)
{
    Hotstack__V1__StatusReport report = HOTSTACK__V1__STATUS_REPORT__INIT;
    Hotstack__V1__TargetColumns about = HOTSTACK__V1__TARGET_COLUMNS__INIT;
    wire_status status = HOTSTACK__V1__STATUS_COLUMNS__INIT;
    payload_sender sender;
    arena in = {0};

    report.contract = BATCH_CONTRACT;
    report.collector = payload_sender_of(f, node, &sender);
    report.strings = strings_out(&in, &targets->strings);
    report.targets = &about;
    report.status = &status;
    int rc = report.strings != NULL ? 0 : -1;
    if (rc == 0)
        rc = columns_out(&in, &about, targets->targets, sizeof(*targets->targets),
                         targets->target_count, batch_target_columns, batch_target_column_count);
    if (rc == 0)
        rc = columns_out(&in, &status, rows, sizeof(*rows), targets->target_count, status_columns,
                         sizeof(status_columns) / sizeof(status_columns[0]));
    if (rc == 0)
        rc = pack(&report.base, out);
    arena_free(&in);
    return rc;
}

int control_status(const fleet *f, uint32_t node, uint64_t now_ms, payload *out)
{
    batch targets;
    status_row *rows = calloc(f->jvms, sizeof(*rows));
    int rc = rows != NULL ? fleet_targets(f, node, &targets) : -1;

    *out = (payload){0};
    if (rows == NULL)
        return -1;
    for (uint32_t i = 0; i < f->jvms; i++)
        rows[i] = (status_row){.observed_ms = now_ms,
                               .state = TARGET_STATE_PROFILING,
                               .session = SESSION_STATE_OWNED,
                               .mode = TARGET_MODE_CONTINUOUS,
                               .last_window_ms = now_ms - WINDOW_MS,
                               .last_length_ms = WINDOW_MS,
                               .last_covered_ms = WINDOW_MS,
                               .profiler_ns = 30000001,
                               .collector_ns = 20000001};
    if (rc == 0)
        rc = pack_report(f, node, &targets, rows, out);
    batch_clear(&targets);
    free(rows);
    return rc;
}
