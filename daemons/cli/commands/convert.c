/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack convert`: recordings and profiles in, flame graphs out. */
#include <stdlib.h>
#include <string.h>

#include <recording/deflate.h>
#include <recording/recording.h>

#include "cli/command.h"
#include "cli/commands/input.h"
#include "cli/commands/reading.h"
#include "cli/formats/format_heatmap.h"
#include "cli/formats/formats.h"
#include "cli/formats/sample_types.h"
#include "cli/options/options.h"
#include "cli/output/meta.h"
#include "cli/output/output.h"
#include "cli/output/template.h"

static bool read_inputs(recording *rec, const convert_options *o)
{
    reading_wish wish = {.types = o->reading.types,
                         .times = filter_looks_at_times(&o->filter) || o->format == FORMAT_HEATMAP};
    return reading_add_all(rec, o->inputs, o->input_count, &wish);
}

/* ---- html, heatmap and json: all types in one document ---- */

typedef struct forest {
    sagg_tree *trees[PROFILE_TYPE_END];
    size_t count;
} forest;

static void forest_free(forest *trees)
{
    for (size_t i = 0; i < trees->count; i++)
        sagg_tree_free(trees->trees[i]);
}

/* What a node must have to be `width` (parts per billion) of the total wide. */
static uint64_t least_total(uint64_t total, uint32_t width)
{
    const uint64_t billion = 1000000000;
    return total / billion * width + (total % billion * width + billion - 1) / billion;
}

/* Puts the tree that was asked for in the place of the whole one. */
static bool invert(sagg_tree **tree, const convert_options *o, uint64_t min_total)
{
    sagg_shape_options options = SAGG_SHAPE_OPTIONS_INIT;
    sagg_error err;
    sagg_tree *inverted;
    options.shape = SAGG_SHAPE_REVERSED;
    options.max_nodes = o->max_nodes;
    options.min_total = min_total;
    if (sagg_tree_shape(&inverted, *tree, &options, &err) != 0) {
        complain("%s", err.message);
        return false;
    }
    sagg_tree_free(*tree);
    *tree = inverted;
    return true;
}

/* Pictures may be cut; files for other tools hold all. */
static bool grow_forest(forest *trees, const sagg *agg, uint32_t types, const convert_options *o)
{
    bool is_picture =
        o->format == FORMAT_HTML || o->format == FORMAT_JSON || o->format == FORMAT_HEATMAP;
    bool is_cut = is_picture && !o->inverted;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
        sagg_error err;
        if ((types >> type & 1) == 0)
            continue;
        uint64_t min_total = least_total(sagg_type_totals(agg, type).value, o->min_width);
        options.type = type;
        options.threads = o->threads;
        options.lines = o->lines;
        options.max_nodes = is_cut ? o->max_nodes : 0;
        options.min_total = is_cut ? min_total : 0;
        if (sagg_tree_new(&trees->trees[trees->count], agg, &options, &err) != 0) {
            complain("%s", err.message);
            return false;
        }
        trees->count++;
        if (is_picture && o->inverted && !invert(&trees->trees[trees->count - 1], o, min_total))
            return false;
    }
    return true;
}

static bool write_document(const forest *trees, const char *meta, const bytes *html,
                           const char *path)
{
    output out;
    sagg_error err;
    if (!output_open(&out, path))
        return false;
    sagg_sink sink = output_sink(&out);
    sagg_str about = {meta, strlen(meta)};
    const sagg_tree *const *all = (const sagg_tree *const *)trees->trees;
    recording_deflate *deflate = html != NULL ? recording_deflate_new() : NULL;
    int rc = SAGG_ERR_NOMEM;
    (void)snprintf(err.message, sizeof(err.message), "There is no memory left for the page.");
    if (deflate != NULL) {
        sagg_compress compress = recording_deflate_page(deflate);
        rc = sagg_write_html((sagg_str){html->data, html->size}, all, trees->count, about,
                             &compress, &sink, &err);
    } else if (html == NULL) {
        rc = sagg_write_json(all, trees->count, about, &sink, &err);
    }
    recording_deflate_free(deflate);
    if (rc == 0 || rc == SAGG_ERR_IO) /* a failed write is the output's to report */
        return output_commit(&out);
    complain("%s", err.message);
    output_abort(&out);
    return false;
}

static int written(const convert_options *o, bool done)
{
    if (done && o->report)
        complain("wrote %s", o->output);
    return done ? EXIT_WHOLE : EXIT_UNREADABLE;
}

/* "app.jfr", "app.jfr and 2 more". NULL = no memory. Free it. */
static char *title_of(const convert_options *o)
{
    char *title;
    bool is_stdin = strcmp(o->inputs[0], "-") == 0;
    const char *first = is_stdin ? "standard input" : input_name(o->inputs[0]);
    if (o->input_count == 1)
        return strdup(is_stdin ? "" : first);
    return asprintf(&title, "%s and %d more", first, o->input_count - 1) < 0 ? NULL : title;
}

/* What a page is made from. */
typedef struct material {
    recording *rec;
    const sagg *agg;
    const heatmap *map;
    uint32_t types;
} material;

static bool write_heatmap(const forest *trees, const char *meta, const bytes *html,
                          const material *from, const char *path)
{
    output out;
    sagg_str page = {html->data, html->size};
    const sagg_tree *const *all = (const sagg_tree *const *)trees->trees;
    if (!output_open(&out, path))
        return false;
    if (heatmap_write(from->map, &out, page, from->rec, from->agg, all, from->types, meta))
        return output_commit(&out);
    output_abort(&out);
    return false;
}

static bool read_template(bytes *html, enum convert_format format)
{
    return format == FORMAT_JSON ||
           template_read(html, format == FORMAT_HTML ? TEMPLATE_FLAMEGRAPH : TEMPLATE_HEATMAP);
}

static int write_page(const material *from, const convert_options *o)
{
    forest trees = {0};
    bytes html = {0};
    if (!read_template(&html, o->format))
        return EXIT_UNREADABLE;
    char *title = title_of(o);
    char *meta = title != NULL
                     ? meta_json(from->rec, NULL, title, o->absent != NULL ? o->absent : "")
                     : NULL;
    if (meta == NULL)
        complain("there is no memory to write the document");
    bool done = meta != NULL && grow_forest(&trees, from->agg, from->types, o);
    if (done && o->format == FORMAT_HEATMAP)
        done = write_heatmap(&trees, meta, &html, from, o->output);
    else if (done)
        done = write_document(&trees, meta, html.data != NULL ? &html : NULL, o->output);
    forest_free(&trees);
    free(title);
    free(meta);
    free(html.data);
    return written(o, done);
}

/* ---- pprof, speedscope, arrow, top: all types for another tool ---- */

static bool write_speedscope(output *out, const sagg *agg, uint32_t types, const convert_options *o)
{
    forest trees = {0};
    const sagg_tree *const *all = (const sagg_tree *const *)trees.trees;
    bool done = grow_forest(&trees, agg, types, o) &&
                format_speedscope(out, all, trees.count, input_name(o->inputs[0]));
    forest_free(&trees);
    return done;
}

static bool write_table(output *out, const recording *rec, const sagg *agg, uint32_t types,
                        const convert_options *o)
{
    recording_info info;
    recording_get_info(rec, &info);
    switch (o->format) {
    case FORMAT_TOP:
        return format_top(out, agg, types, &(top_wish){0});
    case FORMAT_ARROW:
        return format_arrow(out, agg, types);
    case FORMAT_PPROF:
        return format_pprof(out, agg, types, o->threads, &info);
    default:
        return write_speedscope(out, agg, types, o);
    }
}

static bool write_foreign(const recording *rec, const sagg *agg, uint32_t types,
                          const convert_options *o)
{
    output out;
    if (!output_open(&out, o->output))
        return false;
    if (write_table(&out, rec, agg, types, o))
        return output_commit(&out);
    output_abort(&out);
    return false;
}

/* ---- collapsed, csv: a file per type ---- */

/* What writes lines: collapsed stacks are sorted once for all types; CSV needs nothing. */
typedef struct line_writer {
    const sagg *agg;
    sagg_collapsed *collapsed; /* NULL = CSV */
} line_writer;

static bool line_writer_open(line_writer *w, const sagg *agg, const convert_options *o)
{
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    sagg_error err;
    *w = (line_writer){.agg = agg};
    options.threads = o->threads;
    options.lines = o->lines;
    if (o->format == FORMAT_CSV || sagg_collapsed_new(&w->collapsed, agg, &options, &err) == 0)
        return true;
    complain("%s", err.message);
    return false;
}

static bool write_collapsed(sagg_collapsed *collapsed, unsigned type, const char *path)
{
    output out;
    sagg_error err;
    if (!output_open(&out, path))
        return false;
    sagg_sink sink = output_sink(&out);
    int rc = sagg_collapsed_write(collapsed, type, &sink, &err);
    if (rc == 0 || rc == SAGG_ERR_IO)
        return output_commit(&out);
    complain("%s", err.message);
    output_abort(&out);
    return false;
}

static bool write_csv(const sagg *agg, unsigned type, const char *path)
{
    output out;
    if (!output_open(&out, path))
        return false;
    if (format_csv(&out, agg, type))
        return output_commit(&out);
    output_abort(&out);
    return false;
}

static bool write_one(const line_writer *w, unsigned type, const char *path)
{
    return w->collapsed != NULL ? write_collapsed(w->collapsed, type, path)
                                : write_csv(w->agg, type, path);
}

/* "out.collapsed" -> "out.cpu.collapsed"; a name without the ending gets the type at its end. Free
 * it. */
static char *typed_path(const char *path, const char *type, const char *ending)
{
    size_t size = strlen(path);
    size_t stem = size;
    char *typed;
    if (size > strlen(ending) && strcmp(path + size - strlen(ending), ending) == 0)
        stem = size - strlen(ending);
    if (asprintf(&typed, "%.*s.%s%s", (int)stem, path, type, path + stem) < 0)
        return NULL;
    return typed;
}

static bool write_each(const line_writer *w, uint32_t types, const convert_options *o)
{
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        if ((types >> type & 1) == 0)
            continue;
        const char *ending = o->format == FORMAT_CSV ? ".csv" : ".collapsed";
        char *path = typed_path(o->output, profile_type_get(type)->name, ending);
        bool done = path != NULL && output_spares(path, o->inputs, o->input_count) &&
                    write_one(w, type, path);
        if (done)
            complain("wrote %s", path);
        free(path);
        if (!done)
            return false;
    }
    return true;
}

static int write_lines(const sagg *agg, uint32_t types, const convert_options *o)
{
    bool is_single = (types & (types - 1)) == 0;
    if (!is_single && output_is_stream(o->output)) {
        char list[SAMPLE_TYPES_ROOM];
        sample_types_list(list, sizeof(list), types);
        complain("%s holds one profile type and there are several: choose with --type one of %s",
                 strcmp(o->output, "-") == 0 ? "standard output" : o->output, list);
        return EXIT_USAGE;
    }
    line_writer w;
    bool done = line_writer_open(&w, agg, o);
    if (done)
        done = is_single ? write_one(&w, (unsigned)__builtin_ctz(types), o->output)
                         : write_each(&w, types, o);
    sagg_collapsed_free(w.collapsed);
    if (!is_single)
        return done ? EXIT_WHOLE : EXIT_UNREADABLE;
    return written(o, done);
}

/* ---- the command ---- */

static int write_outputs(recording *rec, const heatmap *map, const convert_options *o)
{
    const sagg *agg = recording_aggregate(rec);
    if (agg == NULL) {
        complain("there is no memory to aggregate the input");
        return EXIT_UNREADABLE;
    }
    uint32_t types = sample_types(agg, o->reading.types);
    if (types == 0) {
        sample_types_missing(rec, agg, filter_is_set(&o->filter));
        return EXIT_UNREADABLE;
    }
    switch (o->format) {
    case FORMAT_COLLAPSED:
    case FORMAT_CSV:
        return write_lines(agg, types, o);
    case FORMAT_HTML:
    case FORMAT_HEATMAP:
    case FORMAT_JSON:
        return write_page(&(material){rec, agg, map, types}, o);
    default:
        return written(o, write_foreign(rec, agg, types, o));
    }
}

int convert_files(convert_options *o)
{
    recording_options options = reading_recording(&o->reading);
    recording_error err;
    recording *rec;
    heatmap map = {.filter = filter_tap(&o->filter),
                   .threads = o->threads,
                   .types = o->reading.types,
                   .max_cells = o->max_cells};
    options.group = o->threads ? SAGG_BY_THREAD : SAGG_BY_NONE;
    options.no_threads = !o->threads;
    options.wall_states = o->states;
    options.tap = o->format == FORMAT_HEATMAP ? heatmap_tap(&map) : map.filter;
    options.threads = reading_threads(o->reading.jobs);
    if (recording_new(&rec, &options, &err) != 0) {
        complain("%s", err.message);
        return EXIT_UNREADABLE;
    }
    recording_add_dropped(rec, o->dropped);
    int rc = EXIT_UNREADABLE;
    if (read_inputs(rec, o)) {
        rc = write_outputs(rec, &map, o);
        reading_report(rec);
    }
    if (rc == EXIT_WHOLE && !recording_is_whole(rec))
        rc = EXIT_SALVAGED;
    recording_free(rec);
    heatmap_free(&map);
    return rc;
}

int convert_run(int argc, char **argv)
{
    convert_options o;
    int rc = convert_parse(&o, argc, argv);
    if (rc < 0)
        rc = convert_files(&o);
    filter_free(&o.filter);
    return rc;
}
