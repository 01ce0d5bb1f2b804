/* SPDX-License-Identifier: Apache-2.0 */
/* Values of profile types for people: nanoseconds as s, bytes as MiB. */
#ifndef HOTSTACK_CLI_QUANTITY_H
#define HOTSTACK_CLI_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* The scale of the values of one table: all have the same unit, so that a reader can compare
 * them. */
typedef struct quantity_scale {
    double divisor; /* 0 = whole numbers */
    const char *unit;
} quantity_scale;

/* Returns the scale that suits the greatest value of a table. `unit` is the catalogue's: "ns",
 * "bytes" or "count". */
quantity_scale quantity_scale_of(const char *unit, uint64_t greatest);
/* Writes a value with its unit to `out`, without blanks before or after it. */
void quantity_text(char *out, size_t room, const quantity_scale *by, double value);

/* Returns a part of a whole in percent; 0 if the whole is 0. */
double quantity_percent(uint64_t part, uint64_t whole);

#endif
