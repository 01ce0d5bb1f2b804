/* SPDX-License-Identifier: Apache-2.0 */
/* Writes numbers for people, with units, as the JDK's `jfr print` does. */
#ifndef HOTSTACK_CLI_JFR_UNITS_H
#define HOTSTACK_CLI_JFR_UNITS_H

#include <stdbool.h>

#include <jfr/jfr.h>

#include "cli/jfr/jfr_times.h"
#include "cli/output/text.h"

/* Writes a duration in three significant digits: "108 ms", "1.25 s", "3 m 7 s". */
void units_duration(text *out, jfr_moment span);

/* Writes a time in the recording's zone: "11:55:29.673 (2026-11-21)". */
void units_time(text *out, jfr_moment time, int32_t utc_offset_s);

/*
 * Writes a number whose field has a content type: bytes, bits, a percentage, an address, a
 * frequency. Returns false, with nothing written, when the field has none.
 */
bool units_content(text *out, const jfr_field *field, const jfr_variant *value);

#endif
