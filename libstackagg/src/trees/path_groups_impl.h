/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of paths that begin alike: stacks have few ways to begin, and one path sorts its group. */
#ifndef STACKAGG_PATH_GROUPS_H
#define STACKAGG_PATH_GROUPS_H

#include "aggregate/index_impl.h"
#include "trees/paths_impl.h"

/* Finding them pays for many paths, at least so many. */
#define SAGG__GROUPS_WORTH 8192u

/* How many frames are alike, where paths have as many. Were there more, there would be too many
 * groups, as a rule. */
#define SAGG__GROUP_FRAMES 20u

typedef struct sagg__path_groups {
    sagg__mem *mem;
    sagg__index index;
    sagg__paths begins; /* what the paths of a group begin with; items are numbers of groups */
    uint32_t *of_place; /* the group of each */
    uint32_t place_count;
    uint32_t *sizes; /* by group, in paths; once these are placed, where they end */
} sagg__path_groups;

/* For up to `place_count` paths. Returns NULL without memory. */
sagg__path_groups *sagg__path_groups_new(sagg__mem *mem, uint32_t place_count);
void sagg__path_groups_free(sagg__path_groups *groups);

/*
 * Finds the groups of the places from..end, whose paths share `shared` frames, and makes the keys
 * for the frames behind the beginnings, which are to be sorted. Returns false where there are too
 * many groups, or the paths are not by thread yet.
 */
bool sagg__path_groups_find(sagg__path_groups *groups, const sagg__paths *paths, uint32_t from,
                            uint32_t end, uint32_t shared);

/* Puts those places in the order that the beginnings of their groups have by now. */
void sagg__path_groups_place(sagg__path_groups *groups, sagg__paths *paths, uint32_t from,
                             uint32_t end);

#endif
