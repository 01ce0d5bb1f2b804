/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `hotstack top`. */
#ifndef HOTSTACK_CLI_TOP_OPTIONS_H
#define HOTSTACK_CLI_TOP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/commands/convert_filter.h"
#include "cli/options/reading_options.h"

typedef struct top_options {
    char **inputs; /* "-" = standard input */
    int input_count;
    reading_options reading;
    uint32_t rows; /* of each table; 0 = all */
    bool by_total;
    bool json;
    convert_filter filter; /* free it with filter_free */
} top_options;

/*
 * Reads argv. Returns -1 to go on, or an exit code: after --help, or after a mistake that it has
 * named. What `out` holds is borrowed from argv.
 */
int top_parse(top_options *out, int argc, char **argv);

#endif
