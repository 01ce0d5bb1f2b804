/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `hotstack diff`. */
#ifndef HOTSTACK_CLI_DIFF_OPTIONS_H
#define HOTSTACK_CLI_DIFF_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options/reading_options.h"

enum diff_format { DIFF_TEXT, DIFF_HTML, DIFF_JSON };

/* One kind of rule of --fail-on. */
typedef struct diff_rule {
    const char *text; /* as given; NULL = not given */
    int64_t limit;    /* parts per billion */
} diff_rule;

typedef struct diff_options {
    const char *before;
    const char *after;
    const char *output; /* "-" = standard output */
    enum diff_format format;
    reading_options reading; /* the caps are each side's */
    bool lines;
    uint32_t rows; /* of each table of the text; 0 = all */
    uint32_t max_nodes;
    uint32_t min_width; /* parts per billion */
    diff_rule self;     /* how much a method's own share of its type may grow */
    diff_rule total;    /* how much a type's total per second may grow, of what it was */
} diff_options;

/* As convert_parse: -1 to go on, or an exit code. `out` borrows from argv. */
int diff_parse(diff_options *out, int argc, char **argv);

#endif
