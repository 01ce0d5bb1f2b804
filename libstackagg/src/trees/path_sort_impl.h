/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts places of paths by their keys. */
#ifndef STACKAGG_PATH_SORT_H
#define STACKAGG_PATH_SORT_H

#include "trees/paths_impl.h"

/* Sorts by key; equal ones keep their order. `room` is as large, and need not be initialised. */
void sagg__sort_by_key(sagg__path_place *places, sagg__path_place *room, uint32_t count);

#endif
