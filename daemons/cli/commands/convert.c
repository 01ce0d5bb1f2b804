/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack convert`: reads recordings and profiles, and writes flame graphs. */
#include "cli/commands/convert.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands/input.h"
#include "cli/commands/reading.h"
#include "cli/formats/format_table.h"
#include "cli/formats/sample_types.h"
#include "cli/output/output.h"
#include "cli/output/template.h"

/* ---- writing */

static bool write_one(format_material *m, uint32_t types, const char *path)
{
    output out;
    if (!output_open(&out, path))
        return false;
    if (format_get(m->options->format)->write(&out, m, types))
        return output_commit(&out);
    output_abort(&out);
    return false;
}

/* Returns "out.cpu.collapsed" for "out.collapsed"; a name without the ending gets the type at its
 * end. The caller frees it. */
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

/* Writes a file for each type. */
static bool write_each(format_material *m, uint32_t types)
{
    const cli_options *o = m->options;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        if ((types >> type & 1) == 0)
            continue;
        char *path = typed_path(o->output, recording_type_name(m->agg, type),
                                format_get(o->format)->endings);
        bool done = path != NULL && output_spares(path, o->operands, o->operand_count) &&
                    write_one(m, UINT32_C(1) << type, path);
        if (done)
            complain("wrote %s", path);
        free(path);
        if (!done)
            return false;
    }
    return true;
}

static int refuse_several(const sagg *agg, uint32_t types, const char *path)
{
    char list[SAMPLE_TYPES_ROOM];
    sample_types_list(list, sizeof(list), agg, types);
    complain("%s holds one profile type and there are several: choose with --type one of %s",
             strcmp(path, "-") == 0 ? "standard output" : path, list);
    return EXIT_USAGE;
}

static int write_files(format_material *m, uint32_t types, bool report)
{
    const char *path = m->options->output;
    bool several = format_get(m->options->format)->one_type && (types & (types - 1)) != 0;
    if (several && output_is_stream(path))
        return refuse_several(m->agg, types, path);
    bool done = several ? write_each(m, types) : write_one(m, types, path);
    if (done && report && !several)
        complain("wrote %s", path);
    return done ? EXIT_WHOLE : EXIT_UNREADABLE;
}

/* Returns "app.jfr", or "app.jfr and 2 more"; NULL = no memory. The caller frees it. */
static char *title_of(const cli_options *o)
{
    char *title;
    bool is_stdin = strcmp(o->operands[0], "-") == 0;
    const char *first = is_stdin ? "standard input" : input_name(o->operands[0]);
    if (o->operand_count == 1)
        return strdup(is_stdin ? "" : first);
    return asprintf(&title, "%s and %d more", first, o->operand_count - 1) < 0 ? NULL : title;
}

static int write_outputs(recording *rec, const heatmap *map, const cli_options *o,
                         const convert_note *note)
{
    format_material m = {.rec = rec, .options = o, .map = map, .agg = reading_aggregate(rec)};
    char *title = title_of(o);
    if (m.agg == NULL || title == NULL) {
        complain("not enough memory to aggregate the input");
        free(title);
        return EXIT_UNREADABLE;
    }
    m.title = title;
    m.absent = note->absent != NULL ? note->absent : "";
    uint32_t types = sample_types(m.agg, o->types);
    bytes page = {0};
    const char *template = format_get(o->format)->page;
    int rc = EXIT_UNREADABLE;
    if (types == 0) {
        sample_types_missing(rec, m.agg, filter_is_set(&o->filter));
    } else if (template == NULL || template_read(&page, template)) {
        m.page = (sagg_str){page.data, page.size};
        rc = write_files(&m, types, note->report);
    }
    sagg_collapsed_free(m.collapsed);
    free(page.data);
    free(title);
    return rc;
}

/* ---- reading */

int convert_files(cli_options *o, const convert_note *note)
{
    recording_options options = reading_recording(o);
    recording_error err;
    recording *rec;
    bool needs_times = format_get(o->format)->needs_times;
    heatmap map = {.filter = filter_tap(&o->filter),
                   .threads = o->threads,
                   .types = o->types,
                   .max_cells = o->max_cells};
    options.group = o->threads ? SAGG_BY_THREAD : SAGG_BY_NONE;
    options.no_threads = !o->threads;
    options.wall_states = o->states;
    options.tap = needs_times ? heatmap_tap(&map) : map.filter;
    options.threads = reading_threads(o->jobs);
    if (recording_new(&rec, &options, &err) != 0) {
        complain("%s", err.message);
        return EXIT_UNREADABLE;
    }
    recording_add_dropped(rec, note->dropped);
    reading_wish wish = {.types = o->types,
                         .times = filter_looks_at_times(&o->filter) || needs_times};
    int rc = EXIT_UNREADABLE;
    if (reading_add_all(rec, o->operands, o->operand_count, &wish)) {
        rc = write_outputs(rec, &map, o, note);
        reading_report(rec);
    }
    if (rc == EXIT_WHOLE && !recording_is_whole(rec))
        rc = EXIT_SALVAGED;
    recording_free(rec);
    heatmap_free(&map);
    return rc;
}

/* ---- the command */

static bool find_format(cli_options *o)
{
    if (o->format == 0)
        o->format = format_of_path(o->output);
    if (o->format == 0 && strcmp(o->output, "-") == 0)
        complain("name the format of standard output with --format (--help lists them)");
    else if (o->format == 0)
        complain("'%s' does not end in a known format: add --format (--help lists them)",
                 o->output);
    return o->format != 0;
}

/* Says which given options have no effect on this format, so that the user need not find out. */
static void note_unused(const cli_options *o)
{
    const output_format *format = format_get(o->format);
    for (size_t i = 0; i < option_count; i++) {
        const option_row *row = &option_table[i];
        if ((o->given >> i & 1) != 0 && row->changes != 0 &&
            (row->changes & format->changed_by) == 0)
            complain("note: --%s changes nothing in the format %s", row->name, format->name);
    }
}

static int convert_run(cli_options *o)
{
    if (o->output == NULL) {
        complain("say where to write with -o FILE, or -o - for standard output");
        return EXIT_USAGE;
    }
    if (!output_spares(o->output, o->operands, o->operand_count) || !find_format(o))
        return EXIT_USAGE;
    if (o->inverted && format_get(o->format)->needs_times) {
        complain("--inverted applies to html and json: on a heatmap's page, press r to invert the "
                 "graph");
        return EXIT_USAGE;
    }
    note_unused(o);
    return convert_files(o, &(convert_note){0});
}

const command convert_command = {
    .name = "convert",
    .summary = "Make flame graphs from recordings",
    .usage = "IN... -o OUT [OPTIONS]",
    .about = "Makes a flame graph from recordings of async-profiler or the JDK's Flight Recorder, "
             "from pprof profiles and from collapsed stacks. Adds up several inputs. - is "
             "standard input or output.\n\n"
             "For formats that hold one type, writes a file for each type (out.cpu.collapsed ...) "
             "and names it on standard error. The type of collapsed stacks as input comes from the "
             "file's name, as in app.cpu.collapsed, or from --type.",
    .ending = "Exit codes: 0 all was read; 3 written, but a part of the input is damaged or was "
              "left out by a limit, which standard error names; 1 nothing usable could be read "
              "(with the offset) or written; 2 wrong usage.\n\n"
              "The pages' templates are flamegraph.html and heatmap.html in share/hotstack of the "
              "installation; HOTSTACK_DATADIR names another folder to look for them.",
    .bit = OF_CONVERT,
    .operands = OPERANDS_FILES,
    .run = convert_run,
};
