/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the samples of one chunk to the aggregate. Each stack, thread and class is interned once and
 * then found by its index. */
#include <stdlib.h>
#include <string.h>

#include "cache.h"

static int no_memory(recording_error *err)
{
    return recording__fail(err, RECORDING_E_NOMEM, 0,
                           "There is no memory left to read the recording.");
}

enum profile_type recording__type(jfr_profile_type type)
{
    static const enum profile_type types[JFR_PROFILE_TYPE_COUNT] = {
        [JFR_CPU] = PROFILE_TYPE_CPU,
        [JFR_WALL] = PROFILE_TYPE_WALL,
        [JFR_ALLOC_BYTES] = PROFILE_TYPE_ALLOC_BYTES,
        [JFR_ALLOC_OBJECTS] = PROFILE_TYPE_ALLOC_OBJECTS,
        [JFR_LOCK_COUNT] = PROFILE_TYPE_LOCK_COUNT,
        [JFR_LOCK_DELAY] = PROFILE_TYPE_LOCK_DELAY,
        [JFR_LIVE_BYTES] = PROFILE_TYPE_LIVE_BYTES,
        [JFR_NATIVEMEM_BYTES] = PROFILE_TYPE_NATIVEMEM_BYTES,
        [JFR_EVENTS] = PROFILE_TYPE_EVENTS,
        [JFR_TRACE_COUNT] = PROFILE_TYPE_TRACE_COUNT,
        [JFR_TRACE_TIME] = PROFILE_TYPE_TRACE_TIME,
    };
    return types[type];
}

static sagg_str str(jfr_str text)
{
    return (sagg_str){text.data, text.len};
}

/* ---- the cache ---- */

void recording__cache_free(recording_cache *c)
{
    free(c->stacks);
    free(c->cut);
    free(c->threads);
    free(c->labels);
    free(c->lanes);
    free(c->lane_facets);
    for (int i = 0; i < RECORDING_STATES; i++)
        free(c->state_stacks[i]);
    free(c->numbers);
    free(c->methods);
    recording__frames_free(&c->frames);
}

/* A compaction invalidates all numbers of stacks and frames. */
int recording__make_room(recording_cache *c)
{
    if (!sagg_full(c->agg))
        return 0;
    memset(c->stacks, 0, ((size_t)c->stack_count + 1) * sizeof(*c->stacks));
    memset(c->methods, 0, ((size_t)c->method_count + 1) * sizeof(*c->methods));
    for (int i = 0; i < RECORDING_STATES && c->state_stacks[i] != NULL; i++)
        memset(c->state_stacks[i], 0, ((size_t)c->stack_count + 1) * sizeof(*c->stacks));
    memset(c->state_frames, 0, sizeof(c->state_frames));
    return recording__frames_forget(&c->frames) ? sagg_compact(c->agg, NULL) : SAGG_ERR_NOMEM;
}

/* ---- frames and stacks ---- */

static uint8_t kind_of(uint8_t kind)
{
    switch (kind) {
    case JFR_FRAME_JAVA:
        return SAGG_JAVA;
    case JFR_FRAME_NATIVE:
        return SAGG_NATIVE;
    case JFR_FRAME_JVM:
        return SAGG_JVM;
    case JFR_FRAME_KERNEL:
        return SAGG_KERNEL;
    default:
        return SAGG_UNKNOWN;
    }
}

int recording__name_frame(const recording_cache *c, const jfr_frame_ref *ref, sagg_frame *out)
{
    jfr_frame from;
    jfr_error cause;
    recording__lock_take(c->lock);
    int rc = jfr_chunk_frame(c->chunk, ref, &from, &cause);
    if (rc == 0)
        *out = (sagg_frame){.class_name = str(from.method->class_name),
                            .method = str(from.method->name),
                            .kind = kind_of(from.kind)};
    recording__lock_give(c->lock);
    return rc < 0 ? rc == JFR_ERR_NOMEM ? SAGG_ERR_NOMEM : SAGG_ERR_LIMIT : 0;
}

/* Returns as recording__name_frame. */
static int find_method(recording_cache *c, const jfr_frame_ref *ref, recording_method *known)
{
    sagg_frame row;
    uint32_t method;
    int rc = recording__name_frame(c, ref, &row);
    if (rc == 0)
        rc = sagg_add_method(c->agg, &method, &row, NULL);
    if (rc == 0)
        *known = (recording_method){method + 1, ref->kind};
    return rc;
}

/* jfr_number_frame */
static int number_frame(void *ctx, const jfr_frame_ref *ref, uint32_t *frame)
{
    recording_cache *c = ctx;
    uint32_t slot = ref->method < c->method_count ? ref->method : c->method_count;
    recording_method *known = &c->methods[slot];
    int rc = 0;
    if (known->method == 0 || known->kind != ref->kind)
        rc = find_method(c, ref, known);
    if (rc == 0)
        rc = sagg_add_line(c->agg, frame, known->method - 1, recording__line(ref), NULL);
    c->frames.number_rc = rc;
    return rc;
}

/* calloc's pages cost nothing until they are used, and a chunk's pools can have many more stacks
 * than its samples use. */
bool recording__cache_init(recording_cache *c, const recording *rec, sagg *agg, jfr_chunk *chunk,
                           const jfr_sums *sums)
{
    *c = (recording_cache){.rec = rec, .agg = agg, .chunk = chunk, .sums = sums};
    c->info = sums != NULL ? jfr_sums_get_info(sums) : NULL;
    const jfr_chunk_info *pools = jfr_chunk_get_info(chunk);
    c->stack_count = pools->stack_count;
    c->thread_count = pools->thread_count;
    c->class_count = pools->class_count;
    c->method_count = pools->method_count;
    c->stacks = calloc((size_t)c->stack_count + 1, sizeof(*c->stacks));
    c->cut = calloc((size_t)c->stack_count + 1, sizeof(*c->cut));
    c->threads = calloc((size_t)c->thread_count + 1, sizeof(*c->threads));
    c->labels = calloc((size_t)c->class_count + 1, sizeof(*c->labels));
    c->methods = calloc((size_t)c->method_count + 1, sizeof(*c->methods));
    bool wanted = rec->options.wall_states, made = true;
    for (int i = 0; wanted && i < RECORDING_STATES; i++) {
        c->state_stacks[i] = calloc((size_t)c->stack_count + 1, sizeof(*c->stacks));
        made = made && c->state_stacks[i] != NULL;
    }
    return recording__frames_init(&c->frames, chunk, number_frame, c) && made &&
           c->stacks != NULL && c->cut != NULL && c->threads != NULL && c->labels != NULL &&
           c->methods != NULL;
}

/* Maps the frames of a stack, after the numbers in use. A damaged stack has no frames. Returns what
 * recording__name_frame returns. */
static int map_frames(recording_cache *c, uint32_t index, size_t used, jfr_stack_ref *out)
{
    bool damaged;
    int rc = recording__frames_read(&c->frames, index, used, out, &damaged);
    c->bad_stacks += damaged;
    return rc;
}

/* Stacks of the chunk whose frames are in c->frames.numbers, one stack after the other. */
typedef struct stack_batch {
    uint32_t slots[RECORDING_STACKS];
    uint32_t depths[RECORDING_STACKS];
    size_t count;
    size_t frames;
} stack_batch;

/* Returns what recording__name_frame returns. A damaged stack counts as no stack. */
static int take_stack(recording_cache *c, stack_batch *batch, uint32_t slot)
{
    jfr_stack_ref from = {0};
    int rc = slot < c->stack_count ? map_frames(c, slot, batch->frames, &from) : 0;
    c->cut[slot] = from.truncated || from.frame_count > recording__max_frames(c->rec);
    if (rc != 0)
        return rc;
    batch->slots[batch->count] = slot;
    batch->depths[batch->count++] = from.frame_count;
    batch->frames += from.frame_count;
    return 0;
}

static int intern_batch(recording_cache *c, const stack_batch *batch)
{
    uint32_t numbers[RECORDING_STACKS];
    int rc = sagg_add_stacks(c->agg, numbers, c->frames.numbers, batch->depths, batch->count, NULL);
    for (size_t i = 0; rc == 0 && i < batch->count; i++)
        c->stacks[batch->slots[i]] = numbers[i] != SAGG_DROPPED ? numbers[i] + 1 : 0;
    return rc;
}

int recording__map_stacks(recording_cache *c, const uint32_t *indices, size_t count)
{
    stack_batch batch = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = indices[i] < c->stack_count ? indices[i] : c->stack_count;
        int rc = c->stacks[slot] == 0 ? take_stack(c, &batch, slot) : 0;
        if (rc != 0 && rc != SAGG_ERR_LIMIT)
            return rc;
    }
    return intern_batch(c, &batch);
}

int recording__map_stack(recording_cache *c, uint32_t index, uint32_t *stack)
{
    uint32_t slot = index < c->stack_count ? index : c->stack_count;
    int rc = c->stacks[slot] == 0 ? recording__map_stacks(c, &index, 1) : 0;
    *stack = c->stacks[slot] != 0 ? c->stacks[slot] - 1 : SAGG_DROPPED;
    return rc;
}

/* ---- threads and labels ---- */

int recording__map_thread(recording_cache *c, uint32_t index, uint32_t *thread)
{
    *thread = SAGG_NO_THREAD;
    if (index >= c->thread_count)
        return 0;
    if (c->threads[index] != 0) {
        *thread = c->threads[index] - 1;
        return 0;
    }
    jfr_thread from;
    jfr_error cause;
    recording__lock_take(c->lock);
    int rc = jfr_chunk_thread(c->chunk, index, &from, &cause);
    recording__lock_give(c->lock);
    if (rc < 0)
        return rc == JFR_ERR_NOMEM ? SAGG_ERR_NOMEM : 0;
    sagg_thread row = {.os_tid = from.os_tid,
                       .java_tid = from.java_tid,
                       .name = str(from.java_name.len > 0 ? from.java_name : from.os_name)};
    rc = sagg_add_thread(c->agg, thread, &row, NULL);
    if (rc == 0)
        c->threads[index] = *thread + 1;
    return rc;
}

uint32_t recording__facet(const jfr_sums_lane *lane)
{
    if (lane->lock_kind == JFR_LOCK_MONITOR)
        return RECORDING_FACET_LOCK_MONITOR;
    if (lane->lock_kind == JFR_LOCK_PARK)
        return RECORDING_FACET_LOCK_PARK;
    if (lane->source == JFR_SOURCE_ALLOC_IN_TLAB)
        return RECORDING_FACET_ALLOC_IN_TLAB;
    if (lane->source == JFR_SOURCE_ALLOC_OUTSIDE)
        return RECORDING_FACET_ALLOC_OUTSIDE_TLAB;
    bool is_wall = lane->value_count > 0 && lane->types[0] == JFR_WALL;
    if (is_wall && lane->state == JFR_STATE_RUNNABLE)
        return RECORDING_FACET_WALL_RUNNING;
    if (is_wall && lane->state == JFR_STATE_SLEEPING)
        return RECORDING_FACET_WALL_WAITING;
    return RECORDING_FACET_NONE;
}

static int add_label(recording_cache *c, uint32_t klass, uint32_t facet, uint32_t *known)
{
    jfr_class from = {0};
    jfr_error cause;
    uint32_t label;
    recording__lock_take(c->lock);
    int rc = klass < c->class_count ? jfr_chunk_class(c->chunk, klass, &from, &cause) : 0;
    recording__lock_give(c->lock);
    if (rc == JFR_ERR_NOMEM)
        return SAGG_ERR_NOMEM;
    if (rc < 0)
        from = (jfr_class){0};
    rc = sagg_add_label(c->agg, &label, facet, str(from.name), NULL);
    *known = rc == 0 ? label + 1 : 0;
    return rc;
}

int recording__map_label(recording_cache *c, const jfr_sums_lane *lane, uint32_t *label)
{
    const recording_options *o = &c->rec->options;
    uint32_t facet = o->facets ? recording__facet(lane) : RECORDING_FACET_NONE;
    bool has_class = o->objects && lane->klass < c->class_count;
    uint32_t klass = has_class ? lane->klass : c->class_count;
    uint32_t *known = &c->labels[klass][facet];
    int rc = *known == 0 ? add_label(c, klass, facet, known) : 0;
    *label = *known - 1;
    return rc;
}

/* ---- states ---- */

/* Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM. */
static int state_frame(recording_cache *c, uint32_t state, uint32_t *frame)
{
    static const char *const names[RECORDING_STATES] = {"[running]", "[waiting]"};
    sagg_frame row = {.method = {names[state], strlen(names[state])}, .kind = SAGG_UNKNOWN};
    int rc = c->state_frames[state] == 0 ? sagg_add_frame(c->agg, frame, &row, NULL) : 0;
    if (rc != 0)
        return rc;
    if (c->state_frames[state] == 0)
        c->state_frames[state] = *frame + 1;
    *frame = c->state_frames[state] - 1;
    return 0;
}

/* Interns a stack with one more frame at its root. Returns as state_frame. */
static int add_root(recording_cache *c, uint32_t stack, uint32_t root, uint32_t *number)
{
    sagg_stack from;
    if (!sagg_stack_at(c->agg, stack, &from))
        return SAGG_ERR_LIMIT;
    int rc = recording__reserve(&c->numbers, &c->number_room, (size_t)from.count + 1);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < from.count; i++)
        c->numbers[i] = sagg_stack_frame(&from, i);
    c->numbers[from.count] = root;
    return sagg_add_stack(c->agg, number, c->numbers, (size_t)from.count + 1, NULL);
}

int recording__map_state(recording_cache *c, uint32_t facet, uint32_t index, uint32_t *stack)
{
    uint32_t state = facet - RECORDING_FACET_WALL_RUNNING, root, number = SAGG_DROPPED;
    if (facet < RECORDING_FACET_WALL_RUNNING || c->state_stacks[0] == NULL ||
        *stack == SAGG_DROPPED)
        return 0;
    uint32_t *known = &c->state_stacks[state][index < c->stack_count ? index : c->stack_count];
    if (*known == 0) {
        int rc = state_frame(c, state, &root);
        if (rc == 0)
            rc = add_root(c, *stack, root, &number);
        rc = recording__drop_on_limit(rc, &number);
        if (rc != 0)
            return rc;
        *known = number == SAGG_DROPPED ? 0 : number + 1;
    }
    *stack = *known == 0 ? SAGG_DROPPED : *known - 1;
    return 0;
}

/* ---- samples ---- */

/* Makes a sample in `to` for each value of `from`. They differ only in their values. */
static void put_values(recording_cache *c, const jfr_sample *from, sagg_sample *to)
{
    uint32_t slot = from->stack < c->stack_count ? from->stack : c->stack_count;
    for (int i = 0; i < from->value_count; i++) {
        if (i > 0)
            to[i] = to[0];
        to[i].type = recording__type(from->values[i].type);
        to[i].raw_value = from->values[i].raw;
        to[i].value = from->values[i].value;
        if (c->cut[slot])
            c->truncated_raw[to[i].type] += to[i].raw_value;
    }
}

/* Returns whether the current sample is beyond max_samples. */
static bool is_excess(const recording_cache *c)
{
    uint64_t most = c->rec->options.max_samples;
    return most != 0 && c->rec->info.counts.samples + c->samples > most;
}

/* Maps all fields of a sample except its values to the aggregate's numbers. */
static int map_sample(recording_cache *c, const jfr_sample *from, sagg_sample *to)
{
    jfr_sums_lane lane = {.klass = from->klass,
                          .source = from->source,
                          .state = from->state,
                          .lock_kind = from->lock_kind,
                          .value_count = from->value_count,
                          .types = {(uint8_t)from->values[0].type}};
    int rc = recording__map_label(c, &lane, &to->label);
    if (rc == 0 && is_excess(c))
        to->stack = SAGG_DROPPED;
    else if (rc == 0)
        rc = recording__map_stack(c, from->stack, &to->stack);
    if (rc == 0)
        rc = recording__map_state(c, recording__facet(&lane), from->stack, &to->stack);
    if (rc == 0)
        put_values(c, from, to);
    return rc;
}

static int tell(const recording_cache *c, const sagg_sample *samples, int count)
{
    const recording_tap *tap = &c->rec->options.tap;
    int rc = 0;
    for (int i = 0; tap->added != NULL && rc == 0 && i < count; i++)
        rc = tap->added(tap->ctx, c->agg, &samples[i]);
    return rc;
}

static int add_sample(recording_cache *c, const jfr_sample *from)
{
    sagg_sample to[JFR_SAMPLE_VALUES] = {{.samples = 1, .time_ns = from->time_ns}};
    c->samples++;
    c->excess_samples += is_excess(c);
    int rc = recording__make_room(c);
    if (rc == 0)
        rc = recording__map_thread(c, from->thread, &to[0].thread);
    if (rc == 0 && !recording__keeps(c->rec, from->time_ns, to[0].thread, from->state))
        return 0;
    if (rc == 0)
        rc = map_sample(c, from, to);
    if (rc == 0)
        rc = sagg_add_all(c->agg, to, from->value_count, NULL);
    return rc == 0 ? tell(c, to, from->value_count) : rc;
}

/* Damage ends the chunk's samples, and jfr_file_loss reports it; the next chunk can still be read.
 */
static int add_each(recording_cache *c, int64_t *last_ns)
{
    jfr_sample sample;
    jfr_error cause;
    int rc;
    while ((rc = jfr_samples_next(c->chunk, &sample, &cause)) == 1) {
        *last_ns = sample.time_ns > *last_ns ? sample.time_ns : *last_ns;
        rc = add_sample(c, &sample);
        if (rc != 0)
            return rc;
    }
    return rc == JFR_ERR_NOMEM ? SAGG_ERR_NOMEM : 0;
}

static void take_counts(recording *rec, const recording_cache *c)
{
    rec->info.counts.bad_stacks += c->bad_stacks;
    rec->info.counts.excess_samples += c->excess_samples;
    for (unsigned type = 0; type < PROFILE_TYPE_END; type++)
        rec->info.truncated_raw[type] += c->truncated_raw[type];
}

/* Beyond max_samples, samples are read one by one to find out which of them are excess. */
static bool can_add_sums(const recording_cache *c)
{
    uint64_t most = c->rec->options.max_samples;
    jfr_chunk_stats stats;
    if (c->info == NULL)
        return false;
    jfr_chunk_get_stats(c->chunk, &stats);
    return most == 0 || c->rec->info.counts.samples + stats.samples <= most;
}

static int add_samples(recording_cache *c, int64_t *last_ns)
{
    if (can_add_sums(c))
        return recording__add_sums(c);
    jfr_samples_rewind(c->chunk);
    return add_each(c, last_ns);
}

static int add_now(recording *rec, jfr_chunk *chunk, const jfr_sums *sums, int64_t *last_ns)
{
    recording_cache c;
    int rc = recording__cache_init(&c, rec, rec->agg, chunk, sums) ? add_samples(&c, last_ns)
                                                                   : SAGG_ERR_NOMEM;
    take_counts(rec, &c);
    recording__cache_free(&c);
    return rc;
}

int recording__add_chunk(recording *rec, jfr_chunk *chunk, const jfr_sums *sums,
                         recording_error *err)
{
    int64_t last_ns = INT64_MIN;
    int rc = add_now(rec, chunk, sums, &last_ns);
    recording__take_settings(rec, chunk);
    recording__take_counts(&rec->info.counts, chunk);
    recording__take_unread(rec, chunk);
    recording__take_time(rec, chunk, last_ns);
    return rc != 0 ? no_memory(err) : 0;
}
