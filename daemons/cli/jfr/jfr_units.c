/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jfr/jfr_units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, SECOND_NS = 1000000000 };

/* ---- numbers ---- */

static uint64_t power_of_ten(int exponent)
{
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

static int digits_of(uint64_t value)
{
    int digits = 1;
    while (value >= 10) {
        value /= 10;
        digits++;
    }
    return digits;
}

static uint64_t rounded_to(uint64_t value, uint64_t step)
{
    return (value + step / 2) / step * step;
}

/*
 * Writes a number with `places` digits after its point, as Java's Formatter does: it rounds half up
 * the shortest decimal that reads back as this double. (printf rounds the double's exact value.)
 */
static void put_fixed(text *out, double value, int places)
{
    char shortest[40];
    int count = 0;
    do
        (void)snprintf(shortest, sizeof(shortest), "%.*e", count++, fabs(value));
    while (count < 17 && strtod(shortest, NULL) != fabs(value));
    int exponent = atoi(strchr(shortest, 'e') + 1);
    int dropped = count - 1 - exponent - places;
    uint64_t digits = 0;
    for (const char *c = shortest; *c != 'e'; c++)
        digits = *c >= '0' && *c <= '9' ? digits * 10 + (uint64_t)(*c - '0') : digits;
    if (dropped <= 0 || dropped > 18) {
        text_printf(out, "%.*f", places, dropped > 0 ? 0 : value);
        return;
    }
    digits = rounded_to(digits, power_of_ten(dropped)) / power_of_ten(dropped);
    uint64_t one = power_of_ten(places);
    text_printf(out, "%s%llu.%0*llu", value < 0 ? "-" : "", (unsigned long long)(digits / one),
                places, (unsigned long long)(digits % one));
}

/* ---- durations ---- */

/* Rounds to the digits that are shown: three digits, or the smaller of two units. */
static jfr_moment rounded(jfr_moment s)
{
    uint64_t nanos = s.nanos;
    uint64_t millis = nanos / 1000000;
    if (s.seconds == 0)
        nanos = nanos < 1000 ? nanos : rounded_to(nanos, power_of_ten(digits_of(nanos) - 3));
    else if (s.seconds < MINUTE)
        nanos = rounded_to(millis, power_of_ten(digits_of((uint64_t)s.seconds))) * 1000000;
    else if (s.seconds < HOUR)
        nanos = rounded_to(millis, 1000) * 1000000;
    else if (s.seconds < DAY)
        return (jfr_moment){(s.seconds + MINUTE / 2) / MINUTE * MINUTE, 0};
    else
        return (jfr_moment){(s.seconds + HOUR / 2) / HOUR * HOUR, 0};
    return (jfr_moment){s.seconds + (int64_t)(nanos / SECOND_NS), (uint32_t)(nanos % SECOND_NS)};
}

static void put_positive(text *out, jfr_moment s)
{
    if (s.seconds == 0 && s.nanos < 1000)
        text_printf(out, "%.6f ms", s.nanos / 1e6);
    else if (s.seconds == 0)
        text_printf(out, "%.*f ms", 9 - digits_of(s.nanos), s.nanos / 1e6);
    else if (s.seconds < MINUTE)
        text_printf(out, "%.*f s", 3 - digits_of((uint64_t)s.seconds),
                    (double)s.seconds + s.nanos / 1e9);
    else if (s.seconds < HOUR)
        text_printf(out, "%d m %d s", (int)(s.seconds / MINUTE), (int)(s.seconds % MINUTE));
    else if (s.seconds < DAY)
        text_printf(out, "%d h %d m", (int)(s.seconds / HOUR), (int)(s.seconds % HOUR / MINUTE));
    else
        text_printf(out, "%lld d %d h", (long long)(s.seconds / DAY),
                    (int)(s.seconds % DAY / HOUR));
}

/* Follows the rules of the JDK's jdk.jfr.internal.util.ValueFormatter. */
void units_duration(text *out, jfr_moment span)
{
    if (span.seconds == 0 && span.nanos == 0) {
        text_string(out, "0 s");
        return;
    }
    if (span.seconds < 0) {
        text_char(out, '-');
        bool borrow = span.nanos > 0;
        span.seconds = -(span.seconds + borrow);
        span.nanos = borrow ? SECOND_NS - span.nanos : 0;
    }
    put_positive(out, rounded(span));
}

void units_time(text *out, jfr_moment time, int32_t utc_offset_s)
{
    text iso = {.fd = -1};
    int64_t of_day = (time.seconds + utc_offset_s) % DAY;
    if (of_day < 0)
        of_day += DAY;
    text_printf(out, "%02d:%02d:%02d.%03u (", (int)(of_day / HOUR), (int)(of_day % HOUR / MINUTE),
                (int)(of_day % MINUTE), time.nanos / 1000000);
    text_time(&iso, time.seconds, time.nanos, utc_offset_s);
    size_t date = 0;
    while (date < iso.len && iso.data[date] != 'T')
        date++;
    text_bytes(out, iso.data, date);
    text_char(out, ')');
    text_free(&iso);
}

static bool is_fraction(const jfr_variant *value)
{
    return value->kind == JFR_VARIANT_FLOAT || value->kind == JFR_VARIANT_DOUBLE;
}

static double number_of(const jfr_variant *value)
{
    if (is_fraction(value))
        return value->number;
    return value->is_unsigned ? (double)(uint64_t)value->integer : (double)value->integer;
}

static int64_t whole_of(const jfr_variant *value)
{
    if (!is_fraction(value))
        return value->integer;
    return fabs(value->number) < 9e18 ? (int64_t)value->number : 0;
}

/* Returns the unit of an amount below 1024. */
static const char *small_unit(int64_t amount, bool bits, bool per_second)
{
    bool one = amount == 1 || amount == -1;
    if (per_second)
        return bits ? "bps" : "byte/s";
    if (bits)
        return one ? "bit" : "bits";
    return one ? "byte" : "bytes";
}

/* Writes an amount. Amounts are signed, as in the JDK: -1 means "not limited". */
static void put_amount(text *out, int64_t amount, bool bits, bool per_second)
{
    static const char prefixes[] = " kMGTPE";
    const char *unit = bits ? (per_second ? "bps" : "bit") : (per_second ? "B/s" : "B");
    double scaled = (double)amount;
    int prefix = 0;
    if (amount > -1024 && amount < 1024) {
        text_printf(out, "%lld %s", (long long)amount, small_unit(amount, bits, per_second));
        return;
    }
    for (; fabs(scaled) >= 1024; prefix++)
        scaled /= 1024;
    put_fixed(out, scaled, 1);
    text_printf(out, " %c%s", prefixes[prefix], unit);
}

static void put_frequency(text *out, const jfr_variant *value)
{
    if (value->kind == JFR_VARIANT_FLOAT)
        text_float(out, (float)value->number);
    else if (value->kind == JFR_VARIANT_DOUBLE)
        text_double(out, value->number);
    else if (value->is_unsigned)
        text_u64(out, (uint64_t)value->integer);
    else
        text_i64(out, value->integer);
    text_string(out, " Hz");
}

static bool has(const jfr_field *field, const char *annotation)
{
    return jfr_annotation_find(field->annotations, field->annotation_count, annotation) != NULL;
}

static bool is_text(jfr_str s, const char *word)
{
    return s.data != NULL && s.len == strlen(word) && memcmp(s.data, word, s.len) == 0;
}

bool units_content(text *out, const jfr_field *field, const jfr_variant *value)
{
    if (value->kind < JFR_VARIANT_INTEGER || value->kind > JFR_VARIANT_DOUBLE)
        return false;
    const jfr_annotation *amount =
        jfr_annotation_find(field->annotations, field->annotation_count, "jdk.jfr.DataAmount");
    if (has(field, "jdk.jfr.Percentage")) {
        put_fixed(out, number_of(value) * 100, 2);
        text_char(out, '%');
    } else if (amount != NULL) {
        bool bits = amount->value_count > 0 && is_text(amount->values[0].text, "BITS");
        put_amount(out, whole_of(value), bits, has(field, "jdk.jfr.Frequency"));
    } else if (has(field, "jdk.jfr.MemoryAddress")) {
        text_printf(out, "0x%08llX", (unsigned long long)value->integer);
    } else if (has(field, "jdk.jfr.Frequency")) {
        put_frequency(out, value);
    } else {
        return false;
    }
    return true;
}
