/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

#include <stdio.h>
#include <string.h>

#include <contract/check.h>

static void copy_text(char *out, size_t room, text value)
{
    size_t length = value.length < room - 1 ? value.length : room - 1;

    if (length > 0)
        memcpy(out, value.data, length);
    out[length] = '\0';
}

static bool is_kept(uint64_t time_ms, const ingest_limits *limits, uint64_t now_ms)
{
    return time_ms + limits->retention_ms > now_ms && time_ms <= now_ms + limits->future_ms;
}

static void widen(refusal *r, uint64_t from_ms, uint64_t to_ms)
{
    if (r->from_ms == 0 || from_ms < r->from_ms)
        r->from_ms = from_ms;
    if (to_ms > r->to_ms)
        r->to_ms = to_ms;
}

/* Sets the time of the data from the windows and snapshots whose own times are valid. */
static void note_range(refusal *r, const profile_batch *b, const ingest_limits *limits,
                       uint64_t now_ms)
{
    const window_columns *w = &b->windows;

    for (size_t i = 0; i < w->start_ms.count && w->length_ms.count == w->start_ms.count; i++) {
        if (is_kept(w->start_ms.at[i], limits, now_ms))
            widen(r, w->start_ms.at[i], w->start_ms.at[i] + w->length_ms.at[i]);
    }
    for (size_t i = 0; i < b->snapshots.taken_ms.count; i++) {
        if (is_kept(b->snapshots.taken_ms.at[i], limits, now_ms))
            widen(r, b->snapshots.taken_ms.at[i], b->snapshots.taken_ms.at[i] + 1);
    }
}

static void note_batch(refusal *r, const profile_batch *b, const ingest_limits *limits,
                       uint64_t now_ms)
{
    verdict ignored = {0};

    if (b->batch_id.length == sizeof(r->batch_id))
        memcpy(r->batch_id, b->batch_id.data, sizeof(r->batch_id));
    if (check_collector(&b->collector, &ignored) == 0) {
        copy_text(r->cluster, sizeof(r->cluster), b->collector.cluster);
        copy_text(r->node, sizeof(r->node), b->collector.node);
        copy_text(r->instance, sizeof(r->instance), b->collector.instance);
    }
    if (is_kept(b->created_ms, limits, now_ms))
        r->created_ms = b->created_ms;
    r->attempts = b->attempt > 0 ? b->attempt : 1;
    r->first_ms = now_ms - (b->waited_ms < limits->retention_ms ? b->waited_ms : 0);
    r->body_bytes = b->body.length;
    r->windows = b->windows.target.count;
    r->rows = b->samples.window.count;
    note_range(r, b, limits, now_ms);
}

refusal refusal_of(const char *sender, const profile_batch *batch, const verdict *v,
                   const ingest_limits *limits, uint64_t now_ms)
{
    refusal r = {.status = v->outcome,
                 .batches = 1,
                 .attempts = 1,
                 .first_ms = now_ms,
                 .last_ms = now_ms,
                 .created_ms = now_ms};

    copy_text(r.sender, sizeof(r.sender), text_of(sender));
    copy_text(r.code, sizeof(r.code), text_of(v->code));
    copy_text(r.message, sizeof(r.message), text_of(v->message));
    if (batch != NULL)
        note_batch(&r, batch, limits, now_ms);
    if (r.to_ms == 0) {
        r.from_ms = r.created_ms;
        r.to_ms = r.created_ms + 1;
    }
    return r;
}
