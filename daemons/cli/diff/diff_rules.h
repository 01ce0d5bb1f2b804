/* SPDX-License-Identifier: Apache-2.0 */
/* The options that only `hotstack diff` has. */
#ifndef HOTSTACK_CLI_DIFF_RULES_H
#define HOTSTACK_CLI_DIFF_RULES_H

#include <stdint.h>

/* The values of cli_options.format. */
enum diff_format { DIFF_TEXT = 1, DIFF_HTML, DIFF_JSON };

/* One kind of rule of --fail-on. */
typedef struct diff_rule {
    const char *text; /* as given; NULL = not given */
    int64_t limit;    /* parts per billion */
} diff_rule;

typedef struct diff_rules {
    diff_rule self;  /* how much a method's own share of its type may grow */
    diff_rule total; /* how much a type's total per second may grow, relative to before */
} diff_rules;

/* Takes --fail-on, as option_row.take: "+5% self", "+10% total/s". The field is a diff_rules. */
struct option_row;
int diff_take_rule(void *field, const struct option_row *row, const char *text);

#endif
