/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "jfr_look.h"

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

/* A fraction of a second, ".5", as nanoseconds; leaves `*p` behind it. */
static int64_t parse_fraction(const char **p)
{
    int64_t ns = 0;
    int64_t unit = 100000000;
    if (**p != '.')
        return 0;
    for ((*p)++; isdigit((unsigned char)**p); (*p)++, unit /= 10)
        ns += (**p - '0') * unit;
    return ns;
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
    int64_t fraction = parse_fraction(&p);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(p, units[i].name) != 0)
            continue;
        *out = (look_time){.given = true, .relative = true};
        return !__builtin_mul_overflow((int64_t)whole, units[i].ns, &out->ns) &&
               !__builtin_add_overflow(
                   out->ns, (int64_t)((double)fraction * 1e-9 * (double)units[i].ns), &out->ns);
    }
    return false;
}

/* "Z", "+02:00", or nothing, which is UTC. */
static bool parse_zone(const char *s, int64_t *seconds)
{
    int hours;
    int minutes;
    char end;
    *seconds = 0;
    if (*s == '\0' || strcmp(s, "Z") == 0)
        return true;
    if ((*s != '+' && *s != '-') || sscanf(s + 1, "%2d:%2d%c", &hours, &minutes, &end) != 2)
        return false;
    *seconds = (*s == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

static bool parse_absolute(const char *s, look_time *out)
{
    struct tm tm = {.tm_mday = 1};
    int64_t zone;
    const char *p = strptime(s, "%Y-%m-%d", &tm);
    if (p == NULL)
        return false;
    int64_t fraction = 0;
    if (*p == 'T' || *p == ' ') {
        p = strptime(p + 1, "%H:%M:%S", &tm);
        if (p == NULL)
            return false;
        fraction = parse_fraction(&p);
    }
    if (!parse_zone(p, &zone))
        return false;
    *out = (look_time){.given = true};
    int64_t seconds = (int64_t)timegm(&tm) - zone;
    return !__builtin_mul_overflow(seconds, INT64_C(1000000000), &out->ns) &&
           !__builtin_add_overflow(out->ns, fraction, &out->ns);
}

static int take_time(look_time *out, const char *option, const char *s)
{
    if (*s == '+' ? parse_relative(s, out) : parse_absolute(s, out))
        return -1;
    complain("--%s takes a time (2026-11-21T10:00:00Z) or one behind the recording's start (+30s), "
             "not '%s'",
             option, s);
    return EXIT_USAGE;
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
    if (optind + 1 != argc) {
        complain(optind == argc ? "name a recording to read, or - for standard input"
                                : "name one recording only");
        return EXIT_USAGE;
    }
    out->path = argv[optind];
    return -1;
}
