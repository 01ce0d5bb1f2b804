/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `hotstack diff`. */
#ifndef HOTSTACK_CLI_DIFF_OPTIONS_H
#define HOTSTACK_CLI_DIFF_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options/reading_options.h"

typedef struct diff_options {
    const char *before;
    const char *after;
    const char *output; /* NULL = none: the gate alone */
    bool json;
    reading_options reading; /* the caps are each side's */
    bool lines;
    uint32_t max_nodes;
    uint32_t min_width; /* parts per billion */
    bool has_limit;
    int64_t limit; /* --fail-on, parts per billion */
} diff_options;

/* As convert_parse: -1 to go on, or an exit code. `out` borrows from argv. */
int diff_parse(diff_options *out, int argc, char **argv);

#endif
