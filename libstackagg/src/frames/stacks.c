/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of an aggregate. With frames, the frames' numbers are the key and ids are computed on
 * request; without frames, the kept ids are the key.
 */
#include <string.h>

#include "aggregate/aggregate_impl.h"
#include "fail_impl.h"
#include "frames/frame_impl.h"
#include "frames/id_impl.h"

/* ---- ids ---- */

struct numbered {
    const sagg *agg;
    sagg_stack stack;
};

static void put_ids(const void *ctx, uint8_t *text, size_t from, size_t count)
{
    const struct numbered *of = ctx;
    const sagg__frame *rows = of->agg->frames.array.items;
    for (size_t i = 0; i < count; i++)
        sagg__id_put(text, i, rows[sagg_stack_frame(&of->stack, (uint32_t)(from + i))].id);
}

static void id_of(const sagg *agg, const sagg_stack *stack, sagg_stack_id *id)
{
    struct numbered of = {agg, *stack};
    sagg__id_in_pieces(id, stack->count, agg->normaliser, put_ids, &of);
}

void sagg__stack_id(const sagg *agg, uint32_t stack, sagg_stack_id *id)
{
    const sagg_stack view = sagg__stack_view(agg, SAGG__AT(sagg__stack, agg->stacks.array, stack));
    id_of(agg, &view, id);
}

/* ---- finding ---- */

/* A stack to find or to add. */
struct wanted_stack {
    const sagg *agg;
    uint64_t hash;
    const void *frames; /* in the stored form */
    uint32_t count;
    bool wide;
};

static size_t frame_bytes(size_t count, bool wide)
{
    return count * sizeof(uint16_t) << wide;
}

static bool is_stack(const void *context, uint32_t value)
{
    const struct wanted_stack *wanted = context;
    const sagg *agg = wanted->agg;
    const sagg__stack *stack = SAGG__AT(sagg__stack, agg->stacks.array, value);
    return stack->count == wanted->count && stack->wide == wanted->wide &&
           memcmp(sagg__stack_frames(agg, stack), wanted->frames,
                  frame_bytes(wanted->count, wanted->wide)) == 0;
}

/* Frame numbers are too small for anybody to choose ones whose hashes collide. */
static uint64_t hash_frames(const void *frames, size_t count, bool wide)
{
    return sagg__hash_bytes(frames, frame_bytes(count, wide));
}

uint64_t sagg__stack_hash(const sagg *agg, uint32_t index)
{
    const sagg__stack *stack = SAGG__AT(sagg__stack, agg->stacks.array, index);
    return hash_frames(sagg__stack_frames(agg, stack), stack->count, stack->wide);
}

/* Facts about a stack's frame numbers, found in one pass. */
struct seen {
    uint32_t bits; /* the bits that are set in any number */
    uint32_t past; /* the highest bit of this or `bits` is set: a number is past the end */
};

/* Copies numbers, cutting those of more than 16 bits. */
static struct seen pack(uint16_t *to, const uint32_t *from, size_t count, uint32_t last)
{
    struct seen seen = {0, 0};
    for (size_t i = 0; i < count; i++) {
        seen.bits |= from[i];
        seen.past |= last - from[i];
        to[i] = (uint16_t)from[i];
    }
    return seen;
}

static uint32_t first_past(const uint32_t *frames, size_t count, uint32_t last)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i] > last)
            return frames[i];
    return 0;
}

/* Prepares a stack. `room` has space for `count` numbers and must stay valid as long as `wanted`.
 * Returns 0, or SAGG_ERR_USAGE with *bad, a frame that does not exist. */
static int want_frames(struct wanted_stack *wanted, const sagg *agg, const uint32_t *frames,
                       size_t count, uint32_t *room, uint32_t *bad)
{
    const uint32_t last = agg->frames.count - 1; /* below 2^31: each takes 16 bytes and more */
    const struct seen seen = pack((uint16_t *)room, frames, count, last);
    if ((seen.bits | seen.past) >> 31 != 0) {
        *bad = first_past(frames, count, last);
        return SAGG_ERR_USAGE;
    }
    const bool wide = seen.bits > UINT16_MAX;
    if (wide)
        memcpy(room, frames, count * sizeof(*room));
    *wanted = (struct wanted_stack){.agg = agg,
                                    .hash = hash_frames(room, count, wide),
                                    .frames = room,
                                    .count = (uint32_t)count,
                                    .wide = wide};
    return 0;
}

static void prefetch(const struct wanted_stack *wanted)
{
    __builtin_prefetch(sagg__index_slot(&wanted->agg->stacks.index, wanted->hash));
}

/* ---- adding ---- */

static int keep_frames(sagg *agg, sagg__stack *stack, const struct wanted_stack *wanted)
{
    stack->count = wanted->count & INT32_MAX;
    stack->wide = wanted->wide;
    const uint64_t first = sagg__stack_begin(stack, agg->stack_frames_used);
    const uint64_t end = sagg__stack_end(stack, first);
    if (wanted->count > INT32_MAX || end > UINT32_MAX)
        return SAGG_ERR_LIMIT;
    int rc = sagg__extend(&agg->mem, &agg->stack_frames, (size_t)end, sizeof(uint16_t));
    if (rc != 0)
        return rc;
    stack->first = (uint32_t)first;
    agg->stack_frames_used = (uint32_t)end;
    memcpy(sagg__stack_frames(agg, stack), wanted->frames,
           frame_bytes(wanted->count, wanted->wide));
    return 0;
}

/* Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM. */
static int append(sagg *agg, uint32_t *index, const struct wanted_stack *wanted)
{
    if (agg->stacks.count > 2 * (uint64_t)agg->max_stacks)
        return SAGG_ERR_LIMIT;
    int rc = sagg__set_reserve(agg, &agg->stacks, sizeof(sagg__stack));
    if (rc != 0)
        return rc;
    /* Built in place: a copy would have to wait until its fields are written. */
    sagg__stack *stack = SAGG__AT(sagg__stack, agg->stacks.array, agg->stacks.count);
    *stack = (sagg__stack){0};
    rc = keep_frames(agg, stack, wanted);
    if (rc != 0)
        return rc;
    *index = agg->stacks.count++;
    sagg__index_put(&agg->stacks.index, wanted->hash, *index);
    return 0;
}

/* Finds or adds a stack; a stack without room becomes SAGG_DROPPED. Returns 0 or SAGG_ERR_NOMEM. */
static int intern(sagg *agg, uint32_t *index, const struct wanted_stack *wanted)
{
    if (sagg__index_find(&agg->stacks.index, wanted->hash, is_stack, wanted, index))
        return 0;
    int rc = append(agg, index, wanted);
    if (rc != SAGG_ERR_LIMIT)
        return rc;
    agg->full = true;
    agg->loss.stacks_dropped++;
    *index = SAGG_DROPPED;
    return 0;
}

static sagg_frame marker(const char *name)
{
    return (sagg_frame){.method = {name, strlen(name)}, .kind = SAGG_UNKNOWN};
}

/* Adds the leaf-most frames of a stack past max_frames; `cut` has room for twice as many numbers.
 */
static int intern_leaves(sagg *agg, uint32_t *index, const uint32_t *frames, uint32_t *cut,
                         uint32_t *bad)
{
    sagg_frame root = marker("[truncated]");
    struct wanted_stack wanted;
    size_t count = agg->max_frames;
    memcpy(cut, frames, (count - 1) * sizeof(*cut));
    int rc = sagg__intern_frame(agg, &cut[count - 1], &root);
    if (rc == 0)
        rc = want_frames(&wanted, agg, cut, count, cut + count, bad);
    return rc != 0 ? rc : intern(agg, index, &wanted);
}

/* Adds a stack deeper than max_frames as its leaf-most frames with the root "[truncated]". */
static int intern_cut(sagg *agg, uint32_t *index, const uint32_t *frames, uint32_t *bad)
{
    const size_t bytes = 2 * (size_t)agg->max_frames * sizeof(*frames);
    uint32_t *cut = sagg__alloc(&agg->mem, bytes);
    if (cut == NULL)
        return SAGG_ERR_NOMEM;
    int rc = intern_leaves(agg, index, frames, cut, bad);
    sagg__release(&agg->mem, cut, bytes);
    agg->loss.stacks_cut += rc != SAGG_ERR_USAGE;
    if (rc != SAGG_ERR_LIMIT)
        return rc;
    agg->full = true;
    *index = SAGG_DROPPED;
    return 0;
}

/* Stacks whose slots in the index are prefetched before one is added: the index of many stacks is
 * larger than the caches. */
enum { STACKS_AT_ONCE = 32 };

/* Stacks that are still to be added to the aggregate. */
struct group {
    struct wanted_stack wanted[STACKS_AT_ONCE]; /* except for those to be cut */
    size_t count;
};

/* Prepares stacks up to the first bad one. Returns as want_frames, or SAGG_ERR_NOMEM. */
static int want_some(struct group *group, sagg *agg, const uint32_t *frames, const uint32_t *depths,
                     size_t count, uint32_t *bad)
{
    size_t numbers = 0;
    int rc = 0;
    group->count = 0;
    for (size_t i = 0; i < count; i++)
        numbers += depths[i] <= agg->max_frames ? depths[i] : 0;
    uint32_t *room = sagg__scratch(agg, numbers * sizeof(*room));
    if (room == NULL)
        return SAGG_ERR_NOMEM;
    for (size_t i = 0; i < count; i++, group->count++) {
        struct wanted_stack *wanted = &group->wanted[i];
        if (depths[i] <= agg->max_frames) {
            rc = want_frames(wanted, agg, frames, depths[i], room, bad);
            if (rc != 0)
                return rc;
            prefetch(wanted);
            room += depths[i];
        }
        frames += depths[i];
    }
    return 0;
}

/* Adds a group. Returns as want_some; the stacks before the bad one are added. */
static int intern_some(sagg *agg, uint32_t *stacks, const uint32_t *frames, const uint32_t *depths,
                       size_t count, uint32_t *bad)
{
    struct group group;
    int rc = want_some(&group, agg, frames, depths, count, bad);
    int added = 0;
    for (size_t i = 0; added == 0 && i < group.count; i++) {
        added = depths[i] > agg->max_frames ? intern_cut(agg, &stacks[i], frames, bad)
                                            : intern(agg, &stacks[i], &group.wanted[i]);
        frames += depths[i];
    }
    return added != 0 ? added : rc;
}

/* Returns how many of the next stacks are added together: they have no more frames than one stack
 * may have. */
static size_t group_size(const sagg *agg, const uint32_t *depths, size_t count)
{
    uint64_t frames = 0;
    size_t some = 0;
    for (; some < count && some < STACKS_AT_ONCE; some++) {
        frames += depths[some] <= agg->max_frames ? depths[some] : 0;
        if (some > 0 && frames > agg->max_frames)
            break;
    }
    return some;
}

int sagg_add_stacks(sagg *agg, uint32_t *stacks, const uint32_t *frames, const uint32_t *depths,
                    size_t count, sagg_error *err)
{
    static const uint32_t no_frame = 0;
    uint32_t bad = 0;
    int rc = 0;
    frames = frames != NULL ? frames : &no_frame; /* all stacks are without frames */
    for (size_t at = 0, some; rc == 0 && at < count; at += some) {
        some = group_size(agg, depths + at, count - at);
        rc = intern_some(agg, stacks + at, frames, depths + at, some, &bad);
        for (size_t i = 0; i < some; i++)
            frames += depths[at + i];
    }
    if (rc == SAGG_ERR_USAGE)
        return sagg__fail(err, rc, 0,
                          "Frame %u does not exist: indices of frames are void after "
                          "sagg_compact.",
                          bad);
    return rc != 0 ? sagg__no_memory(err) : 0;
}

int sagg_add_stack(sagg *agg, uint32_t *stack, const uint32_t *frames, size_t count,
                   sagg_error *err)
{
    uint32_t depth = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    return sagg_add_stacks(agg, stack, frames, &depth, 1, err);
}

int sagg__add_stack_zero(sagg *agg)
{
    sagg_frame frame = marker("[dropped]");
    struct wanted_stack wanted;
    uint32_t index, stack, room, bad = 0;
    int rc = sagg__intern_frame(agg, &index, &frame);
    if (rc == 0)
        rc = want_frames(&wanted, agg, &index, 1, &room, &bad);
    return rc != 0 ? rc : intern(agg, &stack, &wanted);
}

/* Returns the number of elements that a compaction visits. It is worth its time once a share of
 * that has been added since the last one. */
static uint64_t compaction_work(const sagg *agg)
{
    return (uint64_t)agg->stacks.count + agg->names.count + agg->threads.count + agg->labels.count;
}

bool sagg_full(const sagg *agg)
{
    bool refused = agg->full || agg->stacks.count > 2 * (uint64_t)agg->max_stacks;
    return refused && agg->adds >= compaction_work(agg) / 8;
}
