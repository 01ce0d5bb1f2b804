/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jfr totals`: prints the sum of each profile type in a recording. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <catalogue/profile_type.h>

#include "cli/command.h"
#include "cli/commands/reading.h"
#include "cli/formats/sample_types.h"
#include "cli/output/json_text.h"

/* The result for one type. */
typedef struct totals_row {
    const char *name;
    sagg_totals sums;
    uint64_t stacks;
} totals_row;

/* ---- counting ---- */

static void fill_rows(const sagg *agg, totals_row rows[PROFILE_TYPE_END])
{
    uint64_t stacks[SAGG_MAX_TYPE + 1];
    sagg_type_stacks(agg, stacks);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        rows[type] =
            (totals_row){recording_type_name(agg, type), sagg_type_totals(agg, type), stacks[type]};
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

static int print_totals(recording *rec, const cli_options *o)
{
    totals_row rows[PROFILE_TYPE_END] = {0};
    const sagg *agg = reading_aggregate(rec);
    if (agg == NULL) {
        complain("not enough memory to aggregate the input");
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

static int jfr_totals_run(cli_options *o)
{
    recording_options options = RECORDING_OPTIONS_INIT;
    recording_error err;
    recording *rec;
    options.group = SAGG_BY_THREAD;
    options.max_stacks = 20000000;
    options.max_threads = 1000000;
    options.max_bytes = UINT64_C(16) << 30;
    options.walk_unfinished = true;
    options.threads = reading_threads(o->jobs);
    if (recording_new(&rec, &options, &err) != 0) {
        complain("%s", err.message);
        return EXIT_UNREADABLE;
    }
    bool done = true;
    for (int i = 0; done && i < o->operand_count; i++)
        done = reading_add(rec, o->operands[i]);
    int rc = done ? print_totals(rec, o) : EXIT_UNREADABLE;
    recording_free(rec);
    return rc;
}

const command jfr_totals_command = {
    .name = "jfr totals",
    .summary = "Events, values and distinct stacks of each profile type",
    .usage = "FILE... [OPTIONS]",
    .about = "Adds up the profile samples of recordings by type, thread and stack and prints for "
             "each type the number of events, the value as recorded, the estimated value and the "
             "number of distinct stacks. Names events that look like samples but are in no "
             "profile. - is standard input.",
    .ending = "Exit codes: 0 all was read; 3 a part of a recording is damaged, which standard "
              "error names; 1 nothing could be read (with the offset); 2 wrong usage.",
    .bit = OF_JFR_TOTALS,
    .operands = OPERANDS_FILES,
    .run = jfr_totals_run,
};
