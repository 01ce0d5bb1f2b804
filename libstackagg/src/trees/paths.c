/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts paths from the root down. For a range of paths that share their first frames, it finds how
 * many frames all of them share, and sorts the range by the next frames, as many as have room for
 * their ranks in 64 bits. Places with equal keys form a range again, for which each place already
 * has the next 64 bits: adjacent frames are read together, since most of the time is spent on
 * reaching them. When there are very many paths, those with the same beginning are first grouped
 * and sorted as one.
 */
#include "trees/paths_impl.h"

#include <string.h>

#include "trees/path_groups_impl.h"
#include "trees/path_sort_impl.h"

/* Places of the order whose paths have their first `shared` frames in common. */
struct range {
    uint32_t from;
    uint32_t end;
    uint32_t shared;
    uint32_t keys; /* keys that its places have for the next frames */
};

enum { KEYS = 2 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Returns how many frames all paths of a range share, which is at least range.shared. */
static uint32_t shared_by_all(const sagg__paths *paths, struct range range)
{
    const uint32_t *rank_of = paths->rank_of;
    const uint32_t threads = paths->has_threads ? 1 : 0;
    if (range.shared < threads)
        return range.shared;
    const uint32_t skip = range.shared - threads;
    const sagg__path_place *first = &paths->places[range.from];
    uint32_t most = first->count - skip;
    for (uint32_t i = range.from + 1; most > 0 && i < range.end; i++) {
        sagg__path_prefetch(paths, i + SAGG__PATHS_AHEAD, range.shared, 1);
        const sagg__path_place *place = &paths->places[i];
        uint32_t common = least(most, place->count - skip);
        uint32_t at = 0;
        for (; at < common; at++) {
            uint32_t frame = sagg__path_frame(first, skip + at);
            uint32_t other = sagg__path_frame(place, skip + at);
            if (frame != other && rank_of[frame] != rank_of[other])
                break;
        }
        most = at;
    }
    return range.shared + most;
}

/* ---- parting ---- */

/* Returns the ranks of a path's frames from a depth on, each plus one; 0 where it has no frame. */
static uint64_t make_key(const sagg__paths *paths, const sagg__path_place *place, uint32_t from)
{
    const uint32_t length = sagg__path_length(paths, place);
    const uint32_t end = from + sagg__path_key_frames(paths);
    uint64_t key = 0;
    for (uint32_t at = from; at < end; at++) {
        uint64_t rank = at < length ? (uint64_t)sagg__path_rank(paths, place, at) + 1 : 0;
        key = key << paths->rank_bits | rank;
    }
    return key;
}

void sagg__path_make_keys(const sagg__paths *paths, sagg__path_place *place, uint32_t from)
{
    place->key = make_key(paths, place, from);
    place->next = make_key(paths, place, from + sagg__path_key_frames(paths));
}

static bool ends_within(const sagg__paths *paths, uint64_t key)
{
    return (key & ((UINT64_C(1) << paths->rank_bits) - 1)) == 0;
}

/* Returns how many frames two neighbours share whose keys differ, or which both end within their
 * keys. */
static uint32_t shared_by_two(const sagg__paths *paths, const sagg__path_place *two, uint32_t from)
{
    uint64_t differ = two[0].key ^ two[1].key;
    if (differ == 0)
        return sagg__path_length(paths, &two[1]);
    uint32_t highest = 63 - (uint32_t)__builtin_clzll(differ);
    return from + sagg__path_key_frames(paths) - 1 - highest / paths->rank_bits;
}

/* Makes the keys of a range whose places have none. */
static void make_keys(sagg__paths *paths, struct range *range)
{
    range->shared = shared_by_all(paths, *range);
    range->keys = KEYS;
    for (uint32_t i = range->from; i < range->end; i++) {
        sagg__path_prefetch(paths, i + SAGG__PATHS_AHEAD, range->shared, 16);
        sagg__path_make_keys(paths, &paths->places[i], range->shared);
    }
}

static void take_next_keys(sagg__paths *paths, const struct range *range)
{
    for (uint32_t i = range->from; i < range->end; i++)
        paths->places[i].key = paths->places[i].next;
}

/* Sorts a range by its places' keys; a path that ends comes first. Adds the parts that are still to
 * be sorted to `ranges`, and returns their new number. */
static size_t part(sagg__paths *paths, struct range range, struct range *ranges, size_t used)
{
    const uint32_t count = range.end - range.from;
    sagg__path_place *places = &paths->places[range.from];
    sagg__sort_by_key(places, paths->room, count);
    uint32_t begin = 0;
    for (uint32_t i = 1; i <= count; i++) {
        bool alike = i < count && places[i].key == places[begin].key;
        bool over = ends_within(paths, places[begin].key);
        if (i < count && (!alike || over))
            paths->shared[range.from + i] = shared_by_two(paths, &places[i - 1], range.shared);
        if (alike)
            continue;
        if (i - begin > 1 && !over)
            ranges[used++] =
                (struct range){range.from + begin, range.from + i,
                               range.shared + sagg__path_key_frames(paths), range.keys - 1};
        begin = i;
    }
    return used;
}

/* ---- groups ---- */

/* Returns whether a beginning equals the previous one: other frames of the same ranks. */
static bool begins_again(const sagg__paths *begins, uint32_t at)
{
    const uint32_t length = sagg__path_length(begins, &begins->places[at]);
    return begins->shared[at] == length &&
           length == sagg__path_length(begins, &begins->places[at - 1]);
}

/* Places the groups, whose beginnings are sorted. Adds to `ranges` as part() does. */
static size_t part_groups(sagg__paths *paths, struct range range, sagg__path_groups *groups,
                          struct range *ranges, size_t used)
{
    const sagg__paths *begins = &groups->begins;
    uint32_t from = range.from;
    sagg__path_groups_place(groups, paths, range.from, range.end);
    for (uint32_t i = 0; i < begins->count; i++) {
        uint32_t end = range.from + groups->sizes[begins->places[i].item];
        const bool is_last = i + 1 == begins->count;
        if (!is_last && begins_again(begins, i + 1))
            continue;
        if (end - from > 1)
            ranges[used++] = (struct range){from, end, range.shared + SAGG__GROUP_FRAMES, KEYS};
        from = end;
        if (!is_last)
            paths->shared[from] = begins->shared[i + 1];
    }
    return used;
}

static bool find_groups(sagg__path_groups *groups, const sagg__paths *paths, struct range range)
{
    return groups != NULL && range.keys == 0 && range.end - range.from >= SAGG__GROUPS_WORTH &&
           sagg__path_groups_find(groups, paths, range.from, range.end, range.shared);
}

/* Sorts all paths. `ranges` has room for half as many ranges as there are paths, since each has at
 * least two. `groups`: NULL, or for many paths. */
static void sort(sagg__paths *paths, uint32_t shared, sagg__path_groups *groups,
                 struct range *ranges)
{
    size_t used = 0;
    if (paths->count > 1)
        ranges[used++] = (struct range){0, paths->count, shared, 0};
    while (used > 0) {
        struct range range = ranges[--used];
        if (find_groups(groups, paths, range)) {
            sort(&groups->begins, range.shared, NULL, ranges + used);
            used = part_groups(paths, range, groups, ranges, used);
            continue;
        }
        if (range.keys == 0)
            make_keys(paths, &range);
        else if (range.keys < KEYS)
            take_next_keys(paths, &range);
        used = part(paths, range, ranges, used);
    }
}

int sagg__paths_sort(sagg__paths *out, sagg__mem *mem, const sagg *agg,
                     const sagg__palette *palette, const sagg__path *items, uint32_t count)
{
    *out = (sagg__paths){.items = items, .count = count, .rank_of = palette->of_frame};
    out->rank_bits = 64 - (uint32_t)__builtin_clzll((uint64_t)palette->count | 1);
    out->has_threads = count > 0 && items[0].thread != SAGG__NO_RANK;
    out->places = sagg__alloc(mem, count * sizeof(*out->places));
    out->shared = sagg__alloc_zero(mem, count, sizeof(*out->shared));
    out->room = sagg__alloc(mem, count * sizeof(*out->room));
    size_t ranges_size = ((size_t)count / 2 + 1) * sizeof(struct range);
    struct range *ranges = sagg__alloc(mem, ranges_size);
    if (out->places == NULL || out->shared == NULL || out->room == NULL || ranges == NULL) {
        sagg__release(mem, ranges, ranges_size);
        return SAGG_ERR_NOMEM;
    }
    /* Without memory, no groups are used. */
    sagg__path_groups *groups =
        count >= SAGG__GROUPS_WORTH ? sagg__path_groups_new(mem, count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const sagg__stack *stack = SAGG__AT(sagg__stack, agg->stacks.array, items[i].stack);
        const uint16_t *frames = sagg__stack_frames(agg, stack);
        out->places[i] = (sagg__path_place){.end = frames + ((size_t)stack->count << stack->wide),
                                            .count = stack->count,
                                            .wide = stack->wide,
                                            .item = i};
    }
    sort(out, 0, groups, ranges);
    sagg__path_groups_free(groups);
    sagg__release(mem, ranges, ranges_size);
    return 0;
}

void sagg__paths_free(sagg__paths *paths, sagg__mem *mem)
{
    sagg__release(mem, paths->places, paths->count * sizeof(*paths->places));
    sagg__release(mem, paths->shared, paths->count * sizeof(*paths->shared));
    sagg__release(mem, paths->room, paths->count * sizeof(*paths->room));
}
