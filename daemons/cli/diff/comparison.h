/* SPDX-License-Identifier: Apache-2.0 */
/* The result of `hotstack diff`, type by type, from which the table, the rules and the files are
 * made. */
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
    uint64_t covered_ns; /* how long it was recorded; 0 = unknown */
    sagg_windows *windows[PROFILE_TYPE_END];
} diff_side;

typedef struct comparison {
    diff_side before, after;
    sagg_diff *diffs[PROFILE_TYPE_END];
    unsigned types[PROFILE_TYPE_END]; /* the types of diffs */
    size_t count;
} comparison;

/* Returns the name of a compared type, as the newer side has it. */
static inline const char *comparison_type(const comparison *c, size_t index)
{
    return recording_type_name(c->after.agg, c->types[index]);
}

/* Totals per second of recording. */
typedef struct diff_rates {
    bool known; /* the recorded time of both sides is known */
    double before, after;
    double growth; /* relative to before: 0.1 = 10 % more */
} diff_rates;

diff_rates comparison_rates(const comparison *c, size_t index);

/* Whether a method's own share changed by more than chance. */
static inline bool change_is_proven(const sagg_change *change)
{
    return change->has_interval && (change->low > 0 || change->high < 0);
}

/* ---- rules (diff_gate.c) ---- */

bool gate_method_fails(const sagg_change *change, const cli_options *o);
bool gate_total_fails(const comparison *c, size_t index, const cli_options *o);

typedef struct verdict {
    bool failed;
    char *text; /* one line: which rules failed, or why none did; free() it */
} verdict;

/* Applies the rules of --fail-on; without a rule the text says what changed most. Returns false,
 * after a complaint, when there is no memory or a rule cannot be applied to these inputs. */
bool gate_judge(verdict *out, const comparison *c, const cli_options *o);
/* Prints the name of each method and total that breaks a rule, on standard error. */
void gate_report(const comparison *c, const cli_options *o);

/* ---- output (diff_text.c) ---- */

/* Prints the tables and the verdict, for a terminal. */
void comparison_print(FILE *to, const comparison *c, const verdict *v, const cli_options *o);

#endif
