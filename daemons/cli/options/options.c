/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/options.h"

#include <getopt.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands/reading.h"
#include "cli/options/option_values.h"
#include "cli/output/output.h"

static const char help[] =
    "usage: hotstack convert IN... -o OUT [OPTIONS]\n"
    "\n"
    "Makes a flame graph from recordings of async-profiler or the JDK's Flight Recorder, from\n"
    "pprof's profiles and from collapsed stacks (whose type the file's name tells, as in\n"
    "app.cpu.collapsed, or --type). Several inputs are added up. `-` is standard input or output.\n"
    "\n"
    "  -o, --output FILE    where to write; its ending names the format\n"
    "  -f, --format FORMAT  html       one self-contained, searchable page with all types\n"
    "                       heatmap    a page with time as a map: pick a stretch of it and see "
    "its\n"
    "                                  flame graph (.heatmap.html); JFR only\n"
    "                       collapsed  a line per stack, `root;...;leaf value`: one type a file\n"
    "                       json       the data of the page (flame graph JSON, version 2)\n"
    "                       pprof      gzipped protobuf for `go tool pprof` (.pprof, .pb.gz)\n"
    "                       speedscope JSON for speedscope.app (.speedscope.json)\n"
    "                       csv        the methods with self and total: one type a file\n"
    "                       top        the same as JSON, all types (.top.json)\n"
    "                       arrow      Arrow IPC file: a row per type, thread and stack\n"
    "  -t, --type TYPE,...  only these profile types: cpu, alloc_bytes, alloc_objects,\n"
    "                       lock_count, lock_delay, wall, live_bytes, nativemem_bytes.\n"
    "                       Without it formats that hold one type write a file per type\n"
    "                       (out.cpu.collapsed ...), which standard error names\n"
    "      --thread REGEX   only threads whose name has a match (extended regular expression)\n"
    "      --from TIME      only samples from then on: Unix seconds, or 2026-01-31T09:15:00Z\n"
    "      --to TIME        only samples before then\n"
    "      --state STATE,.. only samples in these thread states: runnable, sleeping, native,\n"
    "                       unknown (the recorder did not say)\n"
    "      --inverted       html, json: leaves first (in a heatmap's page: the key r)\n"
    "      --threads        tell threads apart: a frame for the thread above each stack\n"
    "      --lines          tell lines of a method apart\n"
    "      --wall-states    tell threads that run from those that wait in wall: a frame [running]\n"
    "                       or [waiting] above each stack\n"
    "      --raw-names      keep the names of hidden classes, lambdas and proxies as recorded\n"
    "      --max-nodes N    html, heatmap, json: keep the N heaviest nodes of each type (default "
    "200000,\n"
    "                       0 = all); what is cut away is counted in the output\n"
    "      --min-width P    html, heatmap, json: keep nodes of P percent of their type's total or\n"
    "                       more\n"
    "      --max-cells N    heatmap: keep at most N values of (time, stack) of each type (default\n"
    "                       1000000, least 1000): past it the map gets coarser in time and\n"
    "                       says so\n"
    "      --max-stacks N   tell at most N stacks apart (default 2000000) and\n"
    "      --max-memory MIB use at most so much memory for them (default 4096): past either the\n"
    "                       lightest are summed into [dropped], and totals stay exact\n"
    "  -j, --jobs N         read large recordings with N threads, 1 to 64 (default: one a CPU, up "
    "to\n"
    "                       8); the output is the same with any number\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 all was read; 3 written, but a part of the input is damaged or was left out by\n"
    "a cap, named on standard error; 1 nothing usable could be read (with the offset) or written;\n"
    "2 wrong usage.\n"
    "\n"
    "The pages' templates are flamegraph.html and heatmap.html in share/hotstack of the\n"
    "installation; HOTSTACK_DATADIR names another folder to look for them.\n";

/* By default; the help says so. */
enum { MAX_NODES = 200000 };

enum {
    OPT_THREADS = 256,
    OPT_LINES,
    OPT_MAX_NODES,
    OPT_MIN_WIDTH,
    OPT_MAX_CELLS,
    OPT_INVERTED,
    OPT_WALL_STATES
};

static const struct option longs[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'f'},
    {"threads", no_argument, NULL, OPT_THREADS},
    {"lines", no_argument, NULL, OPT_LINES},
    {"wall-states", no_argument, NULL, OPT_WALL_STATES},
    {"max-nodes", required_argument, NULL, OPT_MAX_NODES},
    {"min-width", required_argument, NULL, OPT_MIN_WIDTH},
    {"max-cells", required_argument, NULL, OPT_MAX_CELLS},
    FILTER_LONGS,
    {"inverted", no_argument, NULL, OPT_INVERTED},
    READING_LONGS,
    {NULL, 0, NULL, 0},
};

static const struct {
    const char *name;
    enum convert_format format;
} formats[] = {
    {"html", FORMAT_HTML},   {"collapsed", FORMAT_COLLAPSED},   {"json", FORMAT_JSON},
    {"pprof", FORMAT_PPROF}, {"speedscope", FORMAT_SPEEDSCOPE}, {"csv", FORMAT_CSV},
    {"top", FORMAT_TOP},     {"arrow", FORMAT_ARROW},           {"heatmap", FORMAT_HEATMAP},
};

/* Endings of files that are not the format's name; the first that fits counts. */
static const struct {
    const char *ending;
    enum convert_format format;
} endings[] = {
    {".speedscope.json", FORMAT_SPEEDSCOPE},
    {".top.json", FORMAT_TOP},
    {".pb.gz", FORMAT_PPROF},
    {".heatmap.html", FORMAT_HEATMAP},
};

static enum convert_format find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(name, formats[i].name) == 0)
            return formats[i].format;
    return FORMAT_NONE;
}

static int set_format(convert_options *out, const char *name)
{
    out->format = find_format(name);
    if (out->format != FORMAT_NONE)
        return -1;
    complain("there is no format '%s': use html, heatmap, collapsed, json, pprof, "
             "speedscope, csv, top or arrow",
             name);
    return EXIT_USAGE;
}

enum convert_format convert_format_of(const char *path)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i].ending);
        if (size > ending && strcmp(path + size - ending, endings[i].ending) == 0)
            return endings[i].format;
    }
    const char *dot = strrchr(path, '.');
    return dot != NULL ? find_format(dot + 1) : FORMAT_NONE;
}

static int take_option(convert_options *out, int option)
{
    switch (option) {
    case 'o':
        out->output = optarg;
        return -1;
    case 'f':
        return set_format(out, optarg);
    case OPT_THREADS:
        out->threads = true;
        return -1;
    case OPT_LINES:
        out->lines = true;
        return -1;
    case OPT_WALL_STATES:
        out->states = true;
        return -1;
    case OPT_MAX_NODES:
        return option_number(&out->max_nodes, "--max-nodes", optarg, 0);
    case OPT_MAX_CELLS:
        return option_number(&out->max_cells, "--max-cells", optarg, 1000);
    case OPT_MIN_WIDTH:
        return option_min_width(&out->min_width, optarg);
    case FILTER_OPT_THREAD:
    case FILTER_OPT_FROM:
    case FILTER_OPT_TO:
    case FILTER_OPT_STATE:
        return filter_option(&out->filter, option);
    case OPT_INVERTED:
        out->inverted = true;
        return -1;
    default:
        return reading_option(&out->reading, option, "convert", help);
    }
}

/* What was asked for and changes nothing: better said than found out. */
static void note_unused(const convert_options *out)
{
    bool picture =
        out->format == FORMAT_HTML || out->format == FORMAT_JSON || out->format == FORMAT_HEATMAP;
    bool table = out->format == FORMAT_CSV || out->format == FORMAT_TOP;
    if (out->inverted && !picture)
        complain("note: --inverted changes html and json only");
    if (out->min_width > 0 && !picture)
        complain("note: --min-width changes html, json and heatmap only");
    if (out->max_nodes != MAX_NODES && !picture)
        complain("note: --max-nodes changes html, json and heatmap only");
    if (out->max_cells != 0 && out->format != FORMAT_HEATMAP)
        complain("note: --max-cells changes heatmap only");
    if (out->threads && table)
        complain("note: --threads changes no table of methods; --thread chooses threads");
    if (out->lines && table)
        complain("note: --lines changes no table of methods");
    if (out->lines && (out->format == FORMAT_PPROF || out->format == FORMAT_ARROW))
        complain("note: --lines changes nothing here: the format always has the lines");
}

static int check(convert_options *out)
{
    if (out->input_count == 0) {
        complain("name a recording to read, or - for standard input");
        return EXIT_USAGE;
    }
    if (out->output == NULL) {
        complain("say where to write with -o FILE, or -o - for standard output");
        return EXIT_USAGE;
    }
    if (!reading_stdin_once(out->inputs, out->input_count) ||
        !output_spares(out->output, out->inputs, out->input_count))
        return EXIT_USAGE;
    if (out->format == FORMAT_NONE)
        out->format = convert_format_of(out->output);
    if (out->format == FORMAT_HEATMAP && out->inverted) {
        complain("--inverted is for html and json: in a heatmap's page the key r turns its graph");
        return EXIT_USAGE;
    }
    if (out->format != FORMAT_NONE)
        return -1;
    if (strcmp(out->output, "-") == 0)
        complain("name the format of standard output with --format (--help lists them)");
    else
        complain("'%s' does not end in a known format: add --format (--help lists them)",
                 out->output);
    return EXIT_USAGE;
}

int convert_parse(convert_options *out, int argc, char **argv)
{
    *out = (convert_options){.max_nodes = MAX_NODES, .reading = READING_OPTIONS_INIT};
    optind = 1;
    for (;;) {
        int option = getopt_long(argc, argv, "o:f:" READING_SHORTS, longs, NULL);
        if (option == -1)
            break;
        int rc = take_option(out, option);
        if (rc >= 0)
            return rc;
    }
    out->inputs = argv + optind;
    out->input_count = argc - optind;
    int rc = check(out);
    if (rc < 0)
        note_unused(out);
    return rc;
}
