/* SPDX-License-Identifier: Apache-2.0 */
#include <base/rfc3339.h>

#include <ctype.h>
#include <stdbool.h>
#include <time.h>

/* Reads exactly `count` digits. */
static bool read_digits(const char **at, unsigned count, int *out)
{
    *out = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!isdigit((unsigned char)(*at)[i]))
            return false;
        *out = *out * 10 + ((*at)[i] - '0');
    }
    *at += count;
    return true;
}

static bool read_char(const char **at, char wanted)
{
    if (**at != wanted)
        return false;
    (*at)++;
    return true;
}

/* Reads ".123", with any number of digits, as milliseconds. */
static bool read_fraction(const char **at, int *ms)
{
    int scale = 100;

    *ms = 0;
    if (!read_char(at, '.'))
        return true;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at); (*at)++) {
        *ms += (**at - '0') * scale;
        scale /= 10;
    }
    return true;
}

/* Reads "Z" or "+hh:mm", as minutes east. */
static bool read_zone(const char **at, int *minutes)
{
    int hours, rest;

    *minutes = 0;
    if (read_char(at, 'Z') || read_char(at, 'z'))
        return true;
    int sign = **at == '+' ? 1 : **at == '-' ? -1 : 0;
    (*at)++;
    if (sign == 0 || !read_digits(at, 2, &hours) || !read_char(at, ':') ||
        !read_digits(at, 2, &rest) || hours > 23 || rest > 59)
        return false;
    *minutes = sign * (hours * 60 + rest);
    return true;
}

int rfc3339_parse(uint64_t *unix_ms, const char *text)
{
    struct tm tm = {0};
    int ms, zone;

    if (!read_digits(&text, 4, &tm.tm_year) || !read_char(&text, '-') ||
        !read_digits(&text, 2, &tm.tm_mon) || !read_char(&text, '-') ||
        !read_digits(&text, 2, &tm.tm_mday) || (!read_char(&text, 'T') && !read_char(&text, 't')) ||
        !read_digits(&text, 2, &tm.tm_hour) || !read_char(&text, ':') ||
        !read_digits(&text, 2, &tm.tm_min) || !read_char(&text, ':') ||
        !read_digits(&text, 2, &tm.tm_sec) || !read_fraction(&text, &ms) ||
        !read_zone(&text, &zone) || *text != '\0')
        return -1;
    if (tm.tm_year < 1970 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
        tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
        return -1;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    int day = tm.tm_mday;
    bool is_leap_second = tm.tm_sec == 60;
    int64_t seconds = (int64_t)timegm(&tm) - (int64_t)zone * 60;
    /* timegm turns the 31st of February into a day of March. */
    if (!is_leap_second && tm.tm_mday != day)
        return -1;
    if (seconds < 0)
        return -1;
    *unix_ms = (uint64_t)seconds * 1000 + (uint64_t)ms;
    return 0;
}
