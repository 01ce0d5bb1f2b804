/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/source_impl.h"
#include "events/values_impl.h"
#include "read/reader_impl.h"

#include <string.h>

static const jfr__want event_wants[] = {
    {"startTime", JFR__SLOT_START, JFR__WANT_INTEGER},
    {"duration", JFR__SLOT_DURATION, JFR__WANT_INTEGER},
    {"eventThread", JFR__SLOT_THREAD, JFR__WANT_INTEGER},
    {"sampledThread", JFR__SLOT_THREAD, JFR__WANT_INTEGER},
    {"stackTrace", JFR__SLOT_STACK, JFR__WANT_INTEGER},
    {"state", JFR__SLOT_STATE, JFR__WANT_INTEGER},
    {"objectClass", JFR__SLOT_CLASS, JFR__WANT_INTEGER},
    {"monitorClass", JFR__SLOT_CLASS, JFR__WANT_INTEGER},
    {"parkedClass", JFR__SLOT_CLASS, JFR__WANT_INTEGER},
    {"allocationSize", JFR__SLOT_SIZE, JFR__WANT_INTEGER},
    {"size", JFR__SLOT_SIZE, JFR__WANT_INTEGER},
    {"tlabSize", JFR__SLOT_WEIGHT, JFR__WANT_INTEGER},
    {"weight", JFR__SLOT_WEIGHT, JFR__WANT_INTEGER},
    {"samples", JFR__SLOT_SAMPLES, JFR__WANT_INTEGER},
    {"samplingPeriod", JFR__SLOT_PERIOD, JFR__WANT_INTEGER},
    {"failed", JFR__SLOT_FAILED, JFR__WANT_INTEGER},
};

static jfr__unit unit_of(const jfr_chunk *chunk, const jfr__type *type, const char *field)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const jfr__field *f = &chunk->meta.fields[type->first_field + i];
        if (jfr__str_is(f->name, field))
            return f->unit;
    }
    return JFR__UNIT_NONE;
}

static jfr__shape weight_shape_of(const jfr_chunk *chunk, const jfr__type *type)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const jfr__field *f = &chunk->meta.fields[type->first_field + i];
        if (jfr__str_is(f->name, "weight") && f->type != JFR_NONE)
            return chunk->meta.types[f->type].shape;
    }
    return JFR__LONG;
}

static int define_source(jfr_chunk *chunk, jfr_sample_source source, const jfr__type *type,
                         jfr_error *err)
{
    uint32_t index = jfr__idmap_put(&chunk->plan_by_type, type->id);
    if (index == JFR_NONE)
        return jfr__fail_nomem(err);
    jfr__event_plan *plan = &chunk->event_plans[index];
    plan->source = source;
    plan->type_id = type->id;
    chunk->plan_of_source[source] = index;
    plan->duration_unit = unit_of(chunk, type, "duration");
    plan->period_unit = unit_of(chunk, type, "samplingPeriod");
    plan->weight_shape = weight_shape_of(chunk, type);
    return jfr__plan_compile(&plan->plan, &chunk->meta, type, event_wants,
                             sizeof(event_wants) / sizeof(event_wants[0]), chunk->info.compressed,
                             chunk->file->options.max_metadata_depth, &chunk->arena, err);
}

int jfr__samples_define(jfr_chunk *chunk, jfr_error *err)
{
    for (int source = 0; source < JFR_SOURCE_COUNT; source++)
        chunk->plan_of_source[source] = JFR_NONE;
    for (int source = JFR_SOURCE_EXECUTION; source < JFR_SOURCE_COUNT; source++) {
        const jfr__type *type = jfr__metadata_named(&chunk->meta, jfr__sources[source].event);
        int rc = type != NULL ? define_source(chunk, (jfr_sample_source)source, type, err) : 0;
        if (rc < 0)
            return rc;
    }
    jfr__idmap_finish(&chunk->plan_by_type);
    return 0;
}

static uint32_t find(const jfr_chunk *chunk, jfr__pool_role role, uint64_t id)
{
    return jfr__idmap_find(&chunk->pools[role].index, id);
}

static void fill(jfr_chunk *chunk, const jfr__event_plan *plan, const uint64_t *slots,
                 jfr_sample *out)
{
    uint64_t state = slots[JFR__SLOT_STATE];
    *out = (jfr_sample){
        .time_ns = jfr__time_ns(&chunk->info, slots[JFR__SLOT_START]),
        .stack = find(chunk, JFR__POOL_STACK, slots[JFR__SLOT_STACK]),
        .thread = find(chunk, JFR__POOL_THREAD, slots[JFR__SLOT_THREAD]),
        .klass = find(chunk, JFR__POOL_CLASS, slots[JFR__SLOT_CLASS]),
        .source = (uint8_t)plan->source,
        .state = state < JFR__SMALL_IDS ? chunk->states[state] : JFR_STATE_UNKNOWN,
    };
}

/*
 * Decides whether a wait is contention. Returns 1 to yield it, 0 to leave it out, or a negative
 * code.
 */
static int classify_wait(jfr_chunk *chunk, jfr_sample *sample, jfr_error *err)
{
    bool is_wanted;
    int rc = jfr__source_wait(chunk, (jfr_sample_source)sample->source, sample->klass,
                              &sample->lock_kind, &is_wanted, err);
    if (rc < 0)
        return rc;
    chunk->stats.idle_waits[sample->source] += !is_wanted;
    return is_wanted;
}

/* Turns one event into a sample. Returns 1 with it, 0 when it yields none, or a negative code. */
static int normalise(jfr_chunk *chunk, const jfr__event_plan *plan, const uint64_t *slots,
                     jfr_sample *out, jfr_error *err)
{
    jfr_chunk_stats *stats = &chunk->stats;
    if (chunk->left_out[plan->source]) {
        stats->rival_events[plan->source]++;
        return 0;
    }
    if (plan->source == JFR_SOURCE_NATIVE_METHOD &&
        (chunk->file->options.flags & JFR_KEEP_NATIVE_SAMPLES) == 0) {
        stats->native_samples++;
        return 0;
    }
    fill(chunk, plan, slots, out);
    int rc = classify_wait(chunk, out, err);
    if (rc <= 0)
        return rc;
    if (!jfr__values_fill(chunk, plan, slots, out)) {
        stats->unmeasured_events[plan->source]++;
        return 0;
    }
    stats->samples++;
    stats->failed_samples += slots[JFR__SLOT_FAILED] != 0;
    stats->stackless_samples += out->stack == JFR_NONE;
    return 1;
}

void jfr__samples_end(jfr_chunk *chunk, uint64_t offset, bool lost)
{
    if (lost)
        (void)jfr__resume(chunk, &chunk->events, offset);
    chunk->events.pos = chunk->events.base + chunk->end;
}

int jfr_samples_next(jfr_chunk *chunk, jfr_sample *sample, jfr_error *err)
{
    jfr__cursor *c = &chunk->events;
    c->end = c->base + chunk->end;
    while (jfr__cursor_left(c) > 0) {
        jfr__event_head head;
        uint64_t offset = jfr__cursor_offset(c);
        if (!jfr__event_next(c, &head)) {
            if (!jfr__resume(chunk, c, offset))
                return 0;
            continue;
        }
        jfr__cursor body = *c;
        body.end = c->base + head.end;
        c->pos = body.end;
        chunk->stats.events++;
        uint32_t index = jfr__idmap_find(&chunk->plan_by_type, head.type);
        if (index == JFR_NONE)
            continue;
        const jfr__event_plan *plan = &chunk->event_plans[index];
        uint64_t slots[JFR__EVENT_SLOTS] = {[JFR__SLOT_STATE] = JFR__NO_STATE};
        jfr__plan_run(&plan->plan, &body, slots);
        if (body.failed) {
            chunk->stats.bad_events++;
            continue;
        }
        int rc = normalise(chunk, plan, slots, sample, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

void jfr_samples_rewind(jfr_chunk *chunk)
{
    chunk->events = jfr__chunk_cursor(chunk, chunk->info.offset + JFR__HEADER_SIZE, chunk->end);
    chunk->stats = (jfr_chunk_stats){0};
}
