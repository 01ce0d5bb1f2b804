/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/jfr/jfr_look.h"
#include "cli/options/time_option.h"

enum { OPT_JSON = 256, OPT_EVENTS, OPT_CATEGORIES, OPT_FROM, OPT_TO, OPT_STACK_DEPTH };

static const struct option longs[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"events", required_argument, NULL, OPT_EVENTS},
    {"categories", required_argument, NULL, OPT_CATEGORIES},
    {"from", required_argument, NULL, OPT_FROM},
    {"to", required_argument, NULL, OPT_TO},
    {"stack-depth", required_argument, NULL, OPT_STACK_DEPTH},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static unsigned needed_for(int option)
{
    switch (option) {
    case OPT_JSON:
        return LOOK_JSON;
    case OPT_EVENTS:
    case OPT_CATEGORIES:
        return LOOK_FILTER;
    case OPT_FROM:
    case OPT_TO:
        return LOOK_TIMES;
    case OPT_STACK_DEPTH:
        return LOOK_STACKS;
    default:
        return 0;
    }
}

/* "+10s", "+1.5m": behind the start of the recording. */
static bool parse_relative(const char *s, look_time *out)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ms", 1000000},
                 {"s", 1000000000},
                 {"", 1000000000},
                 {"m", 60000000000},
                 {"h", 3600000000000}};
    char *end;
    errno = 0;
    long whole = strtol(s + 1, &end, 10);
    const char *p = end;
    if (errno != 0 || end == s + 1 || !isdigit((unsigned char)s[1]))
        return false;
    int64_t fraction = time_option_fraction(&p);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(p, units[i].name) != 0)
            continue;
        return !__builtin_mul_overflow((int64_t)whole, units[i].ns, &out->ns) &&
               !__builtin_add_overflow(
                   out->ns, (int64_t)((double)fraction * 1e-9 * (double)units[i].ns), &out->ns);
    }
    return false;
}

static int take_time(look_time *out, const char *option, const char *s)
{
    *out = (look_time){.given = true, .relative = *s == '+'};
    if (out->relative ? parse_relative(s, out) : time_option_read(&out->ns, s))
        return -1;
    complain("--%s takes " TIME_OPTION_FORMS ", or one behind the recording's start (+30s), not "
             "'%s'",
             option, s);
    return EXIT_USAGE;
}

/* Two times of one kind; of two kinds it takes the recording to tell. */
static bool is_in_order(const look_options *o)
{
    bool comparable = o->from.given && o->to.given && o->from.relative == o->to.relative;
    return !comparable || time_option_in_order(o->from.ns, o->to.ns);
}

static int take_depth(look_options *out, const char *s)
{
    char *end;
    errno = 0;
    unsigned long depth = strtoul(s, &end, 10);
    if (errno == 0 && end != s && *end == '\0' && isdigit((unsigned char)*s) && depth <= INT_MAX) {
        out->stack_depth = (uint32_t)depth;
        return -1;
    }
    complain("--stack-depth takes a number of frames, not '%s'", s);
    return EXIT_USAGE;
}

static int take_option(look_options *out, int option, unsigned accepts, const char *help)
{
    unsigned needs = needed_for(option);
    if (option == 'h') {
        (void)fputs(help, stdout);
        return EXIT_WHOLE;
    }
    if (needs == 0 || (needs & accepts) == 0) {
        if (option != '?')
            complain("that option is not one of this subcommand's");
        complain("--help lists the options");
        return EXIT_USAGE;
    }
    switch (option) {
    case OPT_JSON:
        out->json = true;
        return -1;
    case OPT_EVENTS:
        out->events = optarg;
        return -1;
    case OPT_CATEGORIES:
        out->categories = optarg;
        return -1;
    case OPT_FROM:
        return take_time(&out->from, "from", optarg);
    case OPT_TO:
        return take_time(&out->to, "to", optarg);
    default:
        return take_depth(out, optarg);
    }
}

int look_parse(look_options *out, int argc, char **argv, unsigned accepts, const char *help)
{
    *out = (look_options){.stack_depth = 5};
    optind = 1;
    for (;;) {
        int option = getopt_long(argc, argv, "h", longs, NULL);
        if (option == -1)
            break;
        int rc = take_option(out, option, accepts, help);
        if (rc >= 0)
            return rc;
    }
    if (!is_in_order(out))
        return EXIT_USAGE;
    if (optind + 1 != argc) {
        complain(optind == argc ? "name a recording to read, or - for standard input"
                                : "name one recording only");
        return EXIT_USAGE;
    }
    out->path = argv[optind];
    return -1;
}
