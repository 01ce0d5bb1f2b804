/* SPDX-License-Identifier: Apache-2.0 */
#include <jfr/event.h>

#include "read/split_impl.h"

static int64_t add_saturated(int64_t a, uint64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void widen(jfr_span *span, bool *found, int64_t start_ns, int64_t end_ns)
{
    if (!*found || start_ns < span->start_ns)
        span->start_ns = start_ns;
    if (!*found || end_ns > span->end_ns)
        span->end_ns = end_ns;
    *found = true;
}

/* Gives the end of the last event of a chunk, or the chunk's start if it has no event. */
static int find_last_event(int64_t *end_ns, jfr_chunk *chunk, jfr_error *err)
{
    jfr_events *events;
    jfr_event event;
    *end_ns = chunk->info.start_ns;
    int rc = jfr_events_open(&events, chunk, NULL, err);
    if (rc < 0)
        return rc;
    while ((rc = jfr_events_next(events, &event, err)) == 1) {
        uint64_t duration = event.duration_ns > 0 ? (uint64_t)event.duration_ns : 0;
        int64_t end = add_saturated(event.time_ns, duration);
        *end_ns = end > *end_ns ? end : *end_ns;
    }
    jfr_events_close(events);
    return rc;
}

static int read_in_a_row(jfr_file *reader, jfr_span *span, bool *found, jfr_error *err)
{
    jfr_chunk *chunk;
    int rc;
    while ((rc = jfr_next_chunk(reader, &chunk, err)) == 1 || rc == JFR_ERR_LIMIT) {
        if (rc == JFR_ERR_LIMIT)
            continue;
        int64_t end_ns = add_saturated(chunk->info.start_ns, chunk->info.duration_ns);
        rc = chunk->info.finished ? 0 : find_last_event(&end_ns, chunk, err);
        if (rc == JFR_ERR_NOMEM)
            return rc;
        widen(span, found, chunk->info.start_ns, end_ns);
    }
    return rc;
}

int jfr_file_span(const jfr_file *file, jfr_span *out, jfr_error *err)
{
    bool found = false;
    uint64_t at = 0;
    jfr__header header;
    *out = (jfr_span){0};
    for (; at < file->len && jfr__whole_chunk(file, at, &header); at += header.size)
        widen(out, &found, header.start_ns, add_saturated(header.start_ns, header.duration_ns));
    if (at >= file->len)
        return found;
    jfr_file *reader;
    int rc = jfr__split_reader(&reader, file, err);
    if (rc < 0)
        return rc;
    jfr__split_go(reader, &(jfr__place){at, file->len - at});
    rc = read_in_a_row(reader, out, &found, err);
    jfr_close(reader);
    return rc < 0 ? rc : found;
}
