/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/formats/format_heatmap.h"

#include <recording/deflate.h>
#include <string.h>

#include "cli/command.h"

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

bool heatmap_write(const heatmap *map, output *out, sagg_str html_template, const recording *rec,
                   const sagg *agg, const sagg_tree *const *trees, uint32_t types, const char *meta)
{
    const sagg_heat *heats[PROFILE_TYPE_END];
    sagg_heatmap page = {.agg = agg, .trees = trees, .heats = heats};
    sagg_sink sink = output_sink(out);
    sagg_error err;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        if ((types >> type & 1) != 0)
            heats[page.count++] = map->heats[type];
    page.span_count = recording_spans(rec, &page.spans);
    recording_deflate *deflate = recording_deflate_new();
    if (deflate == NULL) {
        complain("there is no memory left for the page");
        return false;
    }
    sagg_compress compress = recording_deflate_page(deflate);
    int rc = sagg_write_heatmap_html(html_template, &page, (sagg_str){meta, strlen(meta)},
                                     &compress, &sink, &err);
    recording_deflate_free(deflate);
    if (rc != 0 && rc != SAGG_ERR_IO)
        complain("%s", err.message);
    return rc == 0 || rc == SAGG_ERR_IO;
}
