/* SPDX-License-Identifier: Apache-2.0 */
#include "twin.h"

#include "pools/stacks_impl.h"
#include "sums/sum_impl.h"

#include <stdlib.h>
#include <string.h>

/* A macro, so that the analyser sees that a failure ends the program. */
#define must(holds) ((holds) ? (void)0 : abort())

/* ---- a table of sums, filled one value at a time ---- */

typedef struct key {
    uint32_t stack, thread, klass, source, state, lock_kind, type;
} key;

typedef struct entry {
    key key;
    uint32_t next; /* in its bucket, + 1 */
    uint64_t samples, raw, value;
} entry;

enum { BUCKETS = 512, MANY_PARTS = 3, LOOPS = 2, ASKED = TWIN_WAYS / LOOPS };

/* The sums to make: flags of jfr_sums_options. */
static const uint32_t asked_flags[ASKED] = {0, JFR_SUMS_CLASSES, JFR_SUMS_NO_THREADS,
                                            JFR_SUMS_NO_THREADS | JFR_SUMS_NO_ALLOC_OBJECTS};

typedef struct table {
    uint32_t heads[BUCKETS];
    entry *entries;
    uint32_t count, cap;
} table;

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool same_key(const key *a, const key *b)
{
    return a->stack == b->stack && a->thread == b->thread && a->klass == b->klass &&
           a->source == b->source && a->state == b->state && a->lock_kind == b->lock_kind &&
           a->type == b->type;
}

static entry *find(table *t, const key *k)
{
    uint32_t bucket = (k->stack * 31 + k->thread * 7 + k->klass * 3 + k->type) % BUCKETS;
    for (uint32_t i = t->heads[bucket]; i != 0; i = t->entries[i - 1].next) {
        if (same_key(&t->entries[i - 1].key, k))
            return &t->entries[i - 1];
    }
    if (t->count == t->cap) {
        t->cap = t->cap * 2 + 64;
        t->entries = realloc(t->entries, t->cap * sizeof(*t->entries));
        must(t->entries != NULL);
    }
    t->entries[t->count] = (entry){.key = *k, .next = t->heads[bucket]};
    t->heads[bucket] = ++t->count;
    return &t->entries[t->count - 1];
}

static void add(table *t, const jfr_sums_lane *lane, const jfr_sums_row *row)
{
    for (int i = 0; i < lane->value_count; i++) {
        key k = {row->stack,  lane->thread,    lane->klass,   lane->source,
                 lane->state, lane->lock_kind, lane->types[i]};
        entry *e = find(t, &k);
        e->samples += row->samples;
        e->raw = sum(e->raw, row->raw[i]);
        e->value = sum(e->value, row->value[i]);
    }
}

static int compare(const void *a, const void *b)
{
    const entry *x = *(entry *const *)a;
    const entry *y = *(entry *const *)b;
    if (x->key.stack != y->key.stack)
        return x->key.stack < y->key.stack ? -1 : 1;
    return x < y ? -1 : x > y; /* otherwise in the order in which they were added */
}

/* Sorts the entries by stack, as sums are. */
static void sort(table *t)
{
    entry **order = calloc((size_t)t->count + 1, sizeof(entry *));
    entry *sorted = calloc((size_t)t->cap + 1, sizeof(*sorted));
    must(order != NULL && sorted != NULL);
    for (uint32_t i = 0; i < t->count; i++)
        order[i] = &t->entries[i];
    qsort(order, t->count, sizeof(entry *), compare);
    for (uint32_t i = 0; i < t->count; i++)
        sorted[i] = *order[i];
    free(order);
    free(t->entries);
    t->entries = sorted;
}

/* Aborts unless both have the same rows in the same order. */
static void must_equal(const table *a, const table *b)
{
    must(a->count == b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        const entry *x = &a->entries[i];
        const entry *y = &b->entries[i];
        must(same_key(&x->key, &y->key));
        must(x->samples == y->samples && x->raw == y->raw && x->value == y->value);
    }
}

static void table_clear(table *t)
{
    memset(t->heads, 0, sizeof(t->heads));
    t->count = 0;
}

/* ---- sums ---- */

/* Objects that are used again for each check and recording, as callers use them. */
typedef struct tools {
    jfr__tally *sums[ASKED][MANY_PARTS]; /* by the index in asked_flags */
    table plain, fast;
} tools;

static tools *tools_get(void)
{
    static tools all;
    for (uint32_t i = 0; all.sums[ASKED - 1][MANY_PARTS - 1] == NULL && i < ASKED * MANY_PARTS;
         i++) {
        jfr_sums_options options = JFR_SUMS_OPTIONS_INIT;
        options.flags = asked_flags[i % ASKED];
        options.allocator = &jfr__malloc;
        must(jfr__tally_new(&all.sums[i % ASKED][i / ASKED], &options, NULL) == 0);
    }
    return &all;
}

static uint8_t count_values(const jfr_sample *s, uint32_t flags)
{
    const bool with_objects = s->value_count == 2 && s->values[1].type == JFR_ALLOC_OBJECTS;
    return with_objects && (flags & JFR_SUMS_NO_ALLOC_OBJECTS) != 0 ? 1 : s->value_count;
}

static uint64_t add_samples(table *t, jfr_chunk *chunk, uint32_t flags)
{
    jfr_sample s;
    uint64_t samples = 0;
    jfr_samples_rewind(chunk);
    while (jfr_samples_next(chunk, &s, NULL) == 1) {
        jfr_sums_lane lane = {.thread = flags & JFR_SUMS_NO_THREADS ? JFR_NONE : s.thread,
                              .klass = flags & JFR_SUMS_CLASSES ? s.klass : JFR_NONE,
                              .source = s.source,
                              .state = s.state,
                              .lock_kind = s.lock_kind,
                              .value_count = count_values(&s, flags)};
        jfr_sums_row row = {.stack = s.stack, .samples = 1};
        for (int i = 0; i < lane.value_count; i++) {
            lane.types[i] = (uint8_t)s.values[i].type;
            row.raw[i] = s.values[i].raw;
            row.value[i] = s.values[i].value;
        }
        add(t, &lane, &row);
        samples++;
    }
    return samples;
}

static void add_rows(table *t, jfr__tally *const *sums, uint32_t count, uint32_t stacks)
{
    uint32_t *begins = calloc((size_t)stacks + 3, sizeof(*begins));
    uint32_t *order = calloc(jfr__tally_count(sums, count) + 1, sizeof(*order));
    must(begins != NULL && order != NULL);
    jfr__tally_sort(sums, count, stacks, begins, order);
    for (uint32_t at = 0; at < begins[stacks + 1]; at++) {
        jfr_sums_row row;
        jfr_sums_lane lane;
        jfr__tally_pick(sums, &order[at], 1, &row);
        must(row.samples > 0);
        uint32_t number = row.lane;
        jfr__tally *const *of = sums;
        for (; number >= (*of)->lane_count; of++)
            number -= (*of)->lane_count;
        jfr__tally_lane(*of, number, &lane);
        add(t, &lane, &row);
    }
    free(begins);
    free(order);
}

/* The parts that one of the sums reads. The rows then have the order of the parts from sums to
 * sums. */
typedef struct span {
    uint32_t next;
    uint32_t end;
} span;

/* jfr__next_part */
static uint32_t next_of_span(void *ctx)
{
    span *s = ctx;
    return s->next < s->end ? s->next++ : UINT32_MAX;
}

static bool fill(jfr__tally **sums, uint32_t count, jfr_chunk *chunk)
{
    if (count == 1)
        return jfr__tally_fill(sums[0], chunk, NULL) == 0;
    for (uint32_t i = 0; i < count; i++) {
        span s = {2 * i, 2 * i + 2};
        jfr__tally_parts(sums[i], chunk, 2 * count, next_of_span, &s);
    }
    return jfr__tally_join(sums, count, chunk, NULL) == 0;
}

/* Compares the sums with the chunk's samples, which are in the plain table. */
static void check_rows(tools *t, jfr__tally *const *sums, uint32_t count, const jfr_chunk *chunk,
                       const jfr_chunk_stats *wanted)
{
    jfr_chunk_stats stats;
    table_clear(&t->fast);
    add_rows(&t->fast, sums, count, jfr_chunk_get_info(chunk)->stack_count);
    must_equal(&t->plain, &t->fast);
    jfr_chunk_get_stats(chunk, &stats);
    must(memcmp(&stats, wanted, sizeof(stats)) == 0);
}

static void check_sums(tools *t, jfr_chunk *chunk, const jfr_chunk_stats *wanted, uint32_t asked,
                       uint32_t parts, jfr__sums_loop *loop)
{
    jfr__tally **sums = t->sums[asked];
    for (uint32_t i = 0; i < parts; i++)
        sums[i]->loop = loop;
    if (!fill(sums, parts, chunk))
        return;
    check_rows(t, sums, parts, chunk, wanted);
}

static uint64_t check_all_sums(tools *t, jfr_chunk *chunk, uint32_t asked, uint32_t way)
{
    jfr__sums_loop *const loops[LOOPS] = {jfr__sums_loop_plain, jfr__sums_loop_best()};
    jfr_chunk_stats wanted;
    table_clear(&t->plain);
    uint64_t samples = add_samples(&t->plain, chunk, asked_flags[asked]);
    sort(&t->plain);
    jfr_chunk_get_stats(chunk, &wanted);
    for (uint32_t i = 0; i < LOOPS; i++) {
        check_sums(t, chunk, &wanted, asked, 1, loops[i]);
        if (way == TWIN_ALL || way == asked * LOOPS + i)
            check_sums(t, chunk, &wanted, asked, MANY_PARTS, loops[i]);
    }
    return samples;
}

/* ---- stacks ---- */

static bool same_text(jfr_str a, jfr_str b)
{
    return a.data == b.data && a.len == b.len;
}

static void check_frames(jfr_chunk *chunk, const jfr_stack *stack, const jfr_frame_ref *refs)
{
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const jfr_frame *plain = &stack->frames[i];
        jfr_frame frame;
        if (jfr_chunk_frame(chunk, &refs[i], &frame, NULL) < 0)
            continue;
        must(same_text(frame.method->class_name, plain->method->class_name));
        must(same_text(frame.method->name, plain->method->name));
        must(frame.method_index == plain->method_index);
        must(frame.line == plain->line && frame.kind == plain->kind && frame.tier == plain->tier);
    }
}

/* The state of reading the stacks of one chunk after another. */
typedef struct reader {
    jfr_chunk *chunk;
    jfr__frames_loop *loop;
    jfr__values_loop *values_loop;
    jfr_stacks *stacks;
} reader;

static uint32_t add_text(uint32_t value, jfr_str text)
{
    for (size_t i = 0; i < text.len; i++)
        value = (value ^ (uint8_t)text.data[i]) * 16777619u;
    return value * 31 + 1;
}

/* Returns the value of a frame for these tests: a hash of everything that is the same in other
 * chunks. */
static int learn(void *ctx, const jfr_frame_ref *ref, uint32_t *value)
{
    const reader *r = ctx;
    jfr_frame frame;
    if (jfr_chunk_frame(r->chunk, ref, &frame, NULL) < 0)
        return -1;
    *value = add_text(add_text(ref->line * 7, frame.method->class_name), frame.method->name) +
             frame.kind * 5u + frame.tier;
    return 0;
}

/* Checks the values of a stack's frames, of which earlier stacks had many. */
static void check_values(reader *r, uint32_t index, const jfr_frame_ref *refs, uint32_t count)
{
    jfr_stack_ref ref;
    uint32_t expected;
    uint32_t *values = calloc((size_t)count + 1, sizeof(*values));
    must(values != NULL);
    int rc = jfr_stacks_read(r->stacks, index, values, count, &ref, NULL);
    must(rc >= 0 && ref.frame_count == count);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        must(learn(r, &refs[i], &expected) != 0 || values[i] == expected);
    free(values);
}

static void check_stack(reader *r, uint32_t index)
{
    jfr_chunk *chunk = r->chunk;
    jfr_stack stack;
    jfr_stack_ref ref;
    jfr_frame_ref refs[64];
    chunk->file->frames_loop = r->loop;
    int rc = jfr_chunk_stack(chunk, index, &stack, NULL);
    if (rc == JFR_ERR_NOMEM || rc == JFR_ERR_LIMIT)
        return; /* for a name; references have no names */
    if (rc < 0) {
        jfr_frame_ref *room = calloc(chunk->file->options.max_stack_frames, sizeof(*room));
        must(room != NULL);
        must(jfr_chunk_stack_refs(chunk, index, room, chunk->file->options.max_stack_frames, &ref,
                                  NULL) == rc);
        free(room);
        return;
    }
    must(jfr_chunk_stack_refs(chunk, index, refs, 1, &ref, NULL) == 0);
    must(ref.frame_count == stack.frame_count && ref.truncated == stack.truncated);
    jfr_frame_ref *room = calloc((size_t)ref.frame_count + 1, sizeof(*room));
    must(room != NULL);
    must(jfr_chunk_stack_refs(chunk, index, room, ref.frame_count, &ref, NULL) == 0);
    check_frames(chunk, &stack, room);
    check_values(r, index, room, ref.frame_count);
    free(room);
}

static void readers_begin(reader readers[LOOPS])
{
    jfr__frames_loop *const loops[LOOPS] = {jfr__frames_loop_plain, jfr__frames_loop_best()};
    jfr__values_loop *const values_loops[LOOPS] = {jfr__values_loop_plain, jfr__values_loop_best()};
    for (int i = 0; i < LOOPS; i++)
        readers[i] = (reader){.loop = loops[i], .values_loop = values_loops[i]};
}

static void check_stacks(reader *r, jfr_chunk *chunk)
{
    r->chunk = chunk;
    must(jfr_stacks_open(&r->stacks, chunk, learn, r, NULL) == 0);
    r->stacks->loop = r->values_loop;
    for (uint32_t stack = 0; stack < jfr_chunk_get_info(chunk)->stack_count; stack++)
        check_stack(r, stack);
    jfr_stacks_close(r->stacks);
}

/* Checks a chunk and rewinds it. Returns the number of its samples. */
static uint64_t check_chunk(tools *t, reader readers[LOOPS], jfr_chunk *chunk, uint32_t way)
{
    uint64_t samples = check_all_sums(t, chunk, 0, way);
    for (uint32_t asked = 1; asked < ASKED; asked++)
        must(check_all_sums(t, chunk, asked, way) == samples);
    for (int i = 0; i < LOOPS; i++)
        check_stacks(&readers[i], chunk);
    jfr_samples_rewind(chunk);
    return samples;
}

uint64_t twin_recording(const uint8_t *data, size_t len, uint32_t flags, uint32_t way)
{
    jfr_options options = JFR_OPTIONS_INIT;
    options.flags = flags;
    options.max_unpacked_bytes = 1 << 24;
    options.max_pool_entries = 1 << 20;
    tools *t = tools_get();
    jfr_file *file;
    jfr_chunk *chunk;
    reader readers[LOOPS];
    uint64_t samples = 0;
    int rc;
    if (jfr_open_mem(&file, data, len, &options, NULL) < 0)
        return 0;
    readers_begin(readers);
    while ((rc = jfr_next_chunk(file, &chunk, NULL)) != 0) {
        if (rc > 0)
            samples += check_chunk(t, readers, chunk, way);
    }
    jfr_close(file);
    return samples;
}
