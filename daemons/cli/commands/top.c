/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack top`: the hottest methods of a recording, in the terminal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recording/recording.h>

#include "cli/command.h"
#include "cli/commands/reading.h"
#include "cli/formats/formats.h"
#include "cli/formats/frame_name.h"
#include "cli/formats/sample_types.h"
#include "cli/options/options.h"
#include "cli/output/quantity.h"

/* ---- a table ---- */

static void print_value(const quantity_scale *by, uint64_t value)
{
    if (by->divisor > 0)
        (void)printf("%12.2f %-5s", (double)value / by->divisor, by->unit);
    else
        (void)printf("%12" PRIu64 " %-5s", value, by->unit);
}

static void print_row(const sagg_top_row *row, const quantity_scale *by, uint64_t whole)
{
    print_value(by, row->self);
    (void)printf(" %5.1f %%", quantity_percent(row->self, whole));
    print_value(by, row->total);
    (void)printf(" %5.1f %%  ", quantity_percent(row->total, whole));
    frame_print(stdout, &row->frame);
    (void)putchar('\n');
}

static void print_head(const char *name, const sagg_totals *totals, const quantity_scale *by)
{
    char whole[64];
    quantity_text(whole, sizeof(whole), by, (double)totals->value);
    (void)printf("%s: %s in %" PRIu64 " samples\n", name, whole, totals->samples);
    (void)printf("%12s%26s%16s%s\n", "self", "total", "", "method");
}

static bool print_table(const sagg *agg, unsigned type, const top_wish *wish)
{
    top_table table;
    const profile_type_info *info = profile_type_get(type);
    sagg_totals totals = sagg_type_totals(agg, type);
    if (!top_table_open(&table, agg, type, wish))
        return false;
    quantity_scale by = quantity_scale_of(info->unit, totals.value);
    print_head(recording_type_name(agg, type), &totals, &by);
    for (size_t i = 0; i < table.count; i++)
        print_row(table.rows[i], &by, totals.value);
    if (table.omitted > 0)
        (void)printf("%zu more; -n 0 prints all\n", table.omitted);
    top_table_close(&table);
    return true;
}

/* ---- the command ---- */

static bool print_tables(const sagg *agg, uint32_t types, const top_wish *wish)
{
    bool first = true;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        if ((types >> type & 1) == 0)
            continue;
        if (!first)
            (void)putchar('\n');
        first = false;
        if (!print_table(agg, type, wish))
            return false;
    }
    return true;
}

static int print(const recording *rec, const sagg *agg, const cli_options *o)
{
    output out;
    uint32_t types = sample_types(agg, o->types);
    if (types == 0) {
        sample_types_missing(rec, agg, filter_is_set(&o->filter));
        return EXIT_UNREADABLE;
    }
    if (!output_open(&out, "-"))
        return EXIT_UNREADABLE;
    top_wish wish = {.limit = o->rows, .by_total = o->sort_by == SORT_BY_TOTAL};
    bool done = o->json ? format_top(&out, agg, types, &wish) : print_tables(agg, types, &wish);
    if (done)
        return output_commit(&out) ? EXIT_WHOLE : EXIT_UNREADABLE;
    output_abort(&out);
    return EXIT_UNREADABLE;
}

static int top_files(recording *rec, const cli_options *o)
{
    reading_wish wish = {.types = o->types, .times = filter_looks_at_times(&o->filter)};
    if (!reading_add_all(rec, o->operands, o->operand_count, &wish))
        return EXIT_UNREADABLE;
    const sagg *agg = reading_aggregate(rec);
    if (agg == NULL) {
        complain("not enough memory to aggregate the input");
        return EXIT_UNREADABLE;
    }
    int rc = print(rec, agg, o);
    reading_report(rec);
    return rc == EXIT_WHOLE && !recording_is_whole(rec) ? EXIT_SALVAGED : rc;
}

static int top_run(cli_options *o)
{
    recording_options options = reading_recording(o);
    recording_error err;
    recording *rec;
    options.group = SAGG_BY_NONE;
    options.no_threads = true;
    options.tap = filter_tap(&o->filter);
    options.threads = reading_threads(o->jobs);
    if (recording_new(&rec, &options, &err) != 0) {
        complain("%s", err.message);
        return EXIT_UNREADABLE;
    }
    int rc = top_files(rec, o);
    recording_free(rec);
    return rc;
}

const command top_command = {
    .name = "top",
    .summary = "Print the hottest methods of a recording",
    .usage = "IN... [OPTIONS]",
    .about = "Prints the methods with the largest values of each profile type: of the method "
             "itself (self), and including everything that it called (total). Reads recordings of "
             "async-profiler or the JDK's Flight "
             "Recorder, pprof's profiles and collapsed stacks, as `hotstack convert` does. Adds up "
             "several inputs. - is standard input.",
    .ending = "Exit codes: 0 all was read; 3 printed, but a part of the input is damaged or was "
              "left out by a limit, which standard error names; 1 nothing usable could be read "
              "(with the offset) or printed; 2 wrong usage.",
    .bit = OF_TOP,
    .operands = OPERANDS_FILES,
    .run = top_run,
};
