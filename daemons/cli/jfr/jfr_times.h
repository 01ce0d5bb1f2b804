/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_JFR_TIMES_H
#define HOTSTACK_CLI_JFR_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include <jfr/jfr.h>

#include "cli/output/text.h"

/* A duration, or a point in time since 1970 UTC. Milliseconds and seconds of a recording can exceed
 * the range of nanoseconds in 64 bits. */
typedef struct jfr_moment {
    int64_t seconds;
    uint32_t nanos; /* the fraction of the second, counted upwards also before 1970 */
} jfr_moment;

bool jfr_unit_is_time(uint8_t unit);
/* Converts the number of a field. Not for INT64_MIN, which means "none" in recordings. */
jfr_moment jfr_times_of(const jfr_chunk_info *chunk, const jfr_field *field, int64_t value);
/* Writes the number like the JDK: an ISO 8601 time in the recording's zone, or a duration. */
void jfr_times_put(text *out, const jfr_chunk_info *chunk, const jfr_field *field, int64_t value);

#endif
