/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/time_option.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"

/* Somewhat before 64 bits of nanoseconds end. */
#define SECONDS_END INT64_C(9000000000)

int64_t time_option_fraction(const char **text)
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
    int64_t fraction = time_option_fraction(&end);
    return *end == '\0' && seconds < SECONDS_END && set(ns, (int64_t)seconds, fraction);
}

static int two_digits(const char *text)
{
    if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1]))
        return -1;
    return (text[0] - '0') * 10 + (text[1] - '0');
}

/* "Z", "+02:00", or nothing, which is UTC. */
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

/* timegm makes the 31st of February a day of March. */
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
        fraction = time_option_fraction(&rest);
    }
    struct tm made = date;
    int64_t seconds = (int64_t)timegm(&made);
    return read_zone(&zone, rest) && is_in_calendar(&date, &made) &&
           set(ns, seconds - zone, fraction);
}

bool time_option_read(int64_t *ns, const char *text)
{
    return read_seconds(ns, text) || read_date(ns, text);
}

bool time_option_in_order(int64_t from_ns, int64_t to_ns)
{
    if (from_ns < to_ns)
        return true;
    complain("--from must lie before --to: no time is left between them");
    return false;
}
