/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of paths with the same beginning. Stacks have few beginnings, and sorting one path sorts
 * its whole group. */
#ifndef STACKAGG_PATH_GROUPS_H
#define STACKAGG_PATH_GROUPS_H

#include "aggregate/index_impl.h"
#include "trees/paths_impl.h"

/* Groups are worth their time only for at least this many paths. */
#define SAGG__GROUPS_WORTH 8192u

/* The number of equal frames in a group, in paths that have as many. With more frames there would
 * usually be too many groups. */
#define SAGG__GROUP_FRAMES 20u

typedef struct sagg__path_groups {
    sagg__mem *mem;
    sagg__index index;
    sagg__paths begins; /* the beginnings of the groups; items are numbers of groups */
    uint32_t *of_place; /* the group of each place */
    uint32_t place_count;
    uint32_t *sizes; /* by group: its number of paths; once they are placed, where they end */
} sagg__path_groups;

/* Makes groups for up to `place_count` paths. Returns NULL without memory. */
sagg__path_groups *sagg__path_groups_new(sagg__mem *mem, uint32_t place_count);
void sagg__path_groups_free(sagg__path_groups *groups);

/*
 * Finds the groups of the places from..end, whose paths share `shared` frames. Makes the keys for
 * the frames after the beginnings; the beginnings are still to be sorted. Returns false when there
 * are too many groups, or when the paths are not sorted by thread yet.
 */
bool sagg__path_groups_find(sagg__path_groups *groups, const sagg__paths *paths, uint32_t from,
                            uint32_t end, uint32_t shared);

/* Sorts those places by the present order of their groups' beginnings. */
void sagg__path_groups_place(sagg__path_groups *groups, sagg__paths *paths, uint32_t from,
                             uint32_t end);

#endif
