/* SPDX-License-Identifier: Apache-2.0 */
/* The file format of speedscope: https://github.com/jlfwong/speedscope, "Importing from custom
 * sources". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/formats/formats.h"
#include "cli/formats/frame_name.h"
#include "cli/output/json_text.h"

static const char *unit_name(sagg_str unit)
{
    if (unit.size == 2 && memcmp(unit.data, "ns", 2) == 0)
        return "nanoseconds";
    return unit.size == 5 && memcmp(unit.data, "bytes", 5) == 0 ? "bytes" : "none";
}

/* Writes "class.method", with the line if lines were asked for. */
static bool write_frame(FILE *to, const sagg_frame *frame)
{
    char *name;
    int size = frame_name(&name, frame);
    if (size < 0)
        return false;
    (void)fputs("{\"name\":", to);
    json_text(to, (sagg_str){name, (size_t)size});
    free(name);
    if (frame->file.size > 0) {
        (void)fputs(",\"file\":", to);
        json_text(to, frame->file);
    }
    if (frame->line > 0)
        (void)fprintf(to, ",\"line\":%" PRIu32, frame->line);
    (void)fputc('}', to);
    return true;
}

static bool write_frames(FILE *to, const sagg_tree *const *trees, size_t count)
{
    bool first = true;
    for (size_t t = 0; t < count; t++) {
        const sagg_tree_view *view = sagg_tree_get(trees[t]);
        for (size_t i = 0; i < view->frame_count; i++) {
            (void)fputs(first ? "\n" : ",\n", to);
            first = false;
            if (!write_frame(to, &view->frames[i]))
                return false;
        }
    }
    return true;
}

/* Writes a sample for each node that has a value of its own: the path to it from the root. */
static void write_samples(FILE *to, const sagg_tree_view *view, size_t first_frame, uint32_t *path)
{
    bool first = true;
    for (size_t i = 0; i < view->node_count; i++) {
        uint32_t depth = view->depth[i];
        if (depth > 0)
            path[depth - 1] = view->frame[i];
        if (view->self[i] == 0)
            continue;
        (void)fputs(first ? "\n[" : ",\n[", to);
        first = false;
        for (uint32_t d = 0; d < depth; d++)
            (void)fprintf(to, d > 0 ? ",%zu" : "%zu", first_frame + path[d]);
        (void)fputc(']', to);
    }
}

static void write_weights(FILE *to, const sagg_tree_view *view)
{
    bool first = true;
    for (size_t i = 0; i < view->node_count; i++) {
        if (view->self[i] == 0)
            continue;
        (void)fprintf(to, first ? "%" PRIu64 : ",%" PRIu64, view->self[i]);
        first = false;
    }
}

static bool write_profile(FILE *to, const sagg_tree_view *view, size_t first_frame)
{
    uint32_t *path = malloc((view->node_count + 1) * sizeof(*path));
    if (path == NULL)
        return false;
    (void)fputs("{\"type\":\"sampled\",\"name\":", to);
    json_text(to, view->type);
    (void)fprintf(to, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
                  unit_name(view->unit), view->total[0]);
    write_samples(to, view, first_frame, path);
    (void)fputs("],\"weights\":[", to);
    write_weights(to, view);
    (void)fputs("]}", to);
    free(path);
    return true;
}

bool speedscope_write(output *out, const sagg_tree *const *trees, size_t count, const char *title)
{
    FILE *to = out->file;
    size_t first_frame = 0;
    (void)fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":"
                "\"hotstack " HOTSTACK_VERSION "\",\"name\":",
                to);
    json_text(to, (sagg_str){title, strlen(title)});
    (void)fputs(",\"shared\":{\"frames\":[", to);
    bool done = write_frames(to, trees, count);
    (void)fputs("]},\"profiles\":[", to);
    for (size_t t = 0; done && t < count; t++) {
        const sagg_tree_view *view = sagg_tree_get(trees[t]);
        (void)fputs(t > 0 ? ",\n" : "\n", to);
        done = write_profile(to, view, first_frame);
        first_frame += view->frame_count;
    }
    (void)fputs("]}\n", to);
    if (!done)
        complain("not enough memory to write the document");
    return done;
}
