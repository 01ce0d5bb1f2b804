/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A merge sort that keeps, for each path of a sorted run, how many frames it shares with the one
 * before. Of two paths that both follow the same third one, the one that shares more with it comes
 * first, unlooked at; only paths that share equally much are compared, from there on. So a frame is
 * looked at once, mostly, however deep and alike the stacks are.
 */
#include "paths.h"

#include <string.h>

/* A sorted run that is being merged, and what its first path shares with the last one put out. */
struct run {
    const uint32_t *order;
    const uint32_t *shared;
    uint32_t at;
    uint32_t end;
    uint32_t first_shared;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Whether `a` comes before `b` or is the same, given that they share `*shared` frames at least;
 * which becomes how many they do share. */
static bool precedes(const sagg__paths *paths, uint32_t a, uint32_t b, uint32_t *shared)
{
    const sagg__path_place left = paths->places[a];
    const sagg__path_place right = paths->places[b];
    const uint32_t *rank_of = paths->rank_of;
    const uint32_t threads = paths->has_threads ? 1 : 0;
    if (threads > *shared && paths->items[a].thread != paths->items[b].thread)
        return paths->items[a].thread < paths->items[b].thread;
    uint32_t common = least(left.count, right.count);
    uint32_t at = *shared > threads ? *shared - threads : 0;
    uint32_t l = 0, r = 0; /* ranks */
    for (; at < common; at++) {
        uint32_t frame = left.end[-1 - (ptrdiff_t)at];
        uint32_t other = right.end[-1 - (ptrdiff_t)at];
        if (frame == other)
            continue;
        l = rank_of[frame];
        r = rank_of[other];
        if (l != r)
            break;
    }
    *shared = at + threads;
    return at < common ? l < r : left.count <= right.count;
}

static void take(struct run *run, uint32_t *order, uint32_t *shared)
{
    *order = run->order[run->at];
    *shared = run->first_shared;
    run->at++;
    run->first_shared = run->at < run->end ? run->shared[run->at] : 0;
}

/* Merges two runs into `order` and `shared`. */
static void merge(const sagg__paths *paths, struct run left, struct run right, uint32_t *order,
                  uint32_t *shared)
{
    while (left.at < left.end && right.at < right.end) {
        struct run *from = left.first_shared > right.first_shared ? &left : &right;
        if (left.first_shared == right.first_shared) {
            uint32_t both = left.first_shared;
            bool is_left = precedes(paths, left.order[left.at], right.order[right.at], &both);
            from = is_left ? &left : &right;
            take(from, order++, shared++);
            (is_left ? &right : &left)->first_shared = both;
            continue;
        }
        take(from, order++, shared++);
    }
    struct run *rest = left.at < left.end ? &left : &right;
    while (rest->at < rest->end)
        take(rest, order++, shared++);
}

static void sort(sagg__paths *paths)
{
    uint64_t count = paths->count;
    uint32_t *order = paths->order;
    uint32_t *shared = paths->shared;
    uint32_t *to_order = paths->room;
    uint32_t *to_shared = paths->room + count;
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t from = 0; from < count; from += 2 * width) {
            uint32_t middle = (uint32_t)(from + width < count ? from + width : count);
            uint32_t end = (uint32_t)(from + 2 * width < count ? from + 2 * width : count);
            merge(paths, (struct run){order, shared, (uint32_t)from, middle, 0},
                  (struct run){order, shared, middle, end, 0}, to_order + from, to_shared + from);
        }
        uint32_t *swap = order;
        order = to_order;
        to_order = swap;
        swap = shared;
        shared = to_shared;
        to_shared = swap;
    }
    if (order == paths->order)
        return;
    memcpy(paths->order, order, count * sizeof(*order));
    memcpy(paths->shared, shared, count * sizeof(*shared));
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
    if (out->places == NULL || out->order == NULL || out->shared == NULL || out->room == NULL)
        return SAGG_E_NOMEM;
    const uint32_t *frames = agg->stack_frames.items;
    for (uint32_t i = 0; i < count; i++) {
        const sagg__stack *stack = SAGG__AT(sagg__stack, agg->stacks.array, items[i].stack);
        out->places[i] = (sagg__path_place){frames + stack->first + stack->count, stack->count};
        out->order[i] = i;
    }
    sort(out);
    return 0;
}

void sagg__paths_free(sagg__paths *paths, sagg__mem *mem)
{
    sagg__release(mem, paths->places, paths->count * sizeof(*paths->places));
    sagg__release(mem, paths->order, paths->count * sizeof(*paths->order));
    sagg__release(mem, paths->shared, paths->count * sizeof(*paths->shared));
    sagg__release(mem, paths->room, (size_t)paths->count * 2 * sizeof(*paths->room));
}
