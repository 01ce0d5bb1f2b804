/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jfr totals`: what a recording holds of each profile type. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <catalogue/profile_type.h>

#include "cli/command.h"
#include "cli/commands/reading.h"
#include "cli/formats/sample_types.h"
#include "cli/jfr/jfr.h"
#include "cli/options/option_values.h"
#include "cli/output/json_text.h"

static const char help[] =
    "usage: hotstack jfr totals FILE... [OPTIONS]\n"
    "\n"
    "Adds up the profile samples of recordings by type, thread and stack and prints for each type\n"
    "the number of events, the value as recorded, the estimated value and how many distinct "
    "stacks\n"
    "there are. `-` is standard input.\n"
    "\n"
    "      --json           one JSON object: {\"types\": {\"cpu\": {\"unit\", \"events\",\n"
    "                       \"raw_value\", \"value\", \"stacks\"}, ...},\n"
    "                       \"recorder_lost\": {\"samples\", \"bytes\"},\n"
    "                       \"unread_events\": {\"datadog.X\": 12, ...}}: events that look like\n"
    "                       samples and are in no profile\n"
    "  -j, --threads N      read with N threads, 1 to 64 (default: one a CPU, up to 8); the "
    "result\n"
    "                       is the same with any number\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 all was read; 3 a part of the recording is damaged, named on standard error;\n"
    "1 it cannot be read (with the offset); 2 wrong usage.\n";

typedef struct totals_options {
    char **inputs; /* "-" = standard input */
    int input_count;
    bool json;
    uint32_t threads;
} totals_options;

/* One type's row of the answer. */
typedef struct totals_row {
    const char *name;
    sagg_totals sums;
    uint64_t stacks;
} totals_row;

/* ---- the command line ---- */

enum { OPT_JSON = 256 };

static const struct option longs[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"threads", required_argument, NULL, 'j'},
    {"jobs", required_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Returns -1 to go on, or an exit code. */
static int take_option(totals_options *o, int option)
{
    switch (option) {
    case OPT_JSON:
        o->json = true;
        return -1;
    case 'j':
        return option_jobs(&o->threads, "--threads", optarg);
    case 'h':
        (void)fputs(help, stdout);
        return EXIT_WHOLE;
    default:
        (void)fputs("`hotstack jfr totals --help` lists the options.\n", stderr);
        return EXIT_USAGE;
    }
}

/* As above. */
static int parse(totals_options *o, int argc, char **argv)
{
    *o = (totals_options){0};
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, "j:h", longs, NULL)) != -1) {
        int rc = take_option(o, option);
        if (rc >= 0)
            return rc;
    }
    o->inputs = argv + optind;
    o->input_count = argc - optind;
    if (o->input_count > 0)
        return reading_stdin_once(o->inputs, o->input_count) ? -1 : EXIT_USAGE;
    complain("name a recording to read, or - for standard input");
    return EXIT_USAGE;
}

/* ---- counting ---- */

static void fill_rows(const sagg *agg, totals_row rows[PROFILE_TYPE_END])
{
    uint64_t stacks[SAGG_MAX_TYPE + 1];
    sagg_type_stacks(agg, stacks);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        rows[type] =
            (totals_row){sample_type_name(agg, type), sagg_type_totals(agg, type), stacks[type]};
}

/* ---- printing ---- */

static void print_unread(const recording *rec)
{
    const recording_unread *unread;
    size_t count = recording_unread_events(rec, &unread);
    (void)fputs("\"unread_events\": {", stdout);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i > 0 ? ", " : "", stdout);
        json_text(stdout, (sagg_str){unread[i].event, strlen(unread[i].event)});
        (void)printf(": %" PRIu64, unread[i].count);
    }
    (void)putchar('}');
}

static void print_json(const recording *rec, const totals_row rows[PROFILE_TYPE_END],
                       const recording_info *lost)
{
    const char *comma = "";
    (void)fputs("{\"types\": {", stdout);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        const totals_row *row = &rows[type];
        if (row->sums.samples == 0)
            continue;
        const profile_type_info *info = profile_type_get(type);
        (void)printf("%s\"%s\": {\"unit\": \"%s\", \"events\": %" PRIu64 ", \"raw_value\": %" PRIu64
                     ", \"value\": %" PRIu64 ", \"stacks\": %" PRIu64 "}",
                     comma, row->name, info->unit, row->sums.samples, row->sums.raw_value,
                     row->sums.value, row->stacks);
        comma = ", ";
    }
    (void)printf("}, \"recorder_lost\": {\"samples\": %" PRIu64 ", \"bytes\": %" PRIu64 "}, ",
                 lost->recorder_samples, lost->recorder_bytes);
    print_unread(rec);
    (void)puts("}");
}

static void print_table(const totals_row rows[PROFILE_TYPE_END])
{
    (void)printf("%-15s %-5s %12s %20s %20s %10s\n", "type", "unit", "events", "raw value", "value",
                 "stacks");
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        const totals_row *row = &rows[type];
        if (row->sums.samples == 0)
            continue;
        const profile_type_info *info = profile_type_get(type);
        (void)printf("%-15s %-5s %12" PRIu64 " %20" PRIu64 " %20" PRIu64 " %10" PRIu64 "\n",
                     row->name, info->unit, row->sums.samples, row->sums.raw_value, row->sums.value,
                     row->stacks);
    }
}

static int print_totals(recording *rec, const totals_options *o)
{
    totals_row rows[PROFILE_TYPE_END] = {0};
    const sagg *agg = reading_aggregate(rec);
    if (agg == NULL) {
        complain("there is no memory to aggregate the input");
        return EXIT_UNREADABLE;
    }
    fill_rows(agg, rows);
    recording_info info;
    recording_get_info(rec, &info);
    if (o->json)
        print_json(rec, rows, &info);
    else
        print_table(rows);
    reading_report(rec);
    return recording_is_whole(rec) ? EXIT_WHOLE : EXIT_SALVAGED;
}

int jfr_totals_run(int argc, char **argv)
{
    totals_options o;
    int rc = parse(&o, argc, argv);
    if (rc >= 0)
        return rc;
    recording_options options = RECORDING_OPTIONS_INIT;
    recording_error err;
    recording *rec;
    options.group = SAGG_BY_THREAD;
    options.max_stacks = 20000000;
    options.max_threads = 1000000;
    options.max_bytes = UINT64_C(16) << 30;
    options.walk_unfinished = true;
    options.threads = reading_threads(o.threads);
    if (recording_new(&rec, &options, &err) != 0) {
        complain("%s", err.message);
        return EXIT_UNREADABLE;
    }
    bool done = true;
    for (int i = 0; done && i < o.input_count; i++)
        done = reading_add(rec, o.inputs[i]);
    rc = done ? print_totals(rec, &o) : EXIT_UNREADABLE;
    recording_free(rec);
    return rc;
}
