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
        return time_option_take(&out->from, "--from", optarg);
    case OPT_TO:
        return time_option_take(&out->to, "--to", optarg);
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
    if (!time_option_in_order(&out->from, &out->to))
        return EXIT_USAGE;
    if (optind + 1 != argc) {
        complain(optind == argc ? "name a recording to read, or - for standard input"
                                : "name one recording only");
        return EXIT_USAGE;
    }
    out->path = argv[optind];
    return -1;
}
