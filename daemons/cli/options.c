/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <catalogue/profile_type.h>

#include "command.h"

static const char help[] =
    "usage: hotstack convert IN.jfr... -o OUT [OPTIONS]\n"
    "\n"
    "Makes a flame graph from recordings of async-profiler or the JDK's Flight Recorder. Several\n"
    "inputs are added up. `-` is standard input or output.\n"
    "\n"
    "  -o, --output FILE    where to write; its ending names the format\n"
    "  -f, --format FORMAT  html       one self-contained, searchable page with all types\n"
    "                       collapsed  a line per stack, `root;...;leaf value`: one type a file\n"
    "                       json       the data of the page (flame graph JSON, version 1)\n"
    "  -t, --type TYPE,...  only these profile types: cpu, alloc_bytes, alloc_objects,\n"
    "                       lock_count, lock_delay, wall, live_bytes, nativemem_bytes.\n"
    "                       Without it collapsed stacks of several types go to one file per\n"
    "                       type (out.cpu.collapsed ...), which standard error names\n"
    "      --threads        tell threads apart: a frame for the thread above each stack\n"
    "      --lines          tell lines of a method apart\n"
    "      --raw-names      keep the names of hidden classes, lambdas and proxies as recorded\n"
    "      --max-nodes N    html, json: keep the N heaviest nodes of each type (default 200000,\n"
    "                       0 = all); what is cut away is counted in the output\n"
    "      --min-width P    html, json: keep nodes of P percent of their type's total or more\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 all was read; 3 written, but a part of the input is damaged or was left out by\n"
    "a cap, named on standard error; 1 nothing usable could be read (with the offset) or written;\n"
    "2 wrong usage.\n"
    "\n"
    "The page's template is share/hotstack/flamegraph.html of the installation;\n"
    "HOTSTACK_DATADIR names another folder to look for it.\n";

enum { OPT_THREADS = 256, OPT_LINES, OPT_RAW_NAMES, OPT_MAX_NODES, OPT_MIN_WIDTH };

static const struct option longs[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'f'},
    {"type", required_argument, NULL, 't'},
    {"threads", no_argument, NULL, OPT_THREADS},
    {"lines", no_argument, NULL, OPT_LINES},
    {"raw-names", no_argument, NULL, OPT_RAW_NAMES},
    {"max-nodes", required_argument, NULL, OPT_MAX_NODES},
    {"min-width", required_argument, NULL, OPT_MIN_WIDTH},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const struct {
    const char *name;
    enum convert_format format;
} formats[] = {
    {"html", FORMAT_HTML},
    {"collapsed", FORMAT_COLLAPSED},
    {"json", FORMAT_JSON},
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
    complain("there is no format '%s': use html, collapsed or json", name);
    return EXIT_USAGE;
}

static int add_types(convert_options *out, char *list)
{
    char *rest;
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        const profile_type_info *info = profile_type_find(name);
        if (info == NULL) {
            complain("there is no profile type '%s': see --help for their names", name);
            return EXIT_USAGE;
        }
        out->types |= UINT32_C(1) << info->type;
    }
    return -1;
}

static int set_max_nodes(convert_options *out, const char *text)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && text[0] != '-' && number <= UINT32_MAX) {
        out->max_nodes = (uint32_t)number;
        return -1;
    }
    complain("--max-nodes takes a number, not '%s'", text);
    return EXIT_USAGE;
}

static int set_min_width(convert_options *out, const char *text)
{
    char *end;
    double percent = strtod(text, &end);
    if (end != text && *end == '\0' && percent >= 0 && percent <= 100) {
        out->min_width = (uint32_t)(percent * 1e7 + 0.5);
        return -1;
    }
    complain("--min-width takes a percentage from 0 to 100, not '%s'", text);
    return EXIT_USAGE;
}

static int take_option(convert_options *out, int option)
{
    switch (option) {
    case 'o':
        out->output = optarg;
        return -1;
    case 'f':
        return set_format(out, optarg);
    case 't':
        return add_types(out, optarg);
    case OPT_THREADS:
        out->threads = true;
        return -1;
    case OPT_LINES:
        out->lines = true;
        return -1;
    case OPT_RAW_NAMES:
        out->raw_names = true;
        return -1;
    case OPT_MAX_NODES:
        return set_max_nodes(out, optarg);
    case OPT_MIN_WIDTH:
        return set_min_width(out, optarg);
    case 'h':
        (void)fputs(help, stdout);
        return EXIT_WHOLE;
    default:
        (void)fputs("`hotstack convert --help` lists the options.\n", stderr);
        return EXIT_USAGE;
    }
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
    if (out->format != FORMAT_NONE)
        return -1;
    const char *ending = strrchr(out->output, '.');
    out->format = ending != NULL ? find_format(ending + 1) : FORMAT_NONE;
    if (out->format != FORMAT_NONE)
        return -1;
    complain("'%s' does not end in a known format: add --format html, collapsed or json",
             out->output);
    return EXIT_USAGE;
}

int convert_parse(convert_options *out, int argc, char **argv)
{
    *out = (convert_options){.max_nodes = 200000};
    optind = 1;
    for (;;) {
        int option = getopt_long(argc, argv, "o:f:t:h", longs, NULL);
        if (option == -1)
            break;
        int rc = take_option(out, option);
        if (rc >= 0)
            return rc;
    }
    out->inputs = argv + optind;
    out->input_count = argc - optind;
    return check(out);
}
