/* SPDX-License-Identifier: Apache-2.0 */
/* Heatmap pages: when the samples were, gathered while a recording is read, and written with its
 * trees. */
#ifndef HOTSTACK_CLI_FORMAT_HEATMAP_H
#define HOTSTACK_CLI_FORMAT_HEATMAP_H

#include <recording/recording.h>

#include "cli/output/output.h"

typedef struct heatmap {
    recording_tap filter;
    bool threads;
    uint32_t types;                     /* bits; 0 = all */
    uint32_t max_cells;                 /* 0 = the library's default */
    sagg_heat *heats[PROFILE_TYPE_END]; /* NULL until the type's first sample */
} heatmap;

/* A tap that asks `map->filter` what to keep and remembers what was added; it borrows the map. */
recording_tap heatmap_tap(heatmap *map);
void heatmap_free(heatmap *map);

/*
 * Writes the page with these trees, which are those of `types` (bits) in their order. Returns
 * false, having complained, when it cannot be made; a failed write is the output's to report.
 */
bool heatmap_write(const heatmap *map, output *out, sagg_str html_template, const recording *rec,
                   const sagg *agg, const sagg_tree *const *trees, uint32_t types,
                   const char *meta);

#endif
