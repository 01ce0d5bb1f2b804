/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/generic_impl.h"
#include "events/values_impl.h"

#include <string.h>

struct jfr_events {
    jfr_chunk *chunk;
    uint64_t serial; /* serial of the chunk that it was opened on */
    jfr__cursor at;
    int64_t from_ns;
    int64_t to_ns;
    bool raw;
    uint64_t bad;
    bool chosen[]; /* by type */
};

static int take_options(jfr_events_options *out, const jfr_events_options *given, jfr_error *err)
{
    *out = (jfr_events_options)JFR_EVENTS_OPTIONS_INIT;
    if (given == NULL)
        return 0;
    if (given->size != sizeof(*out))
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "jfr_events_options must start from JFR_EVENTS_OPTIONS_INIT.");
    *out = *given;
    if (out->reserved != 0 || (out->flags & ~(uint32_t)JFR_EVENTS_RAW) != 0)
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "jfr_events_options.flags or reserved have bits that are not defined.");
    return 0;
}

int jfr_events_open(jfr_events **out, jfr_chunk *chunk, const jfr_events_options *options,
                    jfr_error *err)
{
    const jfr_allocator *alloc = &chunk->file->allocator;
    jfr_events_options o;
    jfr__generic *g = NULL;
    int rc = take_options(&o, options, err);
    if (rc == 0)
        rc = jfr__generic_get(chunk, &g, err);
    if (rc < 0)
        return rc;
    jfr_events *events =
        alloc->alloc(alloc->ctx, sizeof(*events) + g->type_count * sizeof(events->chosen[0]));
    if (events == NULL)
        return jfr__fail_nomem(err);
    *events = (jfr_events){
        .chunk = chunk,
        .serial = chunk->serial,
        .at = jfr__chunk_cursor(chunk, chunk->info.offset + JFR__HEADER_SIZE, chunk->end),
        .from_ns = o.from_ns,
        .to_ns = o.to_ns,
        .raw = (o.flags & JFR_EVENTS_RAW) != 0,
    };
    for (uint32_t i = 0; i < g->type_count; i++)
        events->chosen[i] = jfr_type_matches(&g->types[i], o.events, o.categories);
    *out = events;
    return 0;
}

void jfr_events_close(jfr_events *events)
{
    if (events == NULL)
        return;
    const jfr_allocator *alloc = &events->chunk->file->allocator;
    alloc->free(alloc->ctx, events);
}

uint64_t jfr_events_bad(const jfr_events *events)
{
    return events->bad;
}

static bool is_ticks(const jfr_field *f)
{
    return f->kind == JFR_KIND_LONG && !f->is_array && !f->is_constant;
}

static int find_times(jfr_chunk *chunk, const jfr_type *type, jfr__event_times *out, jfr_error *err)
{
    uint32_t start = JFR_NONE;
    uint32_t duration = JFR_NONE;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const jfr_field *f = &type->fields[i];
        if (start == JFR_NONE && jfr__str_is(f->name, "startTime") && is_ticks(f))
            start = i;
        else if (start != JFR_NONE && jfr__str_is(f->name, "duration") && is_ticks(f))
            duration = i;
    }
    int rc = 0;
    out->has_start = start != JFR_NONE;
    out->has_duration = duration != JFR_NONE;
    if (out->has_start)
        rc = jfr__skip_fields(chunk, type->index, 0, start, &out->to_start, err);
    if (rc == 0 && out->has_duration)
        rc = jfr__skip_fields(chunk, type->index, start + 1, duration - start - 1,
                              &out->to_duration, err);
    out->known = rc == 0;
    return rc;
}

/* Returns 1, 0 when the fields do not hold the times, or a negative code. */
static int read_times(jfr_chunk *chunk, jfr__cursor *c, jfr_event *out, jfr_error *err)
{
    jfr__event_times *times = &chunk->generic->times[out->type->index];
    if (!times->known) {
        int rc = find_times(chunk, out->type, times, err);
        if (rc < 0)
            return rc;
    }
    if (!times->has_start)
        return 1;
    jfr__plan_run(&times->to_start, c, NULL);
    out->start_ticks = jfr__read_long(c);
    out->end_ticks = out->start_ticks;
    out->time_ns = jfr__time_ns(&chunk->info, out->start_ticks);
    if (times->has_duration) {
        jfr__plan_run(&times->to_duration, c, NULL);
        uint64_t ticks = jfr__read_long(c);
        out->end_ticks += ticks;
        out->duration_ns = jfr__ticks_to_ns(&chunk->info, (int64_t)ticks);
    }
    return !c->failed;
}

/* Fills all fields except the head's. `body` is after the type id. Returns what read_times returns.
 */
static int fill(jfr_chunk *chunk, const jfr__event_head *head, jfr__cursor body, jfr_event *out,
                jfr_error *err)
{
    uint32_t index = jfr__idmap_find(&chunk->meta.by_id, head->type);
    *out = (jfr_event){
        .type_id = head->type,
        .offset = head->offset,
        .size = head->end - head->offset,
        .value = {.constant = JFR_NONE, .type = index},
    };
    if (index == JFR_NONE || !chunk->generic->types[index].is_event)
        return 1;
    out->type = &chunk->generic->types[index];
    body.end = body.base + head->end;
    out->value.kind = JFR_VARIANT_STRUCT;
    out->value.offset = jfr__cursor_offset(&body);
    out->value.end = head->end;
    return read_times(chunk, &body, out, err);
}

static bool is_chosen(const jfr_events *events, const jfr_event *e)
{
    int64_t end_ns;
    if (e->type == NULL)
        return events->raw;
    if (!events->chosen[e->type->index])
        return false;
    if (__builtin_add_overflow(e->time_ns, e->duration_ns, &end_ns))
        end_ns = e->duration_ns < 0 ? INT64_MIN : INT64_MAX;
    return end_ns >= events->from_ns && e->time_ns < events->to_ns;
}

int jfr_events_next(jfr_events *events, jfr_event *out, jfr_error *err)
{
    jfr_chunk *chunk = events->chunk;
    if (chunk->serial != events->serial)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "The chunk of this walk over events has ended.");
    jfr__arena_reset(&chunk->scratch);
    jfr__cursor *c = &events->at;
    while (jfr__cursor_left(c) > 0) {
        jfr__event_head head;
        uint64_t offset = jfr__cursor_offset(c);
        if (!jfr__event_next(c, &head)) {
            if (!jfr__resume(chunk, c, offset))
                return 0;
            continue;
        }
        int rc = fill(chunk, &head, *c, out, err);
        c->pos = c->base + head.end;
        if (rc < 0 && rc != JFR_ERR_FORMAT)
            return rc;
        if (rc <= 0)
            events->bad++;
        else if (is_chosen(events, out))
            return 1;
    }
    return 0;
}

int jfr_event_at(jfr_chunk *chunk, uint64_t offset, jfr_event *out, jfr_error *err)
{
    jfr__generic *g = NULL;
    int rc = jfr__generic_get(chunk, &g, err);
    if (rc < 0)
        return rc;
    jfr__arena_reset(&chunk->scratch);
    jfr__event_head head;
    bool inside = offset >= chunk->info.offset + JFR__HEADER_SIZE && offset < chunk->end;
    jfr__cursor c = jfr__chunk_cursor(chunk, inside ? offset : chunk->end, chunk->end);
    if (inside && jfr__event_next(&c, &head))
        rc = fill(chunk, &head, c, out, err);
    if (rc == 1 && out->type != NULL)
        return 0;
    return rc < 0 ? rc : jfr__fail(err, JFR_ERR_FORMAT, offset, "No event is here.");
}
