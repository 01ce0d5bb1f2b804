/* SPDX-License-Identifier: Apache-2.0 */
/* What `hotstack diff` found, type by type: the table, the rules and the files are made from it. */
#ifndef HOTSTACK_CLI_COMPARISON_H
#define HOTSTACK_CLI_COMPARISON_H

#include <stdio.h>

#include <recording/recording.h>
#include <stackagg/diff.h>

#include "cli/formats/sample_types.h"
#include "cli/options/options.h"

/* One of the two recordings. */
typedef struct diff_side {
    recording *rec;
    const sagg *agg;
    uint64_t covered_ns; /* how long it was recorded; 0 = the input does not say */
    sagg_windows *windows[PROFILE_TYPE_END];
} diff_side;

typedef struct comparison {
    diff_side before, after;
    sagg_diff *diffs[PROFILE_TYPE_END];
    unsigned types[PROFILE_TYPE_END]; /* of the diffs */
    size_t count;
} comparison;

/* A compared type's name: that of the newer side. */
static inline const char *comparison_type(const comparison *c, size_t index)
{
    return recording_type_name(c->after.agg, c->types[index]);
}

/* Totals per second of recording. */
typedef struct diff_rates {
    bool known; /* both inputs say how long they took */
    double before, after;
    double growth; /* of what it was: 0.1 = 10 % more */
} diff_rates;

diff_rates comparison_rates(const comparison *c, size_t index);

/* Whether a method's own share changed beyond chance. */
static inline bool change_is_proven(const sagg_change *change)
{
    return change->has_interval && (change->low > 0 || change->high < 0);
}

/* ---- rules (diff_gate.c) ---- */

bool gate_method_fails(const sagg_change *change, const cli_options *o);
bool gate_total_fails(const comparison *c, size_t index, const cli_options *o);

typedef struct verdict {
    bool failed;
    char *text; /* one line: what the rules found, and why nothing failed; free() it */
} verdict;

/* Judges by the rules of --fail-on; without one the text says what changed most. False, after a
 * complaint, when there is no memory or a rule cannot be applied to these inputs. */
bool gate_judge(verdict *out, const comparison *c, const cli_options *o);
/* Names each method and total that fails on standard error. */
void gate_report(const comparison *c, const cli_options *o);

/* ---- output (diff_text.c) ---- */

/* The tables and the verdict, for a terminal. */
void comparison_print(FILE *to, const comparison *c, const verdict *v, const cli_options *o);

#endif
