/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jfr/jfr_times.h"

static jfr_moment split(int64_t value, int64_t per_second)
{
    int64_t seconds = value / per_second;
    int64_t rest = value % per_second;
    if (rest < 0) {
        rest += per_second;
        seconds--;
    }
    return (jfr_moment){seconds, (uint32_t)(rest * (1000000000 / per_second))};
}

bool jfr_unit_is_time(uint8_t unit)
{
    return unit == JFR_UNIT_TIME_TICKS || unit == JFR_UNIT_TIME_MS;
}

jfr_moment jfr_times_of(const jfr_chunk_info *chunk, const jfr_field *field, int64_t value)
{
    jfr_variant number = {.kind = JFR_VARIANT_INTEGER, .integer = value};
    int64_t ns = 0;
    switch (field->unit) {
    case JFR_UNIT_TIME_MS:
    case JFR_UNIT_SPAN_MS:
        return split(value, 1000);
    case JFR_UNIT_SPAN_S:
        return (jfr_moment){value, 0};
    case JFR_UNIT_SPAN_US: /* the JDK multiplies in 64 bits, too, and overflows in the same way */
        return split((int64_t)((uint64_t)value * 1000), 1000000000);
    default:
        if (!jfr_variant_time_ns(chunk, field, &number, &ns))
            (void)jfr_variant_span_ns(chunk, field, &number, &ns);
        return split(ns, 1000000000);
    }
}

/* Returns a duration. The greatest number means "forever", the least "none". */
static jfr_moment span_of(const jfr_chunk_info *chunk, const jfr_field *field, int64_t value)
{
    if (value == INT64_MIN)
        return (jfr_moment){INT64_MIN, 0};
    if (value == INT64_MAX)
        return (jfr_moment){INT64_MAX, 999999999};
    return jfr_times_of(chunk, field, value);
}

void jfr_times_put(text *out, const jfr_chunk_info *chunk, const jfr_field *field, int64_t value)
{
    jfr_moment m;
    if (!jfr_unit_is_time(field->unit)) {
        m = span_of(chunk, field, value);
        text_duration(out, m.seconds, m.nanos);
    } else if (value == INT64_MIN) {
        text_string(out, "-999999999-01-01T00:00+18:00"); /* OffsetDateTime.MIN */
    } else {
        m = jfr_times_of(chunk, field, value);
        text_time(out, m.seconds, m.nanos, chunk->utc_offset_s);
    }
}
