/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack diff`: shows the changes between two recordings, and fails a build if they break a
 * rule. */
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <recording/deflate.h>
#include <recording/meta.h>
#include <recording/recording.h>

#include "cli/command.h"
#include "cli/commands/input.h"
#include "cli/commands/reading.h"
#include "cli/diff/comparison.h"
#include "cli/formats/sample_types.h"
#include "cli/output/json_text.h"
#include "cli/output/output.h"
#include "cli/output/template.h"

#define WINDOW_NS UINT64_C(1000000000)
/* Most rows of each list in the JSON. */
#define MAX_ROWS 1000u

/* ---- reading ---- */

/* Adds each value to its leaf in its second, too. The spread over seconds tells change from
 * chance. */
static int count_leaf(void *ctx, const sagg *agg, const sagg_sample *sample)
{
    const diff_side *s = ctx;
    return sagg_windows_add_sample(s->windows[sample->type], agg, sample, NULL);
}

static bool open_side(diff_side *s, const char *path, const cli_options *o)
{
    recording_options options = reading_recording(o);
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
    if (!reading_add_any(s->rec, path, &(reading_wish){.types = o->types}))
        return false;
    s->agg = reading_aggregate(s->rec);
    if (s->agg == NULL)
        complain("not enough memory to aggregate %s", path);
    recording_info info;
    recording_get_info(s->rec, &info);
    s->covered_ns = info.covered_ns;
    return s->agg != NULL;
}

/* One side, read by a thread of its own. */
typedef struct opening {
    diff_side *side;
    const char *path;
    const cli_options *options;
    bool done;
} opening;

static void *open_in_thread(void *context)
{
    opening *o = context;
    o->done = open_side(o->side, o->path, o->options);
    return NULL;
}

/* Reads both sides at the same time if two threads are allowed and available. */
static bool open_sides(diff_side *before, diff_side *after, const cli_options *o)
{
    opening other = {.side = after, .path = o->operands[1], .options = o};
    pthread_t thread;
    if (reading_threads(o->jobs) < 2 || pthread_create(&thread, NULL, open_in_thread, &other) != 0)
        return open_side(before, o->operands[0], o) && open_side(after, o->operands[1], o);
    bool done = open_side(before, o->operands[0], o);
    (void)pthread_join(thread, NULL);
    return done && other.done;
}

static void close_side(diff_side *s)
{
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        sagg_windows_free(s->windows[type]);
    recording_free(s->rec);
}

/* ---- comparing ---- */

static sagg_tree *tree_of(const diff_side *s, unsigned type, const cli_options *o)
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

static bool compare_type(comparison *c, unsigned type, const cli_options *o)
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

/* Whether both sides have the type; it cannot be compared otherwise. */
static bool is_in_both(const comparison *c, unsigned type, const cli_options *o)
{
    bool before = sagg_type_totals(c->before.agg, type).value > 0;
    bool after = sagg_type_totals(c->after.agg, type).value > 0;
    if (o->types != 0 && (o->types >> type & 1) == 0)
        return false;
    if (before != after)
        complain("note: only %s has samples of %s", before ? o->operands[0] : o->operands[1],
                 recording_type_name(before ? c->before.agg : c->after.agg, type));
    return before && after;
}

static bool compare(comparison *c, const cli_options *o)
{
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        if (is_in_both(c, type, o) && !compare_type(c, type, o))
            return false;
    if (c->count == 0)
        complain("the two inputs have no profile type in common");
    return c->count > 0;
}

/* ---- writing ---- */

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

/* A file's name need not be valid UTF-8; JSON then holds it in the form that messages show. */
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

static json_t *json_of_rules(const cli_options *o)
{
    json_t *rules = json_array();
    if (o->fail_on.self.text != NULL)
        (void)json_array_append_new(rules, json_string(o->fail_on.self.text));
    if (o->fail_on.total.text != NULL)
        (void)json_array_append_new(rules, json_string(o->fail_on.total.text));
    return rules;
}

/* Returns a total per second, or null where the recorded time of an input is unknown. */
static json_t *json_of_rate(const diff_rates *rates, double value)
{
    return rates->known ? json_real(value) : json_null();
}

static json_t *json_of(const comparison *c, const verdict *v, const cli_options *o)
{
    json_t *types = json_array();
    for (size_t i = 0; i < c->count; i++) {
        const sagg_diff_view *view = sagg_diff_get(c->diffs[i]);
        json_t *changes = json_array();
        json_t *failures = json_array();
        for (size_t n = 0; n < view->change_count; n++) {
            if (n < MAX_ROWS)
                (void)json_array_append_new(changes, row_of(&view->changes[n]));
            if (gate_method_fails(&view->changes[n], o))
                (void)json_array_append_new(failures, row_of(&view->changes[n]));
        }
        const profile_type_info *info = profile_type_get(c->types[i]);
        diff_rates rates = comparison_rates(c, i);
        (void)json_array_append_new(
            types,
            json_pack("{s:s,s:s,s:I,s:I,s:o,s:o,s:b,s:o,s:o}", "type", comparison_type(c, i),
                      "unit", info->unit, "before_total", (json_int_t)view->before_totals.value,
                      "after_total", (json_int_t)view->after->totals.value, "before_per_second",
                      json_of_rate(&rates, rates.before), "after_per_second",
                      json_of_rate(&rates, rates.after), "total_fails", gate_total_fails(c, i, o),
                      "failures", failures, "changes", changes));
    }
    return json_pack("{s:i,s:o,s:o,s:{s:o,s:b,s:s},s:o}", "version", 1, "before",
                     json_of_path(o->operands[0]), "after", json_of_path(o->operands[1]), "verdict",
                     "rules", json_of_rules(o), "failed", v->failed, "text", v->text, "types",
                     types);
}

static bool write_json(const comparison *c, const verdict *v, const cli_options *o)
{
    output out;
    json_t *document = json_of(c, v, o);
    char *text = document != NULL ? json_dumps(document, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
    json_decref(document);
    if (text == NULL) {
        complain("not enough memory to write the comparison, or a name is not valid UTF-8");
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

static bool write_html(const comparison *c, const cli_options *o)
{
    bytes html = {0};
    output out;
    sagg_error err;
    char title[512];
    if (!template_read(&html, TEMPLATE_FLAMEGRAPH))
        return false;
    (void)snprintf(title, sizeof(title), "%s, compared with %s", input_name(o->operands[1]),
                   input_name(o->operands[0]));
    char *meta = recording_meta(c->after.rec, c->before.rec, title, "");
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

static bool write_text(const comparison *c, const verdict *v, const cli_options *o)
{
    output out;
    if (!output_open(&out, o->output))
        return false;
    comparison_print(out.file, c, v, o);
    return output_commit(&out);
}

static bool write_any(const comparison *c, const verdict *v, const cli_options *o)
{
    switch (o->format) {
    case DIFF_HTML:
        return write_html(c, o);
    case DIFF_JSON:
        return write_json(c, v, o);
    default:
        return write_text(c, v, o);
    }
}

/* Reports the verdict of a rule on standard error, unless the text on the terminal holds it. */
static void report_verdict(const verdict *v, const cli_options *o)
{
    bool has_rule = o->fail_on.self.text != NULL || o->fail_on.total.text != NULL;
    if (has_rule && (o->format != DIFF_TEXT || strcmp(o->output, "-") != 0))
        complain("verdict: %s", v->text);
}

static int run(comparison *c, const cli_options *o)
{
    verdict v = {0};
    if (!open_sides(&c->before, &c->after, o))
        return EXIT_UNREADABLE;
    bool done = compare(c, o) && gate_judge(&v, c, o) && write_any(c, &v, o);
    reading_report(c->before.rec);
    reading_report(c->after.rec);
    if (done) {
        gate_report(c, o);
        report_verdict(&v, o);
    }
    free(v.text);
    if (!done)
        return EXIT_UNREADABLE;
    if (v.failed)
        return EXIT_REGRESSION;
    return recording_is_whole(c->before.rec) && recording_is_whole(c->after.rec) ? EXIT_WHOLE
                                                                                 : EXIT_SALVAGED;
}

/* Finds the format from the output's name. */
static bool find_format(cli_options *o)
{
    static const struct {
        const char *ending;
        enum diff_format format;
    } endings[] = {{".txt", DIFF_TEXT}, {".html", DIFF_HTML}, {".json", DIFF_JSON}};
    const char *ending = strrchr(o->output, '.');
    if (o->format == 0 && strcmp(o->output, "-") == 0)
        o->format = DIFF_TEXT;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (o->format == 0 && ending != NULL && strcmp(ending, endings[i].ending) == 0)
            o->format = endings[i].format;
    if (o->format == 0)
        complain("'%s' does not end in .txt, .html or .json: add --format", o->output);
    return o->format != 0;
}

static int diff_run(cli_options *o)
{
    comparison c = {0};
    if (!output_spares(o->output, o->operands, o->operand_count) || !find_format(o))
        return EXIT_USAGE;
    int rc = run(&c, o);
    for (size_t i = 0; i < c.count; i++)
        sagg_diff_free(c.diffs[i]);
    close_side(&c.before);
    close_side(&c.after);
    return rc;
}

const command diff_command = {
    .name = "diff",
    .summary = "Compare two recordings, for people or for a build",
    .usage = "BEFORE AFTER [OPTIONS]",
    .about = "Compares two recordings, or pprof's profiles or collapsed stacks, type by type, by "
             "the share of each method and stack in the type's total. The change of a method's own "
             "share has a confidence interval of 99 %, from a bootstrap over windows of one "
             "second. The table of each type also has the totals per second of "
             "recording; the last line is the verdict.",
    .ending = "Exit codes: 0 done; 3 done, but a part of an input is damaged or was left out, "
              "which standard error names; 4 a method or a total fails a rule; 1 nothing could be "
              "compared or written; 2 wrong usage.",
    .bit = OF_DIFF,
    .operands = OPERANDS_TWO_FILES,
    .run = diff_run,
};
