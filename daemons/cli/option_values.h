/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options that several commands have. Each returns -1 to go on, or an exit code after it
 * has complained. */
#ifndef HOTSTACK_CLI_OPTION_VALUES_H
#define HOTSTACK_CLI_OPTION_VALUES_H

#include <stdint.h>

/* "cpu,alloc_bytes": adds bits 1 << PROFILE_TYPE_*. Cuts `list` apart. */
int option_types(uint32_t *types, char *list);
/* --max-nodes */
int option_max_nodes(uint32_t *nodes, const char *text);
/* --min-width: a percentage, as parts per billion. */
int option_min_width(uint32_t *width, const char *text);

#endif
