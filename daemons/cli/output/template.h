/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_TEMPLATE_H
#define HOTSTACK_CLI_TEMPLATE_H

#include <stdbool.h>

#include "cli/commands/input.h"

#define TEMPLATE_FLAMEGRAPH "flamegraph.html"
#define TEMPLATE_HEATMAP    "heatmap.html"

/*
 * Finds and reads a page's template by its name: in HOTSTACK_DATADIR if that is set, else in
 * share/hotstack beside the program's bin, in the installation prefix, or in the build tree.
 * Complains and returns false when it is missing. Free data with free().
 */
bool template_read(bytes *out, const char *name);

#endif
