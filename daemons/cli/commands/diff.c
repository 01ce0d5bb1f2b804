/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack diff`: what changed between two recordings, and whether that fails a build. */
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <recording/deflate.h>
#include <recording/recording.h>
#include <stackagg/diff.h>

#include "cli/command.h"
#include "cli/commands/input.h"
#include "cli/commands/reading.h"
#include "cli/formats/frame_name.h"
#include "cli/options/diff_options.h"
#include "cli/output/json_text.h"
#include "cli/output/meta.h"
#include "cli/output/output.h"
#include "cli/output/template.h"

#define WINDOW_NS UINT64_C(1000000000)
/* Rows of the JSON's lists. */
#define MAX_ROWS 1000u

/* One of the two recordings. */
typedef struct side {
    recording *rec;
    const sagg *agg;
    sagg_windows *windows[PROFILE_TYPE_END];
} side;

typedef struct comparison {
    side before, after;
    sagg_diff *diffs[PROFILE_TYPE_END];
    unsigned types[PROFILE_TYPE_END]; /* of the diffs */
    size_t count;
} comparison;

/* ---- reading ---- */

/* Each value is also counted for its leaf, in its second. */
static int count_leaf(void *ctx, const sagg *agg, const sagg_sample *sample)
{
    const side *s = ctx;
    return sagg_windows_add_sample(s->windows[sample->type], agg, sample, NULL);
}

static bool open_side(side *s, const char *path, const diff_options *o)
{
    recording_options options = reading_recording(&o->reading);
    recording_error err;
    options.group = SAGG_BY_NONE;
    options.no_threads = true;
    options.tap = (recording_tap){.added = count_leaf, .ctx = s};
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        sagg_error cause;
        if (sagg_windows_new(&s->windows[type], WINDOW_NS, &cause) != 0) {
            complain("%s", cause.message);
            return false;
        }
    }
    if (recording_new(&s->rec, &options, &err) != 0) {
        complain("%s", err.message);
        return false;
    }
    if (!reading_add_any(s->rec, path, &(reading_wish){.types = o->reading.types}))
        return false;
    s->agg = recording_aggregate(s->rec);
    if (s->agg == NULL)
        complain("there is no memory to aggregate %s", path);
    return s->agg != NULL;
}

/* One side, read by a thread of its own. */
typedef struct opening {
    side *side;
    const char *path;
    const diff_options *options;
    bool done;
} opening;

static void *open_in_thread(void *context)
{
    opening *o = context;
    o->done = open_side(o->side, o->path, o->options);
    return NULL;
}

/* Reads both at a time, where that many threads are allowed and to be had. */
static bool open_sides(side *before, side *after, const diff_options *o)
{
    opening other = {.side = after, .path = o->after, .options = o};
    pthread_t thread;
    if (reading_threads(o->reading.jobs) < 2 ||
        pthread_create(&thread, NULL, open_in_thread, &other) != 0)
        return open_side(before, o->before, o) && open_side(after, o->after, o);
    bool done = open_side(before, o->before, o);
    (void)pthread_join(thread, NULL);
    return done && other.done;
}

static void close_side(side *s)
{
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        sagg_windows_free(s->windows[type]);
    recording_free(s->rec);
}

/* ---- comparing ---- */

static sagg_tree *tree_of(const side *s, unsigned type, const diff_options *o)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    sagg_error err;
    options.type = type;
    options.lines = o->lines;
    if (sagg_tree_new(&tree, s->agg, &options, &err) != 0)
        complain("%s", err.message);
    return tree;
}

static bool compare_type(comparison *c, unsigned type, const diff_options *o)
{
    sagg_diff_options options = SAGG_DIFF_OPTIONS_INIT;
    sagg_error err;
    sagg_tree *before = tree_of(&c->before, type, o);
    sagg_tree *after = before != NULL ? tree_of(&c->after, type, o) : NULL;
    options.max_nodes = o->max_nodes;
    options.min_share = o->min_width;
    options.before = c->before.windows[type];
    options.after = c->after.windows[type];
    bool done = after != NULL;
    if (done && sagg_diff_new(&c->diffs[c->count], before, after, &options, &err) != 0) {
        complain("%s", err.message);
        done = false;
    }
    if (done)
        c->types[c->count++] = type;
    sagg_tree_free(before);
    sagg_tree_free(after);
    return done;
}

/* A type that only one side has cannot be compared. */
static bool is_in_both(const comparison *c, unsigned type, const diff_options *o)
{
    bool before = sagg_type_totals(c->before.agg, type).value > 0;
    bool after = sagg_type_totals(c->after.agg, type).value > 0;
    if (o->reading.types != 0 && (o->reading.types >> type & 1) == 0)
        return false;
    if (before != after)
        complain("note: only %s has samples of %s", before ? o->before : o->after,
                 profile_type_get(type)->name);
    return before && after;
}

static bool compare(comparison *c, const diff_options *o)
{
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        if (is_in_both(c, type, o) && !compare_type(c, type, o))
            return false;
    if (c->count == 0)
        complain("the two have no samples of one type to compare");
    return c->count > 0;
}

/* ---- the gate ---- */

/* Grew by more than the limit, and not by chance. */
static bool fails(const sagg_change *change, const diff_options *o)
{
    int64_t growth = change->after_share - change->before_share;
    return o->has_limit && growth > o->limit && (!change->has_interval || change->low > 0);
}

static json_t *row_of(const sagg_change *change)
{
    json_t *row = json_object();
    (void)json_object_set_new(
        row, "class", json_stringn(change->method.class_name.data, change->method.class_name.size));
    (void)json_object_set_new(row, "method",
                              json_stringn(change->method.method.data, change->method.method.size));
    (void)json_object_set_new(row, "before_self", json_integer((json_int_t)change->before_self));
    (void)json_object_set_new(row, "after_self", json_integer((json_int_t)change->after_self));
    (void)json_object_set_new(row, "before_share", json_integer(change->before_share));
    (void)json_object_set_new(row, "after_share", json_integer(change->after_share));
    if (change->has_interval)
        (void)json_object_set_new(
            row, "interval", json_pack("[I,I]", (json_int_t)change->low, (json_int_t)change->high));
    return row;
}

static void report_failure(unsigned type, const sagg_change *change)
{
    char *name;
    (void)frame_name(&name, &change->method);
    complain("%s: %s uses %.2f points more itself: %.2f %% before, %.2f %% after",
             profile_type_get(type)->name, name != NULL ? name : "a method",
             (double)(change->after_share - change->before_share) / 1e7,
             (double)change->before_share / 1e7, (double)change->after_share / 1e7);
    free(name);
}

static size_t report_failures(const comparison *c, const diff_options *o)
{
    size_t failures = 0;
    for (size_t i = 0; i < c->count; i++) {
        const sagg_diff_view *view = sagg_diff_get(c->diffs[i]);
        for (size_t n = 0; n < view->change_count; n++) {
            if (!fails(&view->changes[n], o))
                continue;
            failures++;
            report_failure(c->types[i], &view->changes[n]);
        }
    }
    return failures;
}

/* ---- writing ---- */

/* A file's name need not be text: JSON then has it as messages show it. */
static json_t *json_of_path(const char *path)
{
    json_t *name = json_string(path);
    char *shown = name == NULL ? strdup(path) : NULL;
    if (shown != NULL) {
        defuse_text(shown);
        name = json_string(shown);
    }
    free(shown);
    return name;
}

static json_t *json_of(const comparison *c, const diff_options *o)
{
    json_t *types = json_array();
    for (size_t i = 0; i < c->count; i++) {
        const sagg_diff_view *view = sagg_diff_get(c->diffs[i]);
        json_t *changes = json_array();
        json_t *failures = json_array();
        for (size_t n = 0; n < view->change_count; n++) {
            if (n < MAX_ROWS)
                (void)json_array_append_new(changes, row_of(&view->changes[n]));
            if (fails(&view->changes[n], o))
                (void)json_array_append_new(failures, row_of(&view->changes[n]));
        }
        const profile_type_info *info = profile_type_get(c->types[i]);
        (void)json_array_append_new(
            types, json_pack("{s:s,s:s,s:I,s:I,s:o,s:o}", "type", info->name, "unit", info->unit,
                             "before_total", (json_int_t)view->before_totals.value, "after_total",
                             (json_int_t)view->after->totals.value, "failures", failures, "changes",
                             changes));
    }
    return json_pack("{s:i,s:o,s:o,s:o}", "version", 1, "before", json_of_path(o->before), "after",
                     json_of_path(o->after), "types", types);
}

static bool write_json(const comparison *c, const diff_options *o)
{
    output out;
    json_t *document = json_of(c, o);
    char *text = document != NULL ? json_dumps(document, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
    json_decref(document);
    if (text == NULL) {
        complain("there is no memory to write the comparison, or a name is no text");
        return false;
    }
    if (!output_open(&out, o->output)) {
        free(text);
        return false;
    }
    (void)fprintf(out.file, "%s\n", text);
    free(text);
    return output_commit(&out);
}

static bool write_html(const comparison *c, const diff_options *o)
{
    bytes html = {0};
    output out;
    sagg_error err;
    char title[512];
    if (!template_read(&html, TEMPLATE_FLAMEGRAPH))
        return false;
    (void)snprintf(title, sizeof(title), "%s, compared with %s", input_name(o->after),
                   input_name(o->before));
    char *meta = meta_json(c->after.rec, c->before.rec, title, "");
    recording_deflate *deflate = recording_deflate_new();
    bool open = meta != NULL && deflate != NULL && output_open(&out, o->output);
    bool done = false;
    if (open) {
        sagg_sink sink = output_sink(&out);
        sagg_compress compress = recording_deflate_page(deflate);
        int rc = sagg_write_diff_html((sagg_str){html.data, html.size},
                                      (const sagg_diff *const *)c->diffs, c->count,
                                      (sagg_str){meta, strlen(meta)}, &compress, &sink, &err);
        if (rc == 0 || rc == SAGG_ERR_IO) {
            done = output_commit(&out);
        } else {
            complain("%s", err.message);
            output_abort(&out);
        }
    }
    recording_deflate_free(deflate);
    free(meta);
    free(html.data);
    return done;
}

static int run(comparison *c, const diff_options *o)
{
    if (!open_sides(&c->before, &c->after, o))
        return EXIT_UNREADABLE;
    bool written =
        compare(c, o) && (o->output == NULL || (o->json ? write_json(c, o) : write_html(c, o)));
    reading_report(c->before.rec);
    reading_report(c->after.rec);
    if (!written)
        return EXIT_UNREADABLE;
    if (report_failures(c, o) > 0)
        return EXIT_REGRESSION;
    return recording_is_whole(c->before.rec) && recording_is_whole(c->after.rec) ? EXIT_WHOLE
                                                                                 : EXIT_SALVAGED;
}

int diff_run(int argc, char **argv)
{
    diff_options o;
    comparison c = {0};
    int rc = diff_parse(&o, argc, argv);
    if (rc >= 0)
        return rc;
    rc = run(&c, &o);
    for (size_t i = 0; i < c.count; i++)
        sagg_diff_free(c.diffs[i]);
    close_side(&c.before);
    close_side(&c.after);
    return rc;
}
