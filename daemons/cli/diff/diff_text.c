/* SPDX-License-Identifier: Apache-2.0 */
/* The text that `hotstack diff` prints in a terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/diff/comparison.h"
#include "cli/formats/frame_name.h"
#include "cli/output/quantity.h"

static void print_head(FILE *to, const comparison *c, size_t index)
{
    const sagg_diff_view *view = sagg_diff_get(c->diffs[index]);
    const profile_type_info *info = profile_type_get(c->types[index]);
    uint64_t before = view->before_totals.value;
    uint64_t after = view->after->totals.value;
    quantity_scale by = quantity_scale_of(info->unit, before > after ? before : after);
    diff_rates rates = comparison_rates(c, index);
    char old[64], new[64];
    quantity_text(old, sizeof(old), &by, (double)before);
    quantity_text(new, sizeof(new), &by, (double)after);
    (void)fprintf(to, "%s: %s before, %s after", comparison_type(c, index), old, new);
    if (rates.known) {
        double greater = rates.before > rates.after ? rates.before : rates.after;
        by = quantity_scale_of(info->unit, (uint64_t)greater);
        quantity_text(old, sizeof(old), &by, rates.before);
        quantity_text(new, sizeof(new), &by, rates.after);
        (void)fprintf(to, "; per second %s before, %s after (%+.1f %%)", old, new,
                      rates.growth * 100);
    }
    (void)fprintf(to, "\n%10s %10s %9s   %-19s method\n", "before", "after", "change",
                  "99 % interval");
}

static void print_change(FILE *to, const sagg_change *change)
{
    char interval[64] = "";
    if (change->has_interval)
        (void)snprintf(interval, sizeof(interval), "%+.2f to %+.2f", (double)change->low / 1e7,
                       (double)change->high / 1e7);
    (void)fprintf(to, "%8.2f %% %8.2f %% %+9.2f   %-19s ", (double)change->before_share / 1e7,
                  (double)change->after_share / 1e7,
                  (double)(change->after_share - change->before_share) / 1e7, interval);
    frame_print(to, &change->method);
    (void)fputc('\n', to);
}

static void print_type(FILE *to, const comparison *c, size_t index, uint32_t rows)
{
    const sagg_diff_view *view = sagg_diff_get(c->diffs[index]);
    size_t shown = 0;
    print_head(to, c, index);
    for (; shown < view->change_count && (rows == 0 || shown < rows); shown++)
        print_change(to, &view->changes[shown]);
    if (shown < view->change_count)
        (void)fprintf(to, "%zu more; -n 0 prints all\n", view->change_count - shown);
    (void)fputc('\n', to);
}

void comparison_print(FILE *to, const comparison *c, const verdict *v, const cli_options *o)
{
    for (size_t i = 0; i < c->count; i++)
        print_type(to, c, i, o->rows);
    (void)fputs("verdict: ", to);
    plain_text(to, (sagg_str){v->text, strlen(v->text)});
    (void)fputc('\n', to);
}
