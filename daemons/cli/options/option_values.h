/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options that several commands have. Each returns -1 to go on, or an exit code after it
 * has complained. */
#ifndef HOTSTACK_CLI_OPTION_VALUES_H
#define HOTSTACK_CLI_OPTION_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* One of `count` names, of what `what` says ("format"). */
int option_choice(size_t *index, const char *what, const char *text, const char *const *names,
                  size_t count);
/* "cpu,alloc_bytes": adds bits 1 << PROFILE_TYPE_*. Cuts `list` apart. */
int option_types(uint32_t *types, char *list);
/* A whole number from `least` to 2^32 - 1, of the option that is named. */
int option_number(uint32_t *number, const char *option, const char *text, uint32_t least);
/* --jobs: how many threads read; 1 to RECORDING_MAX_THREADS. */
int option_jobs(uint32_t *jobs, const char *option, const char *text);
/* --min-width: a percentage, as parts per billion. */
int option_min_width(uint32_t *width, const char *text);

#endif
