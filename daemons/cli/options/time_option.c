/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/time_option.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/options/option.h"

/* A little less than the seconds whose nanoseconds fit into 64 bits. */
#define SECONDS_END INT64_C(9000000000)

/* Reads a fraction like ".5", or nothing, as nanoseconds; all its digits are read. `*text` is then
 * after it. */
static int64_t read_fraction(const char **text)
{
    int64_t ns = 0;
    if (**text != '.')
        return 0;
    for (int64_t unit = 100000000; isdigit((unsigned char)*++*text); unit /= 10)
        ns += (**text - '0') * unit;
    return ns;
}

static bool set(int64_t *ns, int64_t seconds, int64_t fraction)
{
    *ns = seconds >= 0 && seconds < SECONDS_END ? seconds * 1000000000 + fraction : 0;
    return *ns > 0;
}

static bool read_seconds(int64_t *ns, const char *text)
{
    char *rest;
    if (!isdigit((unsigned char)text[0]))
        return false;
    unsigned long long seconds = strtoull(text, &rest, 10);
    const char *end = rest;
    int64_t fraction = read_fraction(&end);
    return *end == '\0' && seconds < SECONDS_END && set(ns, (int64_t)seconds, fraction);
}

static int two_digits(const char *text)
{
    if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1]))
        return -1;
    return (text[0] - '0') * 10 + (text[1] - '0');
}

/* Reads "Z", "+02:00", or nothing, which means UTC. */
static bool read_zone(int64_t *seconds, const char *text)
{
    *seconds = 0;
    if (*text == '\0' || strcmp(text, "Z") == 0)
        return true;
    int hours = *text == '+' || *text == '-' ? two_digits(text + 1) : -1;
    int minutes = hours >= 0 && text[3] == ':' ? two_digits(text + 4) : -1;
    if (hours > 23 || minutes < 0 || minutes > 59 || text[6] != '\0')
        return false;
    *seconds = (*text == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

/* Whether the day exists: timegm turns the 31st of February into a day of March. */
static bool is_in_calendar(const struct tm *asked, const struct tm *made)
{
    return asked->tm_mday == made->tm_mday && asked->tm_mon == made->tm_mon &&
           asked->tm_hour == made->tm_hour && asked->tm_min == made->tm_min &&
           asked->tm_sec == made->tm_sec;
}

static bool read_date(int64_t *ns, const char *text)
{
    struct tm date = {.tm_mday = 1};
    int64_t fraction = 0;
    int64_t zone;
    const char *rest = strptime(text, "%Y-%m-%d", &date);
    if (rest == NULL)
        return false;
    if (*rest == 'T' || *rest == ' ') {
        rest = strptime(rest + 1, "%H:%M:%S", &date);
        if (rest == NULL)
            return false;
        fraction = read_fraction(&rest);
    }
    struct tm made = date;
    int64_t seconds = (int64_t)timegm(&made);
    return read_zone(&zone, rest) && is_in_calendar(&date, &made) &&
           set(ns, seconds - zone, fraction);
}

/* Reads "10s", "1.5m"; without a unit it is seconds, as in instants. */
static bool read_offset(int64_t *ns, const char *text)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ms", 1000000},    {"s", 1000000000},    {"", 1000000000},
                 {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}};
    char *rest;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    long long whole = strtoll(text, &rest, 10);
    const char *unit = rest;
    int64_t fraction = read_fraction(&unit);
    for (size_t i = 0; errno == 0 && i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].name) == 0)
            return !__builtin_mul_overflow(whole, units[i].ns, ns) &&
                   !__builtin_add_overflow(
                       *ns, (int64_t)((double)fraction * 1e-9 * (double)units[i].ns), ns);
    return false;
}

int time_option_take(void *field, const struct option_row *row, const char *text)
{
    time_point *out = field;
    bool is_offset = text[0] == '+' || text[0] == '-';
    out->base = text[0] == '+' ? TIME_FROM_START : text[0] == '-' ? TIME_FROM_END : TIME_INSTANT;
    if (is_offset ? read_offset(&out->ns, text + 1)
                  : read_seconds(&out->ns, text) || read_date(&out->ns, text))
        return -1;
    complain("--%s takes a time such as 2026-01-31T09:15:00Z, Unix seconds, +2s after the "
             "recording's start or -2s before its end (units ms, s, m, h, d), not '%s'",
             row->name, text);
    return EXIT_USAGE;
}

bool time_option_in_order(const time_point *from, const time_point *to)
{
    bool from_end = from->base == TIME_FROM_END;
    if (from->base == TIME_NOT_GIVEN || from->base != to->base ||
        (from_end ? from->ns > to->ns : from->ns < to->ns))
        return true;
    complain("--from must be earlier than --to");
    return false;
}

int64_t time_option_instant(const time_point *point, int64_t start_ns, int64_t end_ns,
                            int64_t otherwise)
{
    int64_t ns;
    switch (point->base) {
    case TIME_INSTANT:
        return point->ns;
    case TIME_FROM_START:
        return __builtin_add_overflow(start_ns, point->ns, &ns) ? INT64_MAX : ns;
    case TIME_FROM_END:
        return __builtin_sub_overflow(end_ns, point->ns, &ns) ? INT64_MIN : ns;
    default:
        return otherwise;
    }
}
