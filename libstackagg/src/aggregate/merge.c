/* SPDX-License-Identifier: Apache-2.0 */
/* Adds one aggregate to another. */
#include <string.h>

#include "aggregate/aggregate_impl.h"
#include "fail_impl.h"

#define UNKNOWN UINT32_MAX
#define ASKED   (UINT32_MAX - 1) /* about to be added */

enum { GROUP = 32 };

/* The numbers in `into` of the elements of `from`; UNKNOWN = not added yet. */
struct merging {
    sagg *into;
    const sagg *from;
    uint32_t *frames;
    uint32_t *stacks;
    uint32_t *threads;
    uint32_t *labels;
    uint32_t *scratch; /* frames of the stacks of a group */
    uint32_t depth;    /* of the deepest stack */
};

static int check(const sagg *into, const sagg *from, sagg_error *err)
{
    bool same = into->type_count == from->type_count && into->normaliser == from->normaliser &&
                into->group == from->group && into != from;
    for (uint32_t i = 0; same && i < into->type_count; i++)
        same = into->types[i].id == from->types[i].id &&
               strcmp(into->types[i].name, from->types[i].name) == 0 &&
               strcmp(into->types[i].unit, from->types[i].unit) == 0;
    if (same)
        return 0;
    return sagg__fail(err, SAGG_ERR_USAGE, 0,
                      "Only two different aggregates with equal types, normaliser and group can be "
                      "merged.");
}

static uint32_t *make_map(sagg *into, uint32_t count)
{
    uint32_t *map = sagg__alloc(&into->mem, (size_t)count * sizeof(*map));
    if (map != NULL)
        memset(map, 0xFF, (size_t)count * sizeof(*map));
    return map;
}

static void end(struct merging *m)
{
    sagg__mem *mem = &m->into->mem;
    sagg__release(mem, m->frames, m->from->frames.count * sizeof(uint32_t));
    sagg__release(mem, m->stacks, m->from->stacks.count * sizeof(uint32_t));
    sagg__release(mem, m->threads, m->from->threads.count * sizeof(uint32_t));
    sagg__release(mem, m->labels, m->from->labels.count * sizeof(uint32_t));
    sagg__release(mem, m->scratch, (size_t)m->depth * GROUP * sizeof(uint32_t));
}

static bool begin(struct merging *m)
{
    m->frames = make_map(m->into, m->from->frames.count);
    m->stacks = make_map(m->into, m->from->stacks.count);
    m->threads = make_map(m->into, m->from->threads.count);
    m->labels = make_map(m->into, m->from->labels.count);
    for (uint32_t i = 0; i < m->from->stacks.count; i++) {
        uint32_t depth = SAGG__AT(sagg__stack, m->from->stacks.array, i)->count;
        m->depth = depth > m->depth ? depth : m->depth;
    }
    m->scratch = sagg__alloc(&m->into->mem, (size_t)m->depth * GROUP * sizeof(uint32_t));
    return m->frames != NULL && m->stacks != NULL && m->threads != NULL && m->labels != NULL &&
           m->scratch != NULL;
}

static int map_frame(struct merging *m, uint32_t frame)
{
    sagg_frame row;
    if (m->frames[frame] != UNKNOWN || !sagg_frame_at(m->from, frame, &row))
        return 0;
    return sagg__intern_frame(m->into, &m->frames[frame], &row);
}

/* Compacts when stacks have been refused. The numbers of stacks and frames are then invalid. */
static int compact_if_full(struct merging *m)
{
    if (!sagg_full(m->into))
        return 0;
    memset(m->frames, 0xFF, m->from->frames.count * sizeof(uint32_t));
    memset(m->stacks, 0xFF, m->from->stacks.count * sizeof(uint32_t));
    return sagg_compact(m->into, NULL);
}

/* Stacks that are added to `into` together. */
struct asked {
    uint32_t stacks[GROUP]; /* of `from` */
    uint32_t found[GROUP];  /* of `into` */
    size_t count;
};

/* Translates the frames of a stack to numbers of `into`. Returns as sagg_add_frame. */
static int map_frames(struct merging *m, const sagg_stack *stack, uint32_t *frames)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < stack->count; i++) {
        uint32_t frame = sagg_stack_frame(stack, i);
        rc = map_frame(m, frame);
        frames[i] = m->frames[frame];
    }
    return rc;
}

/* Adds the stacks of a group. A stack whose frames have no room is dropped. */
static int add_stacks(struct merging *m, struct asked *asked)
{
    uint32_t depths[GROUP];
    uint32_t *frames = m->scratch;
    size_t kept = 0;
    for (size_t i = 0; i < asked->count; i++) {
        const uint32_t index = asked->stacks[i];
        const sagg_stack stack =
            sagg__stack_view(m->from, SAGG__AT(sagg__stack, m->from->stacks.array, index));
        int rc = map_frames(m, &stack, frames);
        if (rc == SAGG_ERR_NOMEM)
            return rc;
        if (rc == SAGG_ERR_LIMIT) {
            m->into->full = true;
            m->stacks[index] = SAGG_DROPPED;
            continue;
        }
        asked->stacks[kept] = index;
        depths[kept++] = stack.count;
        frames += stack.count;
    }
    asked->count = kept;
    return sagg_add_stacks(m->into, asked->found, m->scratch, depths, kept, NULL);
}

/* Adds the stacks of the entries that have no number in `into` yet. */
static int map_stacks(struct merging *m, const sagg__entry *entries, size_t count)
{
    struct asked asked = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        uint32_t stack = entries[i].key.stack;
        if (m->stacks[stack] != UNKNOWN)
            continue;
        m->stacks[stack] = ASKED;
        asked.stacks[asked.count++] = stack;
    }
    int rc = add_stacks(m, &asked);
    for (size_t i = 0; rc == 0 && i < asked.count; i++)
        m->stacks[asked.stacks[i]] = asked.found[i];
    return rc;
}

static int map_threads(struct merging *m)
{
    int rc = 0;
    m->threads[SAGG_NO_THREAD] = SAGG_NO_THREAD;
    m->threads[SAGG_DROPPED_THREAD] = SAGG_DROPPED_THREAD;
    for (uint32_t i = SAGG_DROPPED_THREAD + 1; rc == 0 && i < m->from->threads.count; i++) {
        sagg_thread row;
        if (sagg_thread_at(m->from, i, &row))
            rc = sagg_add_thread(m->into, &m->threads[i], &row, NULL);
    }
    return rc;
}

static int map_labels(struct merging *m)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < m->from->labels.count; i++) {
        uint32_t tag = 0;
        sagg_str text = {NULL, 0};
        (void)sagg_label_at(m->from, i, &tag, &text);
        rc = sagg_add_label(m->into, &m->labels[i], tag, text, NULL);
    }
    return rc;
}

static int merge_group(struct merging *m, size_t first, size_t count)
{
    sagg__entry moved[GROUP];
    for (size_t i = 0; i < count; i++)
        moved[i] = sagg__entry_at(m->from, (uint32_t)(first + i));
    int rc = map_stacks(m, moved, count);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < count; i++) {
        sagg__key *key = &moved[i].key;
        key->thread = m->threads[key->thread];
        key->stack = m->stacks[key->stack];
        key->label = (uint16_t)m->labels[key->label];
    }
    return sagg__add_entries(m->into, moved, count) == count ? 0 : SAGG_ERR_NOMEM;
}

static int merge_entries(struct merging *m)
{
    const size_t count = m->from->entries.count;
    for (size_t at = 0; at < count; at += GROUP) {
        int rc = compact_if_full(m);
        if (rc == 0)
            rc = merge_group(m, at, count - at < GROUP ? count - at : GROUP);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Returns whether the rows of `thread` in `from` would be summed into its pool's row of `into`
 * twice. */
static bool folded_into_pool(const struct merging *m, uint32_t thread)
{
    const sagg__thread *row = SAGG__AT(sagg__thread, m->from->threads.array, thread);
    return row->pool_thread != thread && m->threads[thread] == m->threads[row->pool_thread];
}

static void merge_thread_rows(struct merging *m)
{
    for (uint32_t thread = 0; thread < m->from->threads.count; thread++) {
        for (uint32_t slot = 0; slot < m->from->type_count; slot++) {
            uint32_t to = m->threads[thread];
            const sagg_totals *dropped = sagg__dropped_row(m->from, thread, slot);
            sagg__sum(m->into, sagg__dropped_row(m->into, to, slot), dropped);
            if (!folded_into_pool(m, thread))
                sagg__sum(m->into, sagg__thread_row(m->into, to, slot),
                          sagg__thread_row(m->from, thread, slot));
        }
    }
}

static int merge_seconds(struct merging *m)
{
    const sagg *from = m->from;
    int rc = 0;
    size_t count = m->into->seconds > 0 ? (size_t)from->second_rows.count * from->seconds : 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        uint64_t value = *SAGG__AT(uint64_t, from->second_values, i);
        const sagg__second_row *row =
            SAGG__AT(sagg__second_row, from->second_rows.array, i / from->seconds);
        int64_t time_ns = from->origin_ns + (int64_t)(i % from->seconds) * 1000000000;
        if (value > 0) /* the number of its samples is unknown; it is at least one */
            rc = sagg__add_second(m->into, row->slot, m->threads[row->thread], time_ns, value, 1);
    }
    return rc;
}

static void merge_sums(struct merging *m)
{
    sagg *into = m->into;
    const sagg *from = m->from;
    for (uint32_t slot = 0; slot < from->type_count; slot++) {
        sagg__sum(into, &into->totals[slot], &from->totals[slot]);
        sagg__sum_one(into, &into->error_bound[slot], from->error_bound[slot]);
    }
    into->loss.stacks_dropped += from->loss.stacks_dropped;
    into->loss.samples_dropped += from->loss.samples_dropped;
    into->loss.stacks_cut += from->loss.stacks_cut;
    into->loss.threads_folded += from->loss.threads_folded;
    into->loss.outside_seconds += from->loss.outside_seconds;
    into->loss.saturated += from->loss.saturated;
}

int sagg_merge(sagg *into, const sagg *from, sagg_error *err)
{
    int rc = check(into, from, err);
    if (rc != 0)
        return rc;
    struct merging m = {.into = into, .from = from};
    uint64_t adds = into->adds;
    rc = begin(&m) ? 0 : SAGG_ERR_NOMEM;
    if (rc == 0)
        rc = map_threads(&m);
    if (rc == 0)
        rc = map_labels(&m);
    if (rc == 0)
        rc = merge_entries(&m);
    if (rc == 0)
        rc = merge_seconds(&m);
    if (rc == 0) {
        merge_thread_rows(&m);
        merge_sums(&m);
        if (into->adds >= adds) /* no compaction happened meanwhile */
            into->adds = adds + from->adds;
    }
    end(&m);
    return rc != 0 ? sagg__no_memory(err) : 0;
}
