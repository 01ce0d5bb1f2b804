/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/diff_options.h"

#include <assert.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands/reading.h"
#include "cli/options/option_values.h"
#include "cli/output/output.h"

static const char help[] =
    "usage: hotstack diff BEFORE AFTER [OPTIONS]\n"
    "\n"
    "Compares two recordings, or pprof's profiles or collapsed stacks, type by type: each "
    "method's\n"
    "and stack's share of its type's total. A change of a method's own share comes with an\n"
    "interval in which it lies with a probability of 99 %, from a bootstrap over windows of one\n"
    "second. The table of each type also has the totals per second of recording; the last line\n"
    "is the verdict.\n"
    "\n"
    "  -o, --output FILE    where to write (default: -, standard output); its ending names the\n"
    "                       format\n"
    "  -f, --format FORMAT  text  tables and the verdict (the default)\n"
    "                       html  a page: a flame graph coloured by change, and the methods\n"
    "                       json  the methods with their shares (parts per billion)\n"
    "  -t, --type TYPE,...  only these profile types\n"
    "      --fail-on RULE   end with 4 and name what fails; the verdict says why nothing did.\n"
    "                       '+N% self': each method whose own share of its type grew by more than\n"
    "                       N percentage points, beyond chance (where there are too few seconds\n"
    "                       for an interval, N alone decides); '+N% total/s': each type whose\n"
    "                       total per second of recording grew by more than N percent of what it\n"
    "                       was. Both may be given\n"
    "  -n, --rows N         text: methods of each type (default 20, 0 = all)\n"
    "      --lines          tell lines of a method apart in the graph\n"
    "      --raw-names      keep the names of hidden classes, lambdas and proxies as recorded\n"
    "      --max-nodes N    html: keep the N heaviest nodes (default 200000, 0 = all)\n"
    "      --min-width P    html: keep nodes of P percent or more\n"
    "      --max-stacks N   tell at most N stacks apart (default 2000000) and\n"
    "      --max-memory MIB use at most so much memory for them (default 4096): past either the\n"
    "                       lightest are summed into [dropped], and totals stay exact\n"
    "  -j, --jobs N         1: read one recording after the other; the output is the same\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 done; 3 done, but a part of an input is damaged or was left out, named on\n"
    "standard error; 4 a method fails the rule; 1 nothing could be compared or written; 2 wrong\n"
    "usage.\n";

enum { OPT_LINES = 256, OPT_MAX_NODES, OPT_MIN_WIDTH, OPT_FAIL_ON };

static const struct option longs[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'f'},
    {"rows", required_argument, NULL, 'n'},
    {"fail-on", required_argument, NULL, OPT_FAIL_ON},
    {"lines", no_argument, NULL, OPT_LINES},
    {"max-nodes", required_argument, NULL, OPT_MAX_NODES},
    {"min-width", required_argument, NULL, OPT_MIN_WIDTH},
    READING_LONGS,
    {NULL, 0, NULL, 0},
};

/* "+5% self", "+10% total/s" */
static int set_rule(diff_options *out, const char *text)
{
    const char *number = text[0] == '+' ? text + 1 : "";
    char *end;
    double percent = strtod(number, &end);
    bool is_number = end != number && percent >= 0;
    diff_rule rule = {.text = text};
    if (is_number && percent <= 100 && strcmp(end, "% self") == 0) {
        rule.limit = (int64_t)(percent * 1e7 + 0.5);
        out->self = rule;
        return -1;
    }
    if (is_number && percent <= 1e6 && strcmp(end, "% total/s") == 0) {
        rule.limit = (int64_t)(percent * 1e7 + 0.5);
        out->total = rule;
        return -1;
    }
    complain(
        "--fail-on takes '+5%% self' (a method's own share, in percentage points up to 100) or "
        "'+10%% total/s' (a type's total per second), not '%s'",
        text);
    return EXIT_USAGE;
}

static int set_format(diff_options *out, const char *name)
{
    static const char *const names[] = {
        [DIFF_TEXT] = "text", [DIFF_HTML] = "html", [DIFF_JSON] = "json"};
    size_t index;
    int rc = option_choice(&index, "format", name, names, sizeof(names) / sizeof(names[0]));
    if (rc < 0)
        out->format = (enum diff_format)index;
    return rc;
}

static int take_option(diff_options *out, const char **format, int option)
{
    switch (option) {
    case 'o':
        out->output = optarg;
        return -1;
    case 'f':
        *format = optarg;
        return -1;
    case OPT_FAIL_ON:
        return set_rule(out, optarg);
    case 'n':
        return option_number(&out->rows, "--rows", optarg, 0);
    case OPT_LINES:
        out->lines = true;
        return -1;
    case OPT_MAX_NODES:
        return option_number(&out->max_nodes, "--max-nodes", optarg, 0);
    case OPT_MIN_WIDTH:
        return option_min_width(&out->min_width, optarg);
    default:
        return reading_option(&out->reading, option, "diff", help);
    }
}

static int check(diff_options *out, const char *format, int argc, char **argv)
{
    if (argc - optind != 2) {
        complain("name two recordings: the older one, then the newer one");
        return EXIT_USAGE;
    }
    out->before = argv[optind];
    out->after = argv[optind + 1];
    if (!reading_stdin_once(argv + optind, 2) || !output_spares(out->output, argv + optind, 2))
        return EXIT_USAGE;
    if (format != NULL)
        return set_format(out, format);
    assert(out->output != NULL); /* "-", or a required argument */
    const char *ending = strrchr(out->output, '.');
    if (ending != NULL && strchr(ending, '/') == NULL)
        return set_format(out, strcmp(ending, ".txt") == 0 ? "text" : ending + 1);
    if (strcmp(out->output, "-") == 0)
        return -1;
    complain("'%s' does not end in .txt, .html or .json: add --format", out->output);
    return EXIT_USAGE;
}

int diff_parse(diff_options *out, int argc, char **argv)
{
    const char *format = NULL;
    *out = (diff_options){
        .output = "-", .rows = 20, .max_nodes = 200000, .reading = READING_OPTIONS_INIT};
    optind = 1;
    for (;;) {
        int option = getopt_long(argc, argv, "o:f:n:" READING_SHORTS, longs, NULL);
        if (option == -1)
            break;
        int rc = take_option(out, &format, option);
        if (rc >= 0)
            return rc;
    }
    return check(out, format, argc, argv);
}
