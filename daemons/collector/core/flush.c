/* SPDX-License-Identifier: Apache-2.0 */
/* Adds profiles to the current batch, and the batch to the queue. */
#include "collector_impl.h"
#include "spans.h"

#include <stdlib.h>
#include <string.h>

static uint64_t lower(uint64_t ours, uint64_t theirs)
{
    if (ours == 0 || theirs == 0)
        return ours + theirs;
    return ours < theirs ? ours : theirs;
}

static batch_limits limits_of(const collector *self)
{
    const batch_limits *a = &self->options.limits;
    const batch_limits *b = &self->backend_limits;
    return (batch_limits){
        .rows = lower(a->rows, b->rows),
        .stacks = lower(a->stacks, b->stacks),
        .string_bytes = lower(a->string_bytes, b->string_bytes),
        .targets = lower(a->targets, b->targets),
        .windows = lower(a->windows, b->windows),
        .payload_bytes = lower(a->payload_bytes, b->payload_bytes),
    };
}

/* Returns how far the queue will contain the windows of each JVM that is to be profiled. NULL: no
 * memory. */
static queue_position *positions_of(const collector *self, size_t *count)
{
    size_t targets = 0;
    for (const target *one = self->targets; one != NULL; one = one->next)
        targets++;
    queue_position *all = calloc(targets + 1, sizeof(*all));
    *count = 0;
    for (const target *one = self->targets; one != NULL && all != NULL; one = one->next) {
        if (one->told_ms == 0)
            continue;
        all[(*count)++] = (queue_position){.jvm = one->jvm,
                                           .labels = one->rule.labels,
                                           .events = one->rule.events,
                                           .threads_ms = one->rule.threads_ms,
                                           .session_ms = one->session_ms,
                                           .offset = one->offset,
                                           .told_ms = one->told_ms};
    }
    return all;
}

static void queue_pending(collector *self)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    size_t count = 0;
    queue_position *all = positions_of(self, &count);
    const queue_positions positions = {all, count};
    if (all != NULL && batch_order(&self->pending) == 0 &&
        self->ports.encode(self->ports.context, &self->pending, &bytes, &length) == 0 &&
        queue_push(self->queued, QUEUE_PROFILES, bytes, length, &positions) == 0) {
        self->stats.batches++;
    } else {
        self->stats.queue_failures++;
        collector__say(self, "a batch could not be written to the queue and is lost");
    }
    free(bytes);
    free(all);
    for (target *one = self->targets; one != NULL; one = one->next)
        one->settled = one->offset;
    self->ports.queued(self->ports.context);
}

/* The times at which batches are cut are shifted by a phase of this collector, so that the backend
 * gets the batches of many collectors one after another. */
uint64_t collector__flush_due(const collector *self)
{
    uint64_t interval =
        self->backend_flush_ms != 0 ? self->backend_flush_ms : self->options.flush_ms;
    if (interval == 0)
        return self->pending_since_ms;
    if (interval > FLUSH_MS_MAX)
        interval = FLUSH_MS_MAX;
    return span_next(self->pending_since_ms, (uint32_t)interval, self->flush_phase);
}

void collector__flush(collector *self)
{
    if (!self->has_pending)
        return;
    self->pending.created_ms = self->ports.now_ms(self->ports.context);
    queue_pending(self);
    batch_clear(&self->pending);
    self->has_pending = false;
    queue_stats queued = queue_get_stats(self->queued);
    uint64_t dropped = queued.drops[DROP_QUEUE_FULL].entries + queued.drops[DROP_DISK].entries;
    bool full = dropped > self->drops_seen;
    if (full != self->queue_full)
        self->ports.status_changed(self->ports.context);
    self->queue_full = full;
    self->drops_seen = dropped;
}

static void begin(collector *self, uint32_t day)
{
    uint8_t id[BATCH_ID_SIZE];
    for (size_t i = 0; i < BATCH_ID_SIZE; i += sizeof(uint64_t)) {
        uint64_t random = self->ports.random(self->ports.context);
        memcpy(id + i, &random, sizeof(random));
    }
    batch_begin(&self->pending, id, day);
    self->has_pending = true;
    self->pending_since_ms = self->ports.now_ms(self->ports.context);
}

int collector__add_profile(collector *self, const local_jvm *jvm, const target_labels *labels,
                           const window_span *span, const profile *from)
{
    batch_limits limits = limits_of(self);
    uint32_t day = (uint32_t)(span->start_ms / MS_PER_DAY);
    /* Keep a window in one batch if possible: a collector that is killed between two batches would
     * leave a part of the window to its successor. */
    if (self->has_pending && batch_would_pass(&self->pending, &limits, from, BATCH_ALL_PARTS))
        collector__flush(self);
    for (uint32_t part = 0; part < from->part_count; part++) {
        if (self->has_pending &&
            (self->pending.day != day || batch_would_pass(&self->pending, &limits, from, part)))
            collector__flush(self);
        if (!self->has_pending)
            begin(self, day);
        if (batch_add(&self->pending, jvm, labels, span, from, part) != 0) {
            batch_clear(&self->pending);
            self->has_pending = false;
            self->stats.queue_failures++;
            return -1;
        }
        profile_sum_add(&self->stats.recorded[from->parts[part].source], &from->parts[part].total);
    }
    return 0;
}

int collector__add_snapshot(collector *self, const local_jvm *jvm, const target_labels *labels,
                            const thread_snapshot *from)
{
    batch_limits limits = limits_of(self);
    uint32_t day = (uint32_t)(from->meta.taken_ms / MS_PER_DAY);
    if (self->has_pending &&
        (self->pending.day != day || batch_would_pass_snapshot(&self->pending, &limits, from)))
        collector__flush(self);
    if (!self->has_pending)
        begin(self, day);
    if (batch_add_snapshot(&self->pending, jvm, labels, from) == 0)
        return 0;
    batch_clear(&self->pending);
    self->has_pending = false;
    self->stats.queue_failures++;
    return -1;
}
