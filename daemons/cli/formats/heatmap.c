/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/formats/heatmap.h"

static int add(void *ctx, const sagg *agg, const sagg_sample *sample)
{
    heatmap *map = ctx;
    sagg_heat **heat = &map->heats[sample->type];
    sagg_heat_options options = SAGG_HEAT_OPTIONS_INIT;
    int rc = 0;
    if (map->types != 0 && (map->types >> sample->type & 1) == 0)
        return 0;
    options.threads = map->threads;
    options.max_cells = map->max_cells;
    if (*heat == NULL)
        rc = sagg_heat_new(heat, &options, NULL);
    return rc == 0 ? sagg_heat_add(*heat, agg, sample, NULL) : rc;
}

static bool keep(void *ctx, const sagg *agg, const recording_moment *moment)
{
    const heatmap *map = ctx;
    return map->filter.keep(map->filter.ctx, agg, moment);
}

static void begin(void *ctx, int64_t start_ns, int64_t end_ns)
{
    const heatmap *map = ctx;
    map->filter.begin(map->filter.ctx, start_ns, end_ns);
}

recording_tap heatmap_tap(heatmap *map)
{
    return (recording_tap){.begin = map->filter.begin != NULL ? begin : NULL,
                           .keep = map->filter.keep != NULL ? keep : NULL,
                           .added = add,
                           .ctx = map};
}

void heatmap_free(heatmap *map)
{
    for (unsigned type = 0; type < PROFILE_TYPE_END; type++)
        sagg_heat_free(map->heats[type]);
    *map = (heatmap){0};
}
