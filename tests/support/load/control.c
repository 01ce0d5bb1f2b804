/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <stdlib.h>

#include <catalogue/state.h>
#include <contract/wire/message.h>

enum { STARTED_BEFORE_MS = 3600000, QUEUE_BYTES = 256 << 20, BATCH_BYTES = 65536 };

/* Compresses a packed message and frees its bytes, unless packing has failed already. */
static int compress_packed(int rc, uint8_t *bytes, size_t length, payload *out)
{
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
    uint8_t *bytes = NULL;
    size_t length = 0;

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
    int rc = message_pack(&beat.base, &bytes, &length);
    return compress_packed(rc, bytes, length, out);
}

static int pack_report(const fleet *f, uint32_t node, const batch *targets, const status_row *rows,
                       payload *out)
{
    const status_rows from = {&targets->strings, targets->targets, rows, targets->target_count};
    payload_sender sender;
    uint8_t *bytes = NULL;
    size_t length = 0;
    int rc = status_pack(&from, payload_sender_of(f, node, &sender), &bytes, &length);

    return compress_packed(rc, bytes, length, out);
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
                               .collector_ns = 20000001};
    if (rc == 0)
        rc = pack_report(f, node, &targets, rows, out);
    batch_clear(&targets);
    free(rows);
    return rc;
}
