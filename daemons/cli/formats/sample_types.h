/* SPDX-License-Identifier: Apache-2.0 */
/* Which profile types an aggregate has samples of. */
#ifndef HOTSTACK_CLI_SAMPLE_TYPES_H
#define HOTSTACK_CLI_SAMPLE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recording/recording.h>

/* What a list of all types' names takes. */
enum { SAMPLE_TYPES_ROOM = 256 };

/* Those that have samples and were asked for, as bits 1 << PROFILE_TYPE_*; `asked` 0 = all. */
uint32_t sample_types(const sagg *agg, uint32_t asked);

/* Their names, "cpu, wall", in `list`. */
void sample_types_list(char *list, size_t room, const sagg *agg, uint32_t types);

/* Nothing to show of `rec`: complains, and says what there is instead, or that a filter may have
 * taken all. */
void sample_types_missing(const recording *rec, const sagg *agg, bool filtered);

#endif
