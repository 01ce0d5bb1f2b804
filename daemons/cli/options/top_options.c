/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/top_options.h"

#include <getopt.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands/reading.h"
#include "cli/options/option_values.h"

static const char help[] =
    "usage: hotstack top IN... [OPTIONS]\n"
    "\n"
    "Prints the methods that used most of each profile type: themselves (self), and with all that\n"
    "they called (total). Reads recordings of async-profiler or the JDK's Flight Recorder, "
    "pprof's\n"
    "profiles and collapsed stacks, as `hotstack convert` does. Several inputs are added up. `-` "
    "is\n"
    "standard input.\n"
    "\n"
    "  -t, --type TYPE,...  only these profile types: cpu, alloc_bytes, alloc_objects,\n"
    "                       lock_count, lock_delay, wall, live_bytes, nativemem_bytes,\n"
    "                       events (what async-profiler counts, under its name), trace_count,\n"
    "                       trace_time\n"
    "  -n, --rows N         methods of each type (default 20, 0 = all)\n"
    "      --by COLUMN      sort by self (the default) or total\n"
    "      --json           one JSON object, as `hotstack convert -f top` writes it\n" FILTER_HELP
    "      --raw-names      keep the names of hidden classes, lambdas and proxies as recorded\n"
    "      --max-stacks N   tell at most N stacks apart (default 2000000) and\n"
    "      --max-memory MIB use at most so much memory for them (default 4096): past either the\n"
    "                       lightest are summed into [dropped], and totals stay exact\n"
    "  -j, --jobs N         read large recordings with N threads, 1 to 64 (default: one a CPU,\n"
    "                       up to 8); the output is the same with any number\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 all was read; 3 printed, but a part of the input is damaged or was left out by\n"
    "a cap, named on standard error; 1 nothing usable could be read (with the offset) or printed;\n"
    "2 wrong usage.\n";

enum { OPT_BY = 256, OPT_JSON };

static const struct option longs[] = {
    {"rows", required_argument, NULL, 'n'},
    {"by", required_argument, NULL, OPT_BY},
    {"json", no_argument, NULL, OPT_JSON},
    FILTER_LONGS,
    READING_LONGS,
    {NULL, 0, NULL, 0},
};

static int set_order(top_options *out, const char *column)
{
    static const char *const columns[] = {"self", "total"};
    size_t index;
    int rc = option_choice(&index, "column to sort by", column, columns, 2);
    if (rc < 0)
        out->by_total = index == 1;
    return rc;
}

static int take_option(top_options *out, int option)
{
    switch (option) {
    case 'n':
        return option_number(&out->rows, "--rows", optarg, 0);
    case OPT_BY:
        return set_order(out, optarg);
    case OPT_JSON:
        out->json = true;
        return -1;
    case FILTER_OPT_THREAD:
    case FILTER_OPT_THREAD_PATTERN:
    case FILTER_OPT_FROM:
    case FILTER_OPT_TO:
    case FILTER_OPT_STATE:
        return filter_option(&out->filter, option);
    default:
        return reading_option(&out->reading, option, "top", help);
    }
}

int top_parse(top_options *out, int argc, char **argv)
{
    int option;
    *out = (top_options){.rows = 20, .reading = READING_OPTIONS_INIT};
    optind = 1;
    while ((option = getopt_long(argc, argv, "n:" READING_SHORTS, longs, NULL)) != -1) {
        int rc = take_option(out, option);
        if (rc >= 0)
            return rc;
    }
    out->inputs = argv + optind;
    out->input_count = argc - optind;
    if (out->input_count > 0)
        return reading_stdin_once(out->inputs, out->input_count) ? -1 : EXIT_USAGE;
    complain("name a recording to read, or - for standard input");
    return EXIT_USAGE;
}
