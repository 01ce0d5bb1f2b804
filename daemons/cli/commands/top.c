/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack top`: the hottest methods of a recording, in the terminal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recording/recording.h>

#include "cli/command.h"
#include "cli/commands/reading.h"
#include "cli/formats/formats.h"
#include "cli/formats/sample_types.h"
#include "cli/options/top_options.h"
#include "cli/output/json_text.h"

/* ---- values ---- */

/* How the values of one table are shown: all in one unit, so that they compare at a glance. */
typedef struct scale {
    double divisor; /* 0 = whole numbers */
    const char *unit;
} scale;

static scale scale_of(const char *unit, uint64_t total)
{
    static const scale times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    static const scale sizes[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}};
    const scale *scales = strcmp(unit, "ns") == 0 ? times : sizes;
    if (strcmp(unit, "count") == 0)
        return (scale){0, ""};
    for (size_t i = 0; i < 3; i++)
        if ((double)total >= scales[i].divisor)
            return scales[i];
    return (scale){0, unit};
}

static void print_value(const scale *by, uint64_t value)
{
    if (by->divisor > 0)
        (void)printf("%12.2f %-5s", (double)value / by->divisor, by->unit);
    else
        (void)printf("%12" PRIu64 " %-5s", value, by->unit);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- a table ---- */

static const char *kind_mark(uint8_t kind)
{
    static const char *const marks[] = {"", " [native]", " [jvm]", " [kernel]", ""};
    return kind < sizeof(marks) / sizeof(marks[0]) ? marks[kind] : "";
}

static void print_row(const sagg_top_row *row, const scale *by, uint64_t whole)
{
    print_value(by, row->self);
    (void)printf(" %5.1f %%", percent(row->self, whole));
    print_value(by, row->total);
    (void)printf(" %5.1f %%  ", percent(row->total, whole));
    plain_text(stdout, row->frame.class_name);
    if (row->frame.class_name.size > 0)
        (void)fputc('.', stdout);
    plain_text(stdout, row->frame.method);
    (void)puts(kind_mark(row->frame.kind));
}

static void print_head(const profile_type_info *info, const sagg_totals *totals, const scale *by)
{
    (void)printf("%s: ", info->name);
    if (by->divisor > 0)
        (void)printf("%.2f %s", (double)totals->value / by->divisor, by->unit);
    else
        (void)printf("%" PRIu64 "%s%s", totals->value, by->unit[0] != '\0' ? " " : "", by->unit);
    (void)printf(" in %" PRIu64 " samples\n", totals->samples);
    (void)printf("%12s%26s%16s%s\n", "self", "total", "", "method");
}

static bool print_table(const sagg *agg, unsigned type, const top_wish *wish)
{
    top_table table;
    const profile_type_info *info = profile_type_get(type);
    sagg_totals totals = sagg_type_totals(agg, type);
    if (!top_table_open(&table, agg, type, wish))
        return false;
    scale by = scale_of(info->unit, totals.value);
    print_head(info, &totals, &by);
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

static int print(const recording *rec, const sagg *agg, const top_options *o)
{
    output out;
    uint32_t types = sample_types(agg, o->reading.types);
    if (types == 0) {
        sample_types_missing(rec, agg, filter_is_set(&o->filter));
        return EXIT_UNREADABLE;
    }
    if (!output_open(&out, "-"))
        return EXIT_UNREADABLE;
    top_wish wish = {.limit = o->rows, .by_total = o->by_total};
    bool done = o->json ? format_top(&out, agg, types, &wish) : print_tables(agg, types, &wish);
    if (done)
        return output_commit(&out) ? EXIT_WHOLE : EXIT_UNREADABLE;
    output_abort(&out);
    return EXIT_UNREADABLE;
}

static int top_files(recording *rec, const top_options *o)
{
    reading_wish wish = {.types = o->reading.types, .times = filter_looks_at_times(&o->filter)};
    if (!reading_add_all(rec, o->inputs, o->input_count, &wish))
        return EXIT_UNREADABLE;
    const sagg *agg = recording_aggregate(rec);
    if (agg == NULL) {
        complain("there is no memory to aggregate the input");
        return EXIT_UNREADABLE;
    }
    int rc = print(rec, agg, o);
    reading_report(rec);
    return rc == EXIT_WHOLE && !recording_is_whole(rec) ? EXIT_SALVAGED : rc;
}

static int run(top_options *o)
{
    recording_options options = reading_recording(&o->reading);
    recording_error err;
    recording *rec;
    options.group = SAGG_BY_NONE;
    options.no_threads = true;
    options.tap = filter_tap(&o->filter);
    options.threads = reading_threads(o->reading.jobs);
    if (recording_new(&rec, &options, &err) != 0) {
        complain("%s", err.message);
        return EXIT_UNREADABLE;
    }
    int rc = top_files(rec, o);
    recording_free(rec);
    return rc;
}

int top_run(int argc, char **argv)
{
    top_options o;
    int rc = top_parse(&o, argc, argv);
    if (rc < 0)
        rc = run(&o);
    filter_free(&o.filter);
    return rc;
}
