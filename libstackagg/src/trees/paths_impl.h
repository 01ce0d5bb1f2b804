/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks in the order of a flame tree: root first, by the rank of their frames. */
#ifndef STACKAGG_PATHS_H
#define STACKAGG_PATHS_H

#include "trees/tree_impl.h"

#define SAGG__NO_RANK UINT32_MAX

/* A stack, possibly of one thread. */
typedef struct sagg__path {
    uint32_t stack;
    uint32_t thread; /* rank in the palette, SAGG__NO_RANK = no frame for it */
    uint64_t value;  /* the caller's */
} sagg__path;

/* The place of a path in the order: its frames, leaf first, and its item. */
typedef struct sagg__path_place {
    uint64_t key;  /* during sorting: the ranks of the next frames */
    uint64_t next; /* the ranks of the frames after those */
    const uint16_t *end;
    uint32_t count : 31;
    uint32_t wide : 1; /* its frames have 32 bits each */
    uint32_t item;
} sagg__path_place;

typedef struct sagg__paths {
    const sagg__path *items; /* the caller's: all have a thread, or none */
    uint32_t count;
    bool has_threads;
    const uint32_t *rank_of;  /* numbers of the palette by frame; borrowed from the palette */
    uint32_t rank_bits;       /* bits of the largest rank + 1 */
    sagg__path_place *places; /* in their order */
    uint32_t *shared;         /* by place: how many frames it shares with the previous place */
    sagg__path_place *room;   /* for sorting; `count` places */
} sagg__paths;

/*
 * Sorts `count` items, which must outlive the paths, as the palette's maps must. Returns 0 or
 * SAGG_ERR_NOMEM; free it in both cases, with the same `mem`.
 */
int sagg__paths_sort(sagg__paths *out, sagg__mem *mem, const sagg *agg,
                     const sagg__palette *palette, const sagg__path *items, uint32_t count);
void sagg__paths_free(sagg__paths *paths, sagg__mem *mem);

static inline uint32_t sagg__path_length(const sagg__paths *paths, const sagg__path_place *place)
{
    return place->count + (paths->has_threads ? 1 : 0);
}

/* The number of places between prefetching a path's memory and using it. */
#define SAGG__PATHS_AHEAD 12

/* Prefetches the memory of the frames from a depth on, up to 16 of them, of the path at this place
 * in the order. */
static inline void sagg__path_prefetch(const sagg__paths *paths, uint32_t place, uint32_t depth,
                                       uint32_t frames)
{
    if (place < paths->count) {
        const sagg__path_place *of = &paths->places[place];
        const uint16_t *first = of->end - ((ptrdiff_t)(depth + 1) << of->wide);
        __builtin_prefetch(first);
        __builtin_prefetch(first - ((ptrdiff_t)(frames - 1) << of->wide));
    }
}

/* Returns the frame after `at` others of a path's stack. */
static inline uint32_t sagg__path_frame(const sagg__path_place *place, uint32_t at)
{
    if (place->wide)
        return ((const uint32_t *)(const void *)place->end)[-1 - (ptrdiff_t)at];
    return place->end[-1 - (ptrdiff_t)at];
}

/* Returns the rank of the frame at a depth, 0 = the root's. */
static inline uint32_t sagg__path_rank(const sagg__paths *paths, const sagg__path_place *place,
                                       uint32_t at)
{
    if (paths->has_threads && at-- == 0)
        return paths->items[place->item].thread;
    return paths->rank_of[sagg__path_frame(place, at)];
}

/* Returns how many frames a key covers. */
static inline uint32_t sagg__path_key_frames(const sagg__paths *paths)
{
    return 64 / paths->rank_bits;
}

/* Makes both keys of a path from a depth on, while its frames are in the cache. */
void sagg__path_make_keys(const sagg__paths *paths, sagg__path_place *place, uint32_t from);

#endif
