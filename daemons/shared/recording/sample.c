/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that do not come from JFR files. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int recording__drop_on_limit(int rc, uint32_t *stack)
{
    if (rc != SAGG_ERR_LIMIT)
        return rc;
    *stack = SAGG_DROPPED;
    return 0;
}

static int intern_stack(recording *rec, const recording_sample *sample, uint32_t *stack)
{
    int rc = sagg_full(rec->agg) ? sagg_compact(rec->agg, NULL) : 0;
    if (rc == 0)
        rc = recording__reserve(&rec->frames, &rec->frame_room, sample->count);
    for (size_t i = 0; rc == 0 && i < sample->count; i++)
        rc = sagg_add_frame(rec->agg, &rec->frames[i], &sample->frames[i], NULL);
    if (rc == 0)
        rc = sagg_add_stack(rec->agg, stack, rec->frames, sample->count, NULL);
    return recording__drop_on_limit(rc, stack);
}

static int intern_thread(recording *rec, const recording_sample *sample, uint32_t *thread)
{
    sagg_thread row = {.os_tid = sample->os_tid, .name = sample->thread};
    *thread = SAGG_NO_THREAD;
    return row.name.size == 0 && row.os_tid == 0 ? 0
                                                 : sagg_add_thread(rec->agg, thread, &row, NULL);
}

bool recording__keeps(const recording *rec, int64_t time_ns, uint32_t thread, uint8_t state)
{
    const recording_tap *tap = &rec->options.tap;
    recording_moment moment = {.time_ns = time_ns, .thread = thread, .state = state};
    return tap->keep == NULL || tap->keep(tap->ctx, rec->agg, &moment);
}

static int add_values(recording *rec, const recording_sample *sample, sagg_sample *to)
{
    const recording_tap *tap = &rec->options.tap;
    int rc = 0;
    for (uint32_t type = 1; rc == 0 && type < PROFILE_TYPE_END; type++) {
        if (sample->values[type] == 0)
            continue;
        to->type = type;
        to->raw_value = to->value = sample->values[type];
        rc = sagg_add(rec->agg, to, NULL);
        if (rc == 0 && tap->added != NULL)
            rc = tap->added(tap->ctx, rec->agg, to);
    }
    return rc;
}

int recording_add_sample(recording *rec, const recording_sample *sample, recording_error *err)
{
    sagg_sample to = {.samples = sample->samples, .time_ns = sample->time_ns};
    int rc = intern_thread(rec, sample, &to.thread);
    if (rc == 0 && !recording__keeps(rec, sample->time_ns, to.thread, JFR_STATE_UNKNOWN))
        return 0;
    if (rc == 0)
        rc = intern_stack(rec, sample, &to.stack);
    if (rc == 0)
        rc = add_values(rec, sample, &to);
    if (rc == SAGG_ERR_USAGE)
        return recording__fail(err, RECORDING_E_USAGE, 0, "A frame of a sample is of no kind.");
    return rc == 0 ? 0
                   : recording__fail(err, RECORDING_E_NOMEM, 0,
                                     "There is no memory left to add a sample.");
}

/* A recorder takes less time than this between two chunks, which then count as meeting. */
#define MEETING_NS 1000000

static bool is_before(const sagg_span *a, const sagg_span *b)
{
    int64_t apart;
    return a->end_ns < b->start_ns &&
           (__builtin_sub_overflow(b->start_ns, a->end_ns, &apart) || apart > MEETING_NS);
}

static void widen(sagg_span *span, const sagg_span *by)
{
    span->start_ns = by->start_ns < span->start_ns ? by->start_ns : span->start_ns;
    span->end_ns = by->end_ns > span->end_ns ? by->end_ns : span->end_ns;
}

/* Replaces all spans that `span` meets by one span. */
static void join_span(recording *rec, sagg_span span)
{
    sagg_span *spans = rec->spans;
    size_t at = 0;
    while (at < rec->span_count && is_before(&spans[at], &span))
        at++;
    size_t end = at;
    while (end < rec->span_count && !is_before(&span, &spans[end]))
        widen(&span, &spans[end++]);
    if (end == at && rec->span_count == RECORDING_MAX_SPANS) {
        widen(&spans[at > 0 ? at - 1 : 0], &span);
        return;
    }
    memmove(&spans[at + 1], &spans[end], (rec->span_count - end) * sizeof(*spans));
    spans[at] = span;
    rec->span_count = rec->span_count - (end - at) + 1;
}

void recording__add_span(recording *rec, int64_t start_ns, int64_t end_ns)
{
    recording_info *info = &rec->info;
    bool first = info->start_ns == 0 && info->end_ns == 0;
    if (first || start_ns < info->start_ns)
        info->start_ns = start_ns;
    if (first || end_ns > info->end_ns)
        info->end_ns = end_ns;
    info->covered_ns += (uint64_t)end_ns - (uint64_t)start_ns;
    if (start_ns <= end_ns)
        join_span(rec, (sagg_span){start_ns, end_ns});
}

void recording_add_span(recording *rec, int64_t start_ns, int64_t end_ns)
{
    recording__add_span(rec, start_ns, end_ns);
}

size_t recording_spans(const recording *rec, const sagg_span **spans)
{
    *spans = rec->spans;
    return rec->span_count;
}
