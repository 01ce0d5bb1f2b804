/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of one chunk into the aggregate: each stack, thread and class is interned once, then
 * found by its index. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Labels of one class: one a facet. */
enum { FACETS = RECORDING_FACET_WALL_WAITING + 1 };

/* What a method of the chunk was last met as. */
typedef struct known_method {
    uint32_t method; /* of the aggregate, + 1; 0 = none */
    uint8_t kind;    /* of the reference */
} known_method;

/* What is known about the chunk's indices. Entries are an index of the aggregate + 1; 0 = not met
 * yet. */
typedef struct cache {
    recording *rec;
    jfr_chunk *chunk;
    uint32_t *stacks;
    bool *cut; /* by stack: the recorder or max_frames left its root out */
    uint32_t *threads;
    uint32_t (*labels)[FACETS]; /* by class; the last row is for samples without one */
    known_method *methods;      /* the last is for frames whose method is unknown */
    uint32_t stack_count, thread_count, class_count, method_count;
    jfr_frame_ref *refs;    /* of the stack being interned */
    sagg_frame_ref *frames; /* the same, in the aggregate's numbers */
    size_t frame_room;
} cache;

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
    };
    return types[type];
}

static sagg_str str(jfr_str text)
{
    return (sagg_str){text.data, text.len};
}

/* ---- the cache ---- */

static void cache_free(cache *c)
{
    free(c->stacks);
    free(c->cut);
    free(c->threads);
    free(c->labels);
    free(c->methods);
    free(c->refs);
    free(c->frames);
}

/* calloc's pages cost nothing until they are touched: a chunk's pools can hold many more stacks
 * than it uses. */
static bool cache_init(cache *c, recording *rec, jfr_chunk *chunk)
{
    *c = (cache){.rec = rec, .chunk = chunk};
    c->stack_count = jfr_chunk_stack_count(chunk);
    c->thread_count = jfr_chunk_thread_count(chunk);
    c->class_count = jfr_chunk_class_count(chunk);
    c->method_count = jfr_chunk_method_count(chunk);
    c->stacks = calloc((size_t)c->stack_count + 1, sizeof(*c->stacks));
    c->cut = calloc((size_t)c->stack_count + 1, sizeof(*c->cut));
    c->threads = calloc((size_t)c->thread_count + 1, sizeof(*c->threads));
    c->labels = calloc((size_t)c->class_count + 1, sizeof(*c->labels));
    c->methods = calloc((size_t)c->method_count + 1, sizeof(*c->methods));
    return c->stacks != NULL && c->cut != NULL && c->threads != NULL && c->labels != NULL &&
           c->methods != NULL;
}

/* After a compaction all numbers of stacks and frames are void. */
static int make_room(cache *c)
{
    if (!sagg_full(c->rec->agg))
        return 0;
    memset(c->stacks, 0, ((size_t)c->stack_count + 1) * sizeof(*c->stacks));
    memset(c->methods, 0, ((size_t)c->method_count + 1) * sizeof(*c->methods));
    return sagg_compact(c->rec->agg, NULL);
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

/* Names the method of a frame. Returns 0, SAGG_E_LIMIT (the stack is to be dropped) or
 * SAGG_E_NOMEM. */
static int learn_method(cache *c, const jfr_frame_ref *ref, known_method *known)
{
    jfr_frame from;
    jfr_error cause;
    uint32_t method;
    int rc = jfr_chunk_frame(c->chunk, ref, &from, &cause);
    if (rc < 0)
        return rc == JFR_ERR_NOMEM ? SAGG_E_NOMEM : SAGG_E_LIMIT;
    sagg_frame row = {.class_name = str(from.method->class_name),
                      .method = str(from.method->name),
                      .kind = kind_of(from.kind)};
    rc = sagg_add_method(c->rec->agg, &method, &row, NULL);
    if (rc == 0)
        *known = (known_method){method + 1, ref->kind};
    return rc;
}

static int frame_room(cache *c, size_t count)
{
    if (count <= c->frame_room)
        return 0;
    size_t room = count < 256 ? 256 : count * 2;
    free(c->refs);
    free(c->frames);
    c->refs = malloc(room * sizeof(*c->refs));
    c->frames = malloc(room * sizeof(*c->frames));
    c->frame_room = c->refs != NULL && c->frames != NULL ? room : 0;
    return c->frame_room != 0 ? 0 : SAGG_E_NOMEM;
}

static int map_frames(cache *c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const jfr_frame_ref *ref = &c->refs[i];
        uint32_t slot = ref->method < c->method_count ? ref->method : c->method_count;
        known_method *known = &c->methods[slot];
        if (known->method == 0 || known->kind != ref->kind) {
            int rc = learn_method(c, ref, known);
            if (rc != 0)
                return rc;
        }
        /* The JDK writes -1 where it knows no line. */
        uint32_t line = ref->line <= INT32_MAX ? ref->line : 0;
        c->frames[i] = (sagg_frame_ref){known->method - 1, line};
    }
    return 0;
}

static int intern_stack(cache *c, uint32_t count, uint32_t *stack)
{
    int rc = map_frames(c, count);
    if (rc == 0)
        rc = sagg_add_stack_refs(c->rec->agg, stack, c->frames, count, NULL);
    return recording__drop_on_limit(rc, stack);
}

/* Decodes a stack into c->refs. A damaged one has no frames. */
static int read_stack(cache *c, uint32_t index, jfr_stack_ref *out)
{
    *out = (jfr_stack_ref){0};
    for (;;) {
        jfr_error cause;
        int rc =
            jfr_chunk_stack_refs(c->chunk, index, c->refs, (uint32_t)c->frame_room, out, &cause);
        if (rc < 0) {
            *out = (jfr_stack_ref){0};
            c->rec->info.counts.bad_stacks++;
            return 0;
        }
        if (out->frame_count <= c->frame_room)
            return 0;
        rc = frame_room(c, out->frame_count);
        if (rc != 0)
            return rc;
    }
}

static uint32_t max_frames(const recording *rec)
{
    return rec->options.max_frames != 0 ? rec->options.max_frames : 2048;
}

/* The stack of a sample. A damaged one counts as none; the sample stays. */
static int map_stack(cache *c, uint32_t index, uint32_t *stack)
{
    uint32_t slot = index < c->stack_count ? index : c->stack_count;
    if (c->stacks[slot] != 0) {
        *stack = c->stacks[slot] - 1;
        return 0;
    }
    jfr_stack_ref from = {0};
    int rc = slot < c->stack_count ? read_stack(c, index, &from) : 0;
    if (rc != 0)
        return rc;
    c->cut[slot] = from.truncated || from.frame_count > max_frames(c->rec);
    rc = intern_stack(c, from.frame_count, stack);
    if (rc == 0 && *stack != SAGG_DROPPED)
        c->stacks[slot] = *stack + 1;
    return rc;
}

/* ---- threads and labels ---- */

static int map_thread(cache *c, uint32_t index, uint32_t *thread)
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
    int rc = jfr_chunk_thread(c->chunk, index, &from, &cause);
    if (rc < 0)
        return rc == JFR_ERR_NOMEM ? SAGG_E_NOMEM : 0;
    sagg_thread row = {.os_tid = from.os_tid,
                       .java_tid = from.java_tid,
                       .name = str(from.java_name.len > 0 ? from.java_name : from.os_name)};
    rc = sagg_add_thread(c->rec->agg, thread, &row, NULL);
    if (rc == 0)
        c->threads[index] = *thread + 1;
    return rc;
}

static uint32_t facet_of(const jfr_sum *sample)
{
    if (sample->lock_kind == JFR_LOCK_MONITOR)
        return RECORDING_FACET_LOCK_MONITOR;
    if (sample->lock_kind == JFR_LOCK_PARK)
        return RECORDING_FACET_LOCK_PARK;
    if (sample->source == JFR_SOURCE_ALLOC_IN_TLAB)
        return RECORDING_FACET_ALLOC_IN_TLAB;
    if (sample->source == JFR_SOURCE_ALLOC_OUTSIDE)
        return RECORDING_FACET_ALLOC_OUTSIDE_TLAB;
    bool is_wall = sample->value_count > 0 && sample->values[0].type == JFR_WALL;
    if (is_wall && sample->state == JFR_STATE_RUNNABLE)
        return RECORDING_FACET_WALL_RUNNING;
    if (is_wall && sample->state == JFR_STATE_SLEEPING)
        return RECORDING_FACET_WALL_WAITING;
    return RECORDING_FACET_NONE;
}

static int map_label(cache *c, const jfr_sum *sample, uint32_t *label)
{
    const recording_options *o = &c->rec->options;
    uint32_t facet = o->facets ? facet_of(sample) : RECORDING_FACET_NONE;
    bool has_class = o->objects && sample->klass < c->class_count;
    uint32_t *known = &c->labels[has_class ? sample->klass : c->class_count][facet];
    if (*known != 0) {
        *label = *known - 1;
        return 0;
    }
    jfr_class klass = {0};
    jfr_error cause;
    int rc = has_class ? jfr_chunk_class(c->chunk, sample->klass, &klass, &cause) : 0;
    if (rc == JFR_ERR_NOMEM)
        return SAGG_E_NOMEM;
    if (rc < 0)
        klass = (jfr_class){0};
    rc = sagg_add_label(c->rec->agg, label, facet, str(klass.name), NULL);
    if (rc == 0)
        *known = *label + 1;
    return rc;
}

/* ---- samples ---- */

/* Makes samples of the values of `from`, in `to`, which are alike but for the values. */
static void put_values(cache *c, const jfr_sum *from, sagg_sample *to)
{
    uint32_t slot = from->stack < c->stack_count ? from->stack : c->stack_count;
    for (int i = 0; i < from->value_count; i++) {
        if (i > 0)
            to[i] = to[0];
        to[i].type = recording__type(from->values[i].type);
        to[i].raw_value = from->values[i].raw;
        to[i].value = from->values[i].value;
        if (c->cut[slot])
            c->rec->info.truncated_raw[to[i].type] += to[i].raw_value;
    }
}

/* What a sample is besides its values, in the aggregate's numbers. */
static int map_sum(cache *c, const jfr_sum *from, sagg_sample *to)
{
    int rc = map_label(c, from, &to->label);
    if (rc == 0)
        rc = map_stack(c, from->stack, &to->stack);
    if (rc == 0)
        put_values(c, from, to);
    return rc;
}

static int tell(const cache *c, const sagg_sample *samples, int count)
{
    const recording_tap *tap = &c->rec->options.tap;
    int rc = 0;
    for (int i = 0; tap->added != NULL && rc == 0 && i < count; i++)
        rc = tap->added(tap->ctx, c->rec->agg, &samples[i]);
    return rc;
}

static int add_sample(cache *c, const jfr_sample *from)
{
    jfr_sum sum = {.stack = from->stack,
                   .thread = from->thread,
                   .klass = from->klass,
                   .source = from->source,
                   .state = from->state,
                   .lock_kind = from->lock_kind,
                   .value_count = from->value_count,
                   .samples = 1};
    memcpy(sum.values, from->values, sizeof(sum.values));
    sagg_sample to[JFR_SAMPLE_VALUES] = {{.samples = 1, .time_ns = from->time_ns}};
    int rc = make_room(c);
    if (rc == 0)
        rc = map_thread(c, from->thread, &to[0].thread);
    if (rc == 0 && !recording__keeps(c->rec, from->time_ns, to[0].thread, from->state))
        return 0;
    if (rc == 0)
        rc = map_sum(c, &sum, to);
    if (rc == 0)
        rc = sagg_add_all(c->rec->agg, to, sum.value_count, NULL);
    return rc == 0 ? tell(c, to, sum.value_count) : rc;
}

/* Damage ends a chunk's samples and is in the file's loss; the next chunk can still be read. */
static int add_each(cache *c, int64_t *last_ns)
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
    return rc == JFR_ERR_NOMEM ? SAGG_E_NOMEM : 0;
}

/*
 * Whether the chunk's samples may be added up before they are looked at: nobody wants to know when
 * they were.
 */
static bool can_sum(const cache *c)
{
    const recording_options *o = &c->rec->options;
    bool tapped = o->tap.keep != NULL || o->tap.added != NULL;
    return o->seconds == 0 && !tapped && jfr_chunk_get_info(c->chunk)->finished;
}

enum { ROWS = 64 };

/* Rows become samples all together: sagg_add_all likes many. */
static int add_rows(cache *c, const jfr_sum *rows, size_t count)
{
    sagg_sample samples[ROWS * JFR_SAMPLE_VALUES];
    size_t used = 0;
    int rc = make_room(c);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        sagg_sample *to = &samples[used];
        *to = (sagg_sample){.samples = rows[i].samples};
        rc = map_thread(c, rows[i].thread, &to->thread);
        if (rc == 0)
            rc = map_sum(c, &rows[i], to);
        used += rows[i].value_count;
    }
    return rc == 0 ? sagg_add_all(c->rec->agg, samples, used, NULL) : rc;
}

static int add_sums(cache *c, const jfr_sums *sums)
{
    jfr_sum rows[ROWS];
    size_t cursor = 0;
    size_t count;
    int rc = 0;
    while (rc == 0 && (count = jfr_sums_read(sums, &cursor, rows, ROWS)) > 0)
        rc = add_rows(c, rows, count);
    return rc;
}

static bool is_first(const recording *rec)
{
    return sagg_stack_count(rec->agg) <= SAGG_DROPPED + 1;
}

/* What the first chunk brings is known before it is added. Later ones bring the same, mostly. */
static void expect(const cache *c, const uint8_t *used, const recording_filled *filled)
{
    uint64_t stacks = 0;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < c->stack_count; i++)
        stacks += used[i];
    for (uint32_t i = 0; i < filled->parts; i++) {
        jfr_sums_stats stats;
        jfr_sums_get_stats(filled->sums[i], &stats);
        rows += stats.rows;
    }
    if (c->rec->options.group != SAGG_BY_THREAD && rows > stacks)
        rows = stacks;
    uint64_t entries = rows * JFR_SAMPLE_VALUES;
    sagg_expect(c->rec->agg, (uint32_t)stacks, entries < UINT32_MAX ? (uint32_t)entries : 0);
}

/*
 * Interns the stacks of all rows in the order in which they lie in the file. When the aggregate is
 * full the rest waits for its rows.
 */
static int add_stacks(cache *c, const recording_filled *filled)
{
    uint8_t *used = calloc((size_t)c->stack_count + 1, 1);
    int rc = used != NULL ? 0 : SAGG_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < filled->parts; i++)
        jfr_sums_mark_stacks(filled->sums[i], used, c->stack_count);
    if (rc == 0 && is_first(c->rec))
        expect(c, used, filled);
    uint32_t stack = SAGG_DROPPED + 1;
    for (uint32_t i = 0; rc == 0 && i < c->stack_count && stack != SAGG_DROPPED; i++) {
        if (used[i] != 0)
            rc = map_stack(c, i, &stack);
    }
    free(used);
    return rc;
}

/* What cannot be summed up (a hostile chunk) is read sample by sample. */
static int add_samples(cache *c, const recording_filled *filled, int64_t *last_ns)
{
    recording_filled own = {.rc = JFR_ERR_LIMIT};
    if (filled == NULL && can_sum(c))
        recording__fill_sums(c->rec, c->chunk, &own);
    if (filled == NULL)
        filled = &own;
    if (filled->rc == JFR_ERR_NOMEM)
        return SAGG_E_NOMEM;
    if (filled->rc < 0)
        return add_each(c, last_ns);
    int rc = add_stacks(c, filled);
    for (uint32_t i = 0; rc == 0 && i < filled->parts; i++)
        rc = add_sums(c, filled->sums[i]);
    return rc;
}

/* ---- what the chunk says about itself ---- */

static void copy_text(char *to, size_t room, jfr_str from)
{
    size_t size = from.len < room - 1 ? from.len : room - 1;
    if (from.len == 0)
        return;
    while (size > 0 && size < from.len && ((unsigned char)from.data[size] & 0xC0) == 0x80)
        size--;
    memcpy(to, from.data, size);
    to[size] = '\0';
}

static jfr_str engine_of(const jfr_recording_info *from)
{
    static const char jdk[] = "jfr";
    static const char perf[] = "perf";
    if (from->producer == JFR_PRODUCER_JDK)
        return (jfr_str){jdk, strlen(jdk)};
    jfr_str engine = from->engine.len > 0 ? from->engine : from->event;
    if (engine.len == strlen("perf_events") && memcmp(engine.data, "perf_events", engine.len) == 0)
        return (jfr_str){perf, strlen(perf)};
    return engine;
}

static void take_settings(recording *rec, const jfr_chunk *chunk)
{
    recording_info *info = &rec->info;
    const jfr_recording_info *from = jfr_chunk_recording(chunk);
    copy_text(info->engine, sizeof(info->engine), engine_of(from));
    copy_text(info->profiler, sizeof(info->profiler), from->profiler_version);
    copy_text(info->jvm_version, sizeof(info->jvm_version), from->jvm_version);
    copy_text(info->java_args, sizeof(info->java_args), from->java_args);
    jfr_intervals intervals = JFR_INTERVALS_INIT;
    if (jfr_chunk_intervals(chunk, &intervals, NULL) != 0)
        return;
    info->intervals = intervals;
    info->interval[PROFILE_TYPE_CPU] = intervals.cpu_ns;
    info->interval[PROFILE_TYPE_WALL] = intervals.wall_ns;
    info->interval[PROFILE_TYPE_ALLOC_BYTES] = intervals.alloc_bytes;
    info->interval[PROFILE_TYPE_ALLOC_OBJECTS] = intervals.alloc_bytes;
    info->interval[PROFILE_TYPE_LIVE_BYTES] = intervals.alloc_bytes;
    info->interval[PROFILE_TYPE_LOCK_COUNT] = intervals.lock_ns;
    info->interval[PROFILE_TYPE_LOCK_DELAY] = intervals.lock_ns;
    info->interval[PROFILE_TYPE_NATIVEMEM_BYTES] = intervals.nativemem_bytes;
}

static void take_counts(recording_counts *to, const jfr_chunk *chunk)
{
    jfr_chunk_stats from;
    jfr_chunk_get_stats(chunk, &from);
    to->events += from.events;
    to->samples += from.samples;
    to->bad_events += from.bad_events;
    to->rival_events += from.rival_events;
    to->idle_waits += from.idle_waits;
    to->native_samples += from.native_samples;
    to->failed_samples += from.failed_samples;
    to->unmeasured_events += from.unmeasured_events;
    to->stackless_samples += from.stackless_samples;
    to->undefined_pools += from.undefined_pools;
}

/* An unfinished chunk has no duration: it lasted at least to its last sample. */
static void take_time(recording *rec, const jfr_chunk *chunk, int64_t last_ns)
{
    const jfr_chunk_info *from = jfr_chunk_get_info(chunk);
    int64_t end_ns;
    if (__builtin_add_overflow(from->start_ns, from->duration_ns, &end_ns))
        end_ns = INT64_MAX;
    if (!from->finished && last_ns > end_ns)
        end_ns = last_ns;
    recording__add_span(rec, from->start_ns, end_ns);
}

int recording__add_chunk(recording *rec, jfr_chunk *chunk, const recording_filled *filled,
                         recording_error *err)
{
    cache c;
    int64_t last_ns = INT64_MIN;
    int rc = cache_init(&c, rec, chunk) ? add_samples(&c, filled, &last_ns) : SAGG_E_NOMEM;
    cache_free(&c);
    take_settings(rec, chunk);
    take_counts(&rec->info.counts, chunk);
    take_time(rec, chunk, last_ns);
    return rc != 0 ? no_memory(err) : 0;
}
