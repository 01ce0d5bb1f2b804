/* SPDX-License-Identifier: Apache-2.0 */
/* Values of profile types for people: nanoseconds as s, bytes as MiB. */
#ifndef HOTSTACK_CLI_QUANTITY_H
#define HOTSTACK_CLI_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* How the values of one table are shown: all in one unit, so that they compare at a glance. */
typedef struct quantity_scale {
    double divisor; /* 0 = whole numbers */
    const char *unit;
} quantity_scale;

/* The scale that suits the greatest value of a table. `unit` is the catalogue's: "ns", "bytes" or
 * "count". */
quantity_scale quantity_scale_of(const char *unit, uint64_t greatest);
/* Writes a value with its unit to `out`, without blanks around it. */
void quantity_text(char *out, size_t room, const quantity_scale *by, double value);

/* A part of a whole in percent; 0 of nothing. */
double quantity_percent(uint64_t part, uint64_t whole);

#endif
