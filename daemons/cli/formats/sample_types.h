/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the profile types of which an aggregate has samples. */
#ifndef HOTSTACK_CLI_SAMPLE_TYPES_H
#define HOTSTACK_CLI_SAMPLE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recording/recording.h>

/* The room for a list of all types' names. */
enum { SAMPLE_TYPES_ROOM = 256 };

/* Returns the types that have samples and were asked for, as bits 1 << PROFILE_TYPE_*; `asked` 0 =
 * all. */
uint32_t sample_types(const sagg *agg, uint32_t asked);

/* Writes the names of types to `list`, as "cpu, wall". */
void sample_types_list(char *list, size_t room, const sagg *agg, uint32_t types);

/* Complains that `rec` has nothing to show, and names the types that it has, or says that a filter
 * may have removed all samples. */
void sample_types_missing(const recording *rec, const sagg *agg, bool filtered);

#endif
