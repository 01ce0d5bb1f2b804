/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/formats/format_table.h"

#include <string.h>

#include "cli/commands/input.h"
#include "cli/formats/format_page.h"
#include "cli/formats/formats.h"
#include "cli/output/template.h"

/* ---- formats that need only a part of the material */

static bool write_top(output *out, format_material *m, uint32_t types)
{
    return format_top(out, m->agg, types, &(top_wish){0});
}

static bool write_csv(output *out, format_material *m, uint32_t types)
{
    return format_csv(out, m->agg, (unsigned)__builtin_ctz(types));
}

static bool write_arrow(output *out, format_material *m, uint32_t types)
{
    return format_arrow(out, m->agg, types);
}

static bool write_pprof(output *out, format_material *m, uint32_t types)
{
    recording_info info;
    recording_get_info(m->rec, &info);
    return format_pprof(out, m->agg, types, m->options->threads, &info);
}

/* ---- the table */

#define CHANGES_STACKS (CHANGED_BY_THREADS | CHANGED_BY_LINES)

static const output_format formats[] = {
    {"html", ".html", TEMPLATE_FLAMEGRAPH, CHANGES_STACKS | CHANGED_BY_NODES | CHANGED_BY_INVERTED,
     false, false, format_html, "one self-contained, searchable page with all types"},
    {"heatmap", ".heatmap.html .heatmap", TEMPLATE_HEATMAP,
     CHANGES_STACKS | CHANGED_BY_NODES | CHANGED_BY_CELLS, false, true, format_heatmap,
     "a page with time as a map, whose gaps are shown as gaps: select a stretch of it by mouse or "
     "keyboard to see its flame graph; ? explains the keys. JFR only"},
    {"collapsed", ".collapsed", NULL, CHANGES_STACKS, true, false, format_collapsed,
     "a line per stack, `root;...;leaf value`: one type a file. With --threads the first frame is "
     "[name tid=7], as async-profiler writes it"},
    {"json", ".json", NULL, CHANGES_STACKS | CHANGED_BY_NODES | CHANGED_BY_INVERTED, false, false,
     format_json, "the data of the page: flame graph JSON, version 2"},
    {"pprof", ".pprof .pb.gz", NULL, CHANGED_BY_THREADS, false, false, write_pprof,
     "a gzipped protobuf message for `go tool pprof`, always with lines; with --threads each "
     "sample has the labels thread and thread_id"},
    {"speedscope", ".speedscope.json .speedscope", NULL, CHANGES_STACKS, false, false,
     format_speedscope, "JSON for speedscope.app, a profile per type"},
    {"csv", ".csv", NULL, 0, true, false, write_csv,
     "class, method, kind, self and total of every method: one type a file"},
    {"top", ".top.json .top", NULL, 0, false, false, write_top, "the same as JSON, all types"},
    {"arrow", ".arrow", NULL, CHANGED_BY_THREADS, false, false, write_arrow,
     "an Arrow IPC file (Feather, version 2) for pandas, polars and DuckDB: a row per type, thread "
     "(with --threads) and stack"},
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const output_format *format_get(unsigned number)
{
    return number >= 1 && number <= FORMATS ? &formats[number - 1] : NULL;
}

/* Returns the length of the ending that the name has of the format's endings; 0 = none. */
static size_t ending_length(const output_format *format, const char *path)
{
    size_t size = strlen(path), longest = 0;
    for (const char *at = format->endings; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (size > length && length > longest && memcmp(path + size - length, at, length) == 0)
            longest = length;
        at += length;
    }
    return longest;
}

unsigned format_of_path(const char *path)
{
    unsigned found = 0;
    size_t longest = 0;
    for (unsigned i = 0; i < FORMATS; i++) {
        size_t length = ending_length(&formats[i], path);
        if (length > longest) {
            longest = length;
            found = i + 1;
        }
    }
    return found;
}

bool format_words(size_t index, option_word *out)
{
    if (index >= FORMATS)
        return false;
    *out = (option_word){formats[index].name, formats[index].help};
    return true;
}
