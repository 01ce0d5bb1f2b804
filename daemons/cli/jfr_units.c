/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr_units.h"

#include <math.h>
#include <stdlib.h>

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

static void put_short(text *out, double value, const char *unit)
{
    /* Three significant digits, and no fewer than the whole number has. */
    int digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : value >= 0.1 ? 3 : 4;
    text_printf(out, "%.*f %s", digits, value, unit);
}

static void put_positive(text *out, jfr_moment s)
{
    double ns = (double)s.seconds * 1e9 + (double)s.nanos;
    if (s.seconds == 0 && s.nanos < 1000)
        text_printf(out, "%.6f ms", ns / 1e6);
    else if (s.seconds == 0)
        put_short(out, ns / 1e6, "ms");
    else if (s.seconds < MINUTE)
        put_short(out, ns / 1e9, "s");
    else if (s.seconds < HOUR)
        text_printf(out, "%d m %d s", (int)(s.seconds / MINUTE), (int)(s.seconds % MINUTE));
    else if (s.seconds < DAY)
        text_printf(out, "%d h %d m", (int)(s.seconds / HOUR), (int)(s.seconds % HOUR / MINUTE));
    else
        text_printf(out, "%lld d %d h", (long long)(s.seconds / DAY),
                    (int)(s.seconds % DAY / HOUR));
}

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
        span.nanos = borrow ? 1000000000 - span.nanos : 0;
    }
    put_positive(out, span);
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

static double number_of(const jfr_variant *value)
{
    if (value->kind == JFR_VARIANT_FLOAT || value->kind == JFR_VARIANT_DOUBLE)
        return value->number;
    return value->is_unsigned ? (double)(uint64_t)value->integer : (double)value->integer;
}

/* 1024 bytes and 1000 bits make the next unit. */
static void put_amount(text *out, double amount, bool bits, bool per_second)
{
    static const char prefixes[] = " kMGTPE";
    const char *unit = bits ? (per_second ? "bps" : "bits") : (per_second ? "B/s" : "B");
    double step = bits ? 1000 : 1024;
    int prefix = 0;
    while (fabs(amount) >= step && prefix < 6) {
        amount /= step;
        prefix++;
    }
    if (prefix > 0)
        text_printf(out, "%.1f %c%s", amount, prefixes[prefix], unit);
    else
        text_printf(out, "%.0f %s", amount, bits || per_second ? unit : "bytes");
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
        text_printf(out, "%.2f%%", number_of(value) * 100);
    } else if (amount != NULL) {
        bool bits = amount->value_count > 0 && is_text(amount->values[0].text, "BITS");
        put_amount(out, number_of(value), bits, has(field, "jdk.jfr.Frequency"));
    } else if (has(field, "jdk.jfr.MemoryAddress")) {
        text_printf(out, "0x%08llX", (unsigned long long)value->integer);
    } else if (has(field, "jdk.jfr.Frequency")) {
        text_printf(out, "%.15g Hz", number_of(value));
    } else {
        return false;
    }
    return true;
}
