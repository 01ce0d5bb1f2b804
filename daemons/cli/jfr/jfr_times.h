/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_JFR_TIMES_H
#define HOTSTACK_CLI_JFR_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include <jfr/jfr.h>

#include "cli/output/text.h"

/* A span of time, or a point in time since 1970 UTC: nanoseconds do not hold all that milliseconds
 * and seconds of a recording can say. */
typedef struct jfr_moment {
    int64_t seconds;
    uint32_t nanos; /* below a second, counted up */
} jfr_moment;

bool jfr_unit_is_time(uint8_t unit);
/* What a field's number says. Not for INT64_MIN, by which recordings say "none". */
jfr_moment jfr_times_of(const jfr_chunk_info *chunk, const jfr_field *field, int64_t value);
/* The number as the JDK writes it: an ISO 8601 time in the recording's zone, or duration. */
void jfr_times_put(text *out, const jfr_chunk_info *chunk, const jfr_field *field, int64_t value);

#endif
