/* SPDX-License-Identifier: Apache-2.0 */
/* The times of the samples of a heatmap, collected while a recording is read. */
#ifndef HOTSTACK_CLI_HEATMAP_H
#define HOTSTACK_CLI_HEATMAP_H

#include <recording/recording.h>

typedef struct heatmap {
    recording_tap filter;
    bool threads;
    uint32_t types;                     /* bits; 0 = all */
    uint32_t max_cells;                 /* 0 = the library's default */
    sagg_heat *heats[PROFILE_TYPE_END]; /* NULL until the type's first sample */
} heatmap;

/* Returns a tap that asks `map->filter` which samples to keep, and counts those that are added; it
 * borrows the map. */
recording_tap heatmap_tap(heatmap *map);
void heatmap_free(heatmap *map);

#endif
