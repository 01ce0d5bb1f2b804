/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `hotstack diff`. */
#ifndef HOTSTACK_CLI_DIFF_OPTIONS_H
#define HOTSTACK_CLI_DIFF_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct diff_options {
    const char *before;
    const char *after;
    const char *output; /* NULL = none: the gate alone */
    bool json;
    uint32_t types; /* as convert_options.types */
    bool lines;
    bool raw_names;
    uint32_t max_nodes;
    uint32_t min_width;  /* parts per billion */
    uint32_t max_stacks; /* caps of each side's aggregate */
    uint32_t max_mib;
    uint32_t jobs; /* as convert_options.jobs */
    bool has_limit;
    int64_t limit; /* --fail-on, parts per billion */
} diff_options;

/* As convert_parse: -1 to go on, or an exit code. `out` borrows from argv. */
int diff_parse(diff_options *out, int argc, char **argv);

#endif
