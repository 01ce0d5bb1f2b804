/* SPDX-License-Identifier: Apache-2.0 */
/* Places of paths in the order of their keys. */
#ifndef STACKAGG_PATH_SORT_H
#define STACKAGG_PATH_SORT_H

#include "trees/paths_impl.h"

/* Sorts by key, keeping the order of equal ones; `room` is as large, and need not be set. */
void sagg__sort_by_key(sagg__path_place *places, sagg__path_place *room, uint32_t count);

#endif
