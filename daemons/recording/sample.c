/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from elsewhere than JFR files. */
#include <stdlib.h>

#include "internal.h"

static int frame_room(recording *rec, size_t count)
{
    if (count <= rec->frame_room)
        return 0;
    size_t room = count < 256 ? 256 : count * 2;
    uint32_t *frames = realloc(rec->frames, room * sizeof(*frames));
    if (frames == NULL)
        return SAGG_E_NOMEM;
    rec->frames = frames;
    rec->frame_room = room;
    return 0;
}

static int intern_stack(recording *rec, const recording_sample *sample, uint32_t *stack)
{
    int rc = sagg_full(rec->agg) ? sagg_compact(rec->agg, NULL) : 0;
    if (rc == 0)
        rc = frame_room(rec, sample->count);
    for (size_t i = 0; rc == 0 && i < sample->count; i++)
        rc = sagg_add_frame(rec->agg, &rec->frames[i], &sample->frames[i], NULL);
    if (rc == 0)
        rc = sagg_add_stack(rec->agg, stack, rec->frames, sample->count, NULL);
    if (rc != SAGG_E_LIMIT)
        return rc;
    *stack = SAGG_DROPPED;
    return 0;
}

static int intern_thread(recording *rec, const recording_sample *sample, uint32_t *thread)
{
    sagg_thread row = {.os_tid = sample->os_tid, .name = sample->thread};
    *thread = SAGG_NO_THREAD;
    return row.name.size == 0 && row.os_tid == 0 ? 0
                                                 : sagg_add_thread(rec->agg, thread, &row, NULL);
}

static bool is_wanted(const recording *rec, const recording_sample *sample, uint32_t thread)
{
    const recording_tap *tap = &rec->options.tap;
    recording_moment moment = {
        .time_ns = sample->time_ns, .thread = thread, .state = JFR_STATE_UNKNOWN};
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
    if (rc == 0 && !is_wanted(rec, sample, to.thread))
        return 0;
    if (rc == 0)
        rc = intern_stack(rec, sample, &to.stack);
    if (rc == 0)
        rc = add_values(rec, sample, &to);
    if (rc == SAGG_E_USAGE)
        return recording__fail(err, RECORDING_E_USAGE, 0, "A frame of a sample is of no kind.");
    return rc == 0 ? 0
                   : recording__fail(err, RECORDING_E_NOMEM, 0,
                                     "There is no memory left to add a sample.");
}

void recording__add_span(recording_info *info, int64_t start_ns, int64_t end_ns)
{
    bool first = info->start_ns == 0 && info->end_ns == 0;
    if (first || start_ns < info->start_ns)
        info->start_ns = start_ns;
    if (first || end_ns > info->end_ns)
        info->end_ns = end_ns;
    info->covered_ns += (uint64_t)end_ns - (uint64_t)start_ns;
}

void recording_add_span(recording *rec, int64_t start_ns, int64_t end_ns)
{
    recording__add_span(&rec->info, start_ns, end_ns);
}
