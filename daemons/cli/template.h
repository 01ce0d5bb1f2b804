/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_TEMPLATE_H
#define HOTSTACK_CLI_TEMPLATE_H

#include <stdbool.h>

#include "input.h"

/*
 * Finds and reads the page's template: flamegraph.html in HOTSTACK_DATADIR if that is set, else in
 * share/hotstack beside the program's bin, in the installation prefix, or in the build tree.
 * Complains and returns false when it is missing. Free data with free().
 */
bool template_read(bytes *out);

#endif
