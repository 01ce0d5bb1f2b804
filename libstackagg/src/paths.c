/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top down: a range of paths that share their first frames is searched for how many all of them
 * share, and parted by the frame behind those. A frame is looked at twice, mostly, and in the order
 * in which the stacks lie in memory, whatever their number.
 */
#include "paths.h"

#include <string.h>

/* Places of the order whose paths have their first `shared` frames in common. */
struct range {
    uint32_t from;
    uint32_t end;
    uint32_t shared;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* How many frames all paths of a range share: as many as it says at least. */
static uint32_t shared_by_all(const sagg__paths *paths, struct range range)
{
    const uint32_t *rank_of = paths->rank_of;
    const uint32_t threads = paths->has_threads ? 1 : 0;
    if (range.shared < threads)
        return range.shared;
    const ptrdiff_t skip = (ptrdiff_t)(range.shared - threads);
    const sagg__path_place *first = &paths->places[paths->order[range.from]];
    const uint32_t *frames = first->end - skip;
    uint32_t most = first->count - (uint32_t)skip;
    for (uint32_t i = range.from + 1; most > 0 && i < range.end; i++) {
        sagg__path_prefetch(paths, i + SAGG__PATHS_AHEAD, range.shared);
        const sagg__path_place *place = &paths->places[paths->order[i]];
        const uint32_t *others = place->end - skip;
        uint32_t common = least(most, place->count - (uint32_t)skip);
        uint32_t at = 0;
        for (; at < common; at++) {
            uint32_t frame = frames[-1 - (ptrdiff_t)at];
            uint32_t other = others[-1 - (ptrdiff_t)at];
            if (frame != other && rank_of[frame] != rank_of[other])
                break;
        }
        most = at;
    }
    return range.shared + most;
}

/* ---- parting ---- */

static void sort_few(uint64_t *keys, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        uint32_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Sorts by the byte at `shift`, keeping the order of equal ones. */
static void sort_byte(uint64_t *out, const uint64_t *keys, uint32_t count, unsigned shift)
{
    uint32_t begins[257] = {0};
    for (uint32_t i = 0; i < count; i++)
        begins[(keys[i] >> shift & 0xFF) + 1]++;
    for (unsigned i = 1; i < 256; i++)
        begins[i] += begins[i - 1];
    for (uint32_t i = 0; i < count; i++)
        out[begins[keys[i] >> shift & 0xFF]++] = keys[i];
}

/* Sorts keys whose low halves rise; `room` is as large. Returns where they are then. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *room, uint32_t count)
{
    enum { FEW = 32 };
    if (count <= FEW) {
        sort_few(keys, count);
        return keys;
    }
    uint64_t differ = 0;
    for (uint32_t i = 1; i < count; i++)
        differ |= keys[i] ^ keys[0];
    for (unsigned shift = 32; shift < 64; shift += 8) {
        if ((differ >> shift & 0xFF) == 0)
            continue;
        sort_byte(room, keys, count, shift);
        uint64_t *swap = keys;
        keys = room;
        room = swap;
    }
    return keys;
}

/* Parts a range by the frame behind those that all share; paths without one come first. Adds the
 * parts that are still to be sorted to `ranges` and returns how many there are then. */
static size_t part(sagg__paths *paths, struct range range, struct range *ranges, size_t used)
{
    const uint32_t count = range.end - range.from;
    uint32_t *order = &paths->order[range.from];
    uint32_t *shared = &paths->shared[range.from];
    uint64_t *keys = paths->room;
    for (uint32_t i = 0; i < count; i++) {
        sagg__path_prefetch(paths, range.from + i + SAGG__PATHS_AHEAD, range.shared);
        const sagg__path *item = &paths->items[order[i]];
        uint64_t rank = 0;
        if (sagg__path_length(paths, item) > range.shared)
            rank = (uint64_t)sagg__path_rank(paths, item, range.shared) + 1;
        keys[i] = rank << 32 | order[i];
    }
    keys = sort_keys(keys, keys + paths->count, count);
    order[0] = (uint32_t)keys[0];
    uint32_t begin = 0;
    for (uint32_t i = 1; i <= count; i++) {
        bool more = i < count;
        if (more) {
            order[i] = (uint32_t)keys[i];
            shared[i] = range.shared;
        }
        if (more && keys[i] >> 32 == keys[begin] >> 32)
            continue;
        if (i - begin > 1 && keys[begin] >> 32 != 0)
            ranges[used++] = (struct range){range.from + begin, range.from + i, range.shared + 1};
        begin = i;
    }
    return used;
}

/* `ranges` has room for half as many as there are paths: each has two at least. */
static void sort(sagg__paths *paths, struct range *ranges)
{
    size_t used = 0;
    if (paths->count > 1)
        ranges[used++] = (struct range){0, paths->count, 0};
    while (used > 0) {
        struct range range = ranges[--used];
        range.shared = shared_by_all(paths, range);
        used = part(paths, range, ranges, used);
    }
}

int sagg__paths_sort(sagg__paths *out, sagg__mem *mem, const sagg *agg,
                     const sagg__palette *palette, sagg__path *items, uint32_t count)
{
    *out = (sagg__paths){.agg = agg, .items = items, .count = count, .rank_of = palette->of_frame};
    out->has_threads = count > 0 && items[0].thread != SAGG__NO_RANK;
    out->places = sagg__alloc(mem, count * sizeof(*out->places));
    out->order = sagg__alloc(mem, count * sizeof(*out->order));
    out->shared = sagg__alloc_zero(mem, count, sizeof(*out->shared));
    out->room = sagg__alloc(mem, (size_t)count * 2 * sizeof(*out->room));
    size_t ranges_size = ((size_t)count / 2 + 1) * sizeof(struct range);
    struct range *ranges = sagg__alloc(mem, ranges_size);
    if (out->places == NULL || out->order == NULL || out->shared == NULL || out->room == NULL ||
        ranges == NULL) {
        sagg__release(mem, ranges, ranges_size);
        return SAGG_E_NOMEM;
    }
    const uint32_t *frames = agg->stack_frames.items;
    for (uint32_t i = 0; i < count; i++) {
        const sagg__stack *stack = SAGG__AT(sagg__stack, agg->stacks.array, items[i].stack);
        out->places[i] = (sagg__path_place){frames + stack->first + stack->count, stack->count};
        out->order[i] = i;
    }
    sort(out, ranges);
    sagg__release(mem, ranges, ranges_size);
    return 0;
}

void sagg__paths_free(sagg__paths *paths, sagg__mem *mem)
{
    sagg__release(mem, paths->places, paths->count * sizeof(*paths->places));
    sagg__release(mem, paths->order, paths->count * sizeof(*paths->order));
    sagg__release(mem, paths->shared, paths->count * sizeof(*paths->shared));
    sagg__release(mem, paths->room, (size_t)paths->count * 2 * sizeof(*paths->room));
}
