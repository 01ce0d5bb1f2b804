/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/formats/format_page.h"

#include <stdlib.h>
#include <string.h>

#include <recording/deflate.h>
#include <recording/meta.h>

#include "cli/formats/formats.h"

/* ---- a tree per type */

typedef struct forest {
    sagg_tree *trees[PROFILE_TYPE_END];
    size_t count;
} forest;

static const sagg_tree *const *trees_of(const forest *f)
{
    return (const sagg_tree *const *)f->trees;
}

static void forest_free(forest *trees)
{
    for (size_t i = 0; i < trees->count; i++)
        sagg_tree_free(trees->trees[i]);
}

/* Returns the least value that makes a node `width` (parts per billion) of the total wide. */
static uint64_t least_total(uint64_t total, uint32_t width)
{
    const uint64_t billion = 1000000000;
    return total / billion * width + (total % billion * width + billion - 1) / billion;
}

/* Replaces the whole tree with the inverted one. */
static bool invert(sagg_tree **tree, const cli_options *o, uint64_t min_total)
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

/* Builds the trees. Pictures may be cut to the nodes that can be seen; files for other tools hold
 * all nodes. */
static bool forest_grow(forest *f, const format_material *m, uint32_t types)
{
    const cli_options *o = m->options;
    unsigned changes = format_get(o->format)->changed_by;
    bool is_picture = (changes & CHANGED_BY_NODES) != 0;
    bool is_inverted = o->inverted && (changes & CHANGED_BY_INVERTED) != 0;
    bool is_cut = is_picture && !is_inverted;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
        sagg_error err;
        if ((types >> type & 1) == 0)
            continue;
        uint64_t min_total = least_total(sagg_type_totals(m->agg, type).value, o->min_width);
        options.type = type;
        options.threads = o->threads;
        options.lines = o->lines;
        options.max_nodes = is_cut ? o->max_nodes : 0;
        options.min_total = is_cut ? min_total : 0;
        if (sagg_tree_new(&f->trees[f->count], m->agg, &options, &err) != 0) {
            complain("%s", err.message);
            return false;
        }
        f->count++;
        if (is_inverted && !invert(&f->trees[f->count - 1], o, min_total))
            return false;
    }
    return true;
}

/* ---- documents */

/* The trees, and the facts about the recording that a document shows. */
typedef struct document {
    forest trees;
    char *meta;
    recording_deflate *deflate;
} document;

static bool document_open(document *d, const format_material *m, uint32_t types)
{
    *d = (document){0};
    d->meta = recording_meta(m->rec, NULL, m->title, m->absent);
    d->deflate = recording_deflate_new();
    if (d->meta == NULL || d->deflate == NULL) {
        complain("not enough memory to write the document");
        return false;
    }
    return forest_grow(&d->trees, m, types);
}

static void document_close(document *d)
{
    forest_free(&d->trees);
    recording_deflate_free(d->deflate);
    free(d->meta);
}

/* Whether the library wrote it. output_commit reports a failed write of the output. */
static bool is_written(int rc, const sagg_error *err)
{
    if (rc != 0 && rc != SAGG_ERR_IO)
        complain("%s", err->message);
    return rc == 0 || rc == SAGG_ERR_IO;
}

bool format_html(output *out, format_material *m, uint32_t types)
{
    document d;
    sagg_error err;
    sagg_sink sink = output_sink(out);
    bool done = document_open(&d, m, types);
    if (done) {
        sagg_compress compress = recording_deflate_page(d.deflate);
        sagg_str meta = {d.meta, strlen(d.meta)};
        int rc = sagg_write_html(m->page, trees_of(&d.trees), d.trees.count, meta, &compress, &sink,
                                 &err);
        done = is_written(rc, &err);
    }
    document_close(&d);
    return done;
}

bool format_json(output *out, format_material *m, uint32_t types)
{
    document d;
    sagg_error err;
    sagg_sink sink = output_sink(out);
    bool done = document_open(&d, m, types);
    if (done) {
        sagg_str meta = {d.meta, strlen(d.meta)};
        done =
            is_written(sagg_write_json(trees_of(&d.trees), d.trees.count, meta, &sink, &err), &err);
    }
    document_close(&d);
    return done;
}

bool format_heatmap(output *out, format_material *m, uint32_t types)
{
    document d;
    sagg_error err;
    sagg_sink sink = output_sink(out);
    const sagg_heat *heats[PROFILE_TYPE_END];
    bool done = document_open(&d, m, types);
    if (done) {
        sagg_heatmap page = {.agg = m->agg, .trees = trees_of(&d.trees), .heats = heats};
        for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
            if ((types >> type & 1) != 0)
                heats[page.count++] = m->map->heats[type];
        page.span_count = recording_spans(m->rec, &page.spans);
        sagg_compress compress = recording_deflate_page(d.deflate);
        sagg_str meta = {d.meta, strlen(d.meta)};
        done =
            is_written(sagg_write_heatmap_html(m->page, &page, meta, &compress, &sink, &err), &err);
    }
    document_close(&d);
    return done;
}

bool format_speedscope(output *out, format_material *m, uint32_t types)
{
    forest trees = {0};
    bool done = forest_grow(&trees, m, types) &&
                speedscope_write(out, trees_of(&trees), trees.count, m->title);
    forest_free(&trees);
    return done;
}

/* ---- lines */

bool format_collapsed(output *out, format_material *m, uint32_t types)
{
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    sagg_error err;
    sagg_sink sink = output_sink(out);
    options.threads = m->options->threads;
    options.lines = m->options->lines;
    int rc = m->collapsed != NULL ? 0 : sagg_collapsed_new(&m->collapsed, m->agg, &options, &err);
    if (rc == 0)
        rc = sagg_collapsed_write(m->collapsed, (unsigned)__builtin_ctz(types), &sink, &err);
    return is_written(rc, &err);
}
