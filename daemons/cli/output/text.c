/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool text_reserve(text *t, size_t more)
{
    size_t need = t->len + more;
    size_t cap = t->cap < TEXT_PIECE ? TEXT_PIECE * 2 : t->cap;
    while (cap < need)
        cap *= 2;
    if (t->error != 0)
        return false;
    if (cap == t->cap)
        return true;
    char *data = realloc(t->data, cap);
    if (data == NULL) {
        t->error = ENOMEM;
        return false;
    }
    t->data = data;
    t->cap = cap;
    return true;
}

void text_flush(text *t)
{
    size_t done = 0;
    while (t->error == 0 && done < t->len) {
        ssize_t n = write(t->fd, t->data + done, t->len - done);
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            t->error = errno;
    }
    t->len = 0;
}

void text_free(text *t)
{
    free(t->data);
    *t = (text){.fd = t->fd};
}

void text_spaces(text *t, size_t count)
{
    if (t->cap - t->len < count && !text_reserve(t, count))
        return;
    memset(t->data + t->len, ' ', count);
    t->len += count;
}

void text_u64(text *t, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    text_bytes(t, digits + at, sizeof(digits) - at);
}

void text_i64(text *t, int64_t value)
{
    if (value < 0)
        text_char(t, '-');
    text_u64(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void text_printf(text *t, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (len > 0)
        text_bytes(t, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

/* ---- floating point ---- */

/* Writes a number like Java: from 1e-3 to 1e7 plainly, others with an exponent, and always with a
 * point. */
static void put_decimal(text *t, const char *digits, int count, int exponent)
{
    bool plain = exponent >= -3 && exponent < 7;
    int before = plain && exponent > 0 ? exponent + 1 : 1;
    int lead = plain && exponent < 0 ? -exponent : 0; /* zeros before the digits */
    for (int i = 0; i < before; i++) {
        int at = i - lead;
        text_char(t, at < 0 || at >= count ? '0' : digits[at]);
    }
    text_char(t, '.');
    int first = before - lead;
    for (int i = first; i < count || i == first; i++)
        text_char(t, i < 0 || i >= count ? '0' : digits[i]);
    if (!plain) {
        text_char(t, 'E');
        text_i64(t, exponent);
    }
}

/* Converts `number`, which is "d.ddde[+-]xx" from the C library. */
static void put_scientific(text *t, const char *number)
{
    char digits[20];
    int count = 0;
    if (*number == '-')
        text_char(t, *number++);
    for (; *number != 'e'; number++) {
        if (*number != '.')
            digits[count++] = *number;
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    put_decimal(t, digits, count, (int)strtol(number + 1, NULL, 10));
}

void text_float(text *t, float value)
{
    char number[40];
    for (int digits = 1; digits <= 8; digits++) {
        (void)snprintf(number, sizeof(number), "%.*e", digits, (double)value);
        if (strtof(number, NULL) == value)
            break;
    }
    put_scientific(t, number);
}

void text_double(text *t, double value)
{
    char number[40];
    for (int digits = 1; digits <= 16; digits++) {
        (void)snprintf(number, sizeof(number), "%.*e", digits, value);
        if (strtod(number, NULL) == value)
            break;
    }
    put_scientific(t, number);
}

/* ---- times ---- */

static void put_two(text *t, int64_t value)
{
    text_char(t, (char)('0' + value / 10));
    text_char(t, (char)('0' + value % 10));
}

/* Writes days since 1970 as a date of the proleptic Gregorian calendar. */
static void put_date(text *t, int64_t days)
{
    int64_t shifted = days + 719468; /* since 0000-03-01 */
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * of_year + 2) / 153; /* 0 = March */
    int64_t year = year_of_era + era * 400 + (month >= 10);
    if (year > 9999)
        text_char(t, '+');
    if (year < 0 || year > 9999) {
        text_printf(t, year < 0 ? "%05lld" : "%lld", (long long)year);
    } else {
        put_two(t, year / 100);
        put_two(t, year % 100);
    }
    text_char(t, '-');
    put_two(t, month < 10 ? month + 3 : month - 9);
    text_char(t, '-');
    put_two(t, of_year - (153 * month + 2) / 5 + 1);
}

/* Writes three, six or nine digits, as many as needed. */
static void put_fraction(text *t, uint32_t nanos)
{
    char digits[9];
    for (int i = 8; i >= 0; i--, nanos /= 10)
        digits[i] = (char)('0' + nanos % 10);
    size_t count = memcmp(digits + 3, "000000", 6) == 0 ? 3
                   : memcmp(digits + 6, "000", 3) == 0  ? 6
                                                        : 9;
    text_char(t, '.');
    text_bytes(t, digits, count);
}

static void put_zone(text *t, int32_t offset_s)
{
    if (offset_s == 0) {
        text_char(t, 'Z');
        return;
    }
    int32_t size = offset_s < 0 ? -offset_s : offset_s;
    text_char(t, offset_s < 0 ? '-' : '+');
    put_two(t, size / 3600);
    text_char(t, ':');
    put_two(t, size / 60 % 60);
    if (size % 60 != 0) {
        text_char(t, ':');
        put_two(t, size % 60);
    }
}

void text_time(text *t, int64_t seconds, uint32_t nanos, int32_t utc_offset_s)
{
    int64_t local;
    if (__builtin_add_overflow(seconds, utc_offset_s, &local))
        local = seconds;
    int64_t days = local / 86400;
    int64_t of_day = local % 86400;
    if (of_day < 0) {
        of_day += 86400;
        days--;
    }
    put_date(t, days);
    text_char(t, 'T');
    put_two(t, of_day / 3600);
    text_char(t, ':');
    put_two(t, of_day / 60 % 60);
    if (of_day % 60 != 0 || nanos != 0) {
        text_char(t, ':');
        put_two(t, of_day % 60);
    }
    if (nanos != 0)
        put_fraction(t, nanos);
    put_zone(t, utc_offset_s);
}

static void put_seconds(text *t, int64_t seconds, uint32_t nanos, bool below_zero)
{
    char digits[10];
    if (below_zero && seconds == 0)
        text_char(t, '-');
    text_i64(t, seconds);
    if (nanos == 0)
        return;
    (void)snprintf(digits, sizeof(digits), "%09u", below_zero ? 1000000000 - nanos : nanos);
    size_t count = 9;
    while (digits[count - 1] == '0')
        count--;
    text_char(t, '.');
    text_bytes(t, digits, count);
}

void text_duration(text *t, int64_t seconds, uint32_t nanos)
{
    bool below_zero = seconds < 0 && nanos > 0;
    int64_t whole = below_zero ? seconds + 1 : seconds;
    size_t start = t->len + 2;
    text_bytes(t, "PT", 2);
    if (whole / 3600 != 0) {
        text_i64(t, whole / 3600);
        text_char(t, 'H');
    }
    if (whole % 3600 / 60 != 0) {
        text_i64(t, whole % 3600 / 60);
        text_char(t, 'M');
    }
    if (whole % 60 == 0 && nanos == 0 && t->len > start)
        return;
    put_seconds(t, whole % 60, nanos, below_zero);
    text_char(t, 'S');
}

/* ---- JSON strings ---- */

static void put_unit(text *t, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    const char escape[] = {
        '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};
    text_bytes(t, escape, sizeof(escape));
}

/* Writes one character of valid UTF-8 as UTF-16 escapes. Returns its length in bytes. */
static size_t put_escaped(text *t, const unsigned char *p)
{
    size_t len = *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
    uint32_t code = len == 1 ? *p : *p & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++)
        code = code << 6 | (p[i] & 0x3F);
    if (code >= 0x10000) {
        put_unit(t, 0xD800 + ((code - 0x10000) >> 10));
        put_unit(t, 0xDC00 + (code & 0x3FF));
    } else {
        put_unit(t, code);
    }
    return len;
}

/* Returns the letter of a short escape, or 0. */
static char short_escape(unsigned char c)
{
    switch (c) {
    case '\b':
        return 'b';
    case '\n':
        return 'n';
    case '\t':
        return 't';
    case '\f':
        return 'f';
    case '\r':
        return 'r';
    case '"':
    case '\\':
    case '/':
        return (char)c;
    default:
        return 0;
    }
}

/* One bit for each byte that needs no escape: all but control characters, quotes and backslashes;
 * in ASCII also without the slash and bytes from 0x80 on. */
static const uint64_t plain_bytes[][4] = {
    [JSON_UTF8] = {0xFFFFFFFB00000000, 0xFFFFFFFFEFFFFFFF, UINT64_MAX, UINT64_MAX},
    [JSON_ASCII] = {0xFFFF7FFB00000000, 0xFFFFFFFFEFFFFFFF, 0, 0},
};

static bool is_plain(const uint64_t *set, unsigned char c)
{
    return (set[c >> 6] >> (c & 63) & 1) != 0;
}

void text_json(text *t, const char *s, size_t len, json_style style)
{
    const unsigned char *p = (const unsigned char *)s;
    const uint64_t *set = plain_bytes[style];
    text_char(t, '"');
    for (size_t i = 0; i < len;) {
        size_t run = i;
        while (run < len && is_plain(set, p[run]))
            run++;
        text_bytes(t, p + i, run - i);
        i = run;
        if (i == len)
            break;
        char letter = short_escape(p[i]);
        if (letter != 0) {
            const char escape[] = {'\\', letter};
            text_bytes(t, escape, sizeof(escape));
            i++;
        } else {
            i += put_escaped(t, p + i);
        }
    }
    text_char(t, '"');
}
