/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of `hotstack diff --fail-on`. */
#include "cli/diff/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/formats/frame_name.h"
#include "cli/options/option.h"

diff_rates comparison_rates(const comparison *c, size_t index)
{
    const sagg_diff_view *view = sagg_diff_get(c->diffs[index]);
    diff_rates rates = {.known = c->before.covered_ns > 0 && c->after.covered_ns > 0};
    if (!rates.known)
        return rates;
    rates.before = (double)view->before_totals.value * 1e9 / (double)c->before.covered_ns;
    rates.after = (double)view->after->totals.value * 1e9 / (double)c->after.covered_ns;
    /* Both sides have samples of a compared type, so that the divisor is not 0. */
    rates.growth = rates.after / rates.before - 1;
    return rates;
}

int diff_take_rule(void *field, const struct option_row *row, const char *text)
{
    diff_rules *out = field;
    const char *number = text[0] == '+' ? text + 1 : "";
    char *end;
    double percent = strtod(number, &end);
    bool is_number = end != number && percent >= 0;
    diff_rule rule = {.text = text};
    if (is_number && percent <= 100 && strcmp(end, "% self") == 0) {
        rule.limit = (int64_t)(percent * 1e7 + 0.5);
        out->self = rule;
        return -1;
    }
    if (is_number && percent <= 1e6 && strcmp(end, "% total/s") == 0) {
        rule.limit = (int64_t)(percent * 1e7 + 0.5);
        out->total = rule;
        return -1;
    }
    complain("--%s takes '+5%% self' (a method's own share, in percentage points up to 100) or "
             "'+10%% total/s' (a type's total per second), not '%s'",
             row->name, text);
    return EXIT_USAGE;
}

static int64_t growth_of(const sagg_change *change)
{
    return change->after_share - change->before_share;
}

bool gate_method_fails(const sagg_change *change, const cli_options *o)
{
    return o->fail_on.self.text != NULL && growth_of(change) > o->fail_on.self.limit &&
           (!change->has_interval || change->low > 0);
}

bool gate_total_fails(const comparison *c, size_t index, const cli_options *o)
{
    return o->fail_on.total.text != NULL &&
           comparison_rates(c, index).growth * 1e9 > (double)o->fail_on.total.limit;
}

void gate_report(const comparison *c, const cli_options *o)
{
    for (size_t i = 0; i < c->count; i++) {
        const char *type = comparison_type(c, i);
        const sagg_diff_view *view = sagg_diff_get(c->diffs[i]);
        if (gate_total_fails(c, i, o))
            complain("%s: the total grew by %.1f %% per second", type,
                     comparison_rates(c, i).growth * 100);
        for (size_t n = 0; n < view->change_count; n++) {
            const sagg_change *change = &view->changes[n];
            char *name;
            if (!gate_method_fails(change, o))
                continue;
            (void)frame_name(&name, &change->method);
            complain("%s: %s uses %.2f points more itself: %.2f %% before, %.2f %% after", type,
                     name != NULL ? name : "a method", (double)growth_of(change) / 1e7,
                     (double)change->before_share / 1e7, (double)change->after_share / 1e7);
            free(name);
        }
    }
}

/* ---- the verdict ---- */

/* The greatest changes: the methods that grew and changed most, and the total that grew most. */
typedef struct outliers {
    const sagg_change *grown; /* NULL = none grew */
    const sagg_change *changed;
    size_t grown_type, changed_type; /* indexes of comparisons, as grown_total is */
    size_t grown_total;              /* the total's rates may be unknown */
    size_t proven_more, proven_less;
    size_t failed_methods, failed_totals;
} outliers;

static void look_at_method(outliers *out, const sagg_change *change, size_t type,
                           const cli_options *o)
{
    int64_t growth = growth_of(change);
    if (growth > 0 && (out->grown == NULL || growth > growth_of(out->grown))) {
        out->grown = change;
        out->grown_type = type;
    }
    if (growth != 0 && (out->changed == NULL || llabs(growth) > llabs(growth_of(out->changed)))) {
        out->changed = change;
        out->changed_type = type;
    }
    if (change_is_proven(change))
        *(growth > 0 ? &out->proven_more : &out->proven_less) += 1;
    out->failed_methods += gate_method_fails(change, o);
}

static outliers find_outliers(const comparison *c, const cli_options *o)
{
    outliers out = {0};
    for (size_t i = 0; i < c->count; i++) {
        const sagg_diff_view *view = sagg_diff_get(c->diffs[i]);
        for (size_t n = 0; n < view->change_count; n++)
            look_at_method(&out, &view->changes[n], i, o);
        if (comparison_rates(c, i).growth > comparison_rates(c, out.grown_total).growth)
            out.grown_total = i;
        out.failed_totals += gate_total_fails(c, i, o);
    }
    return out;
}

static void put_method(FILE *to, const comparison *c, size_t index, const sagg_change *change)
{
    char *name;
    (void)frame_name(&name, &change->method);
    (void)fprintf(to, "%s %s, %+.2f points", comparison_type(c, index),
                  name != NULL ? name : "of a method", (double)growth_of(change) / 1e7);
    if (change->has_interval)
        (void)fprintf(to, " (99 %%: %+.2f to %+.2f)", (double)change->low / 1e7,
                      (double)change->high / 1e7);
    free(name);
}

static void put_total(FILE *to, const comparison *c, size_t index)
{
    (void)fprintf(to, "%s, %+.1f %% per second", comparison_type(c, index),
                  comparison_rates(c, index).growth * 100);
}

static void put_no_rule(FILE *to, const comparison *c, const outliers *found)
{
    (void)fprintf(to,
                  "no rule was given (--fail-on); %zu methods grew and %zu shrank beyond chance",
                  found->proven_more, found->proven_less);
    if (found->changed != NULL) {
        (void)fputs("; the greatest change is ", to);
        put_method(to, c, found->changed_type, found->changed);
    }
}

static void put_self(FILE *to, const comparison *c, const outliers *found, const cli_options *o)
{
    if (found->failed_methods > 0) {
        (void)fprintf(to, "%zu %s '%s'", found->failed_methods,
                      found->failed_methods == 1 ? "method fails" : "methods fail",
                      o->fail_on.self.text);
        return;
    }
    (void)fprintf(to, "no method fails '%s': ", o->fail_on.self.text);
    if (found->grown == NULL) {
        (void)fputs("none has a greater share than before", to);
    } else {
        (void)fputs("the greatest growth is ", to);
        put_method(to, c, found->grown_type, found->grown);
        if (growth_of(found->grown) > o->fail_on.self.limit)
            (void)fputs(", which may be chance", to);
    }
    size_t index = found->grown_total;
    if (o->fail_on.total.text == NULL && comparison_rates(c, index).growth > 0) {
        (void)fputs("; shares say nothing of totals, which grew (", to);
        put_total(to, c, index);
        (void)fputs("): add --fail-on '+10% total/s'", to);
    }
}

static void put_totals(FILE *to, const comparison *c, const outliers *found, const cli_options *o)
{
    if (found->failed_totals > 0) {
        (void)fprintf(to, "%zu %s '%s'", found->failed_totals,
                      found->failed_totals == 1 ? "total fails" : "totals fail",
                      o->fail_on.total.text);
        return;
    }
    (void)fprintf(to, "no total fails '%s': the greatest growth is ", o->fail_on.total.text);
    put_total(to, c, found->grown_total);
}

static bool can_apply(const comparison *c, const cli_options *o)
{
    if (o->fail_on.total.text == NULL || (c->before.covered_ns > 0 && c->after.covered_ns > 0))
        return true;
    complain("'%s' cannot be applied: %s does not say how long it was recorded",
             o->fail_on.total.text, c->before.covered_ns == 0 ? o->operands[0] : o->operands[1]);
    return false;
}

bool gate_judge(verdict *out, const comparison *c, const cli_options *o)
{
    size_t size;
    *out = (verdict){0};
    if (!can_apply(c, o))
        return false;
    outliers found = find_outliers(c, o);
    FILE *to = open_memstream(&out->text, &size);
    if (to != NULL) {
        if (o->fail_on.self.text == NULL && o->fail_on.total.text == NULL)
            put_no_rule(to, c, &found);
        if (o->fail_on.self.text != NULL)
            put_self(to, c, &found, o);
        if (o->fail_on.self.text != NULL && o->fail_on.total.text != NULL)
            (void)fputs("; ", to);
        if (o->fail_on.total.text != NULL)
            put_totals(to, c, &found, o);
        if (fclose(to) != 0)
            to = NULL;
    }
    out->failed = found.failed_methods + found.failed_totals > 0;
    if (to == NULL)
        complain("not enough memory to judge the comparison");
    return to != NULL;
}
