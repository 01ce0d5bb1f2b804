/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

uint64_t profile_sum_raw(const profile_sum of[PROFILE_SOURCE_END], unsigned type)
{
    const profile_type_info *info = profile_type_get(type);
    const profile_sum *sum = &of[info->source];
    return info->measure == PROFILE_COUNT ? sum->raw_count : sum->raw_amount;
}

void profile_clear(profile *one)
{
    string_table_clear(&one->strings);
    free(one->parts);
    free(one->rows);
    free(one->seconds);
    free(one->threads);
    free(one->frames);
    free(one->stacks);
    free(one->stack_frames);
    *one = (profile){0};
}

static int compare_keys(const uint32_t *a, const uint32_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

static int by_row_key(const void *left, const void *right)
{
    const profile_row *a = left;
    const profile_row *b = right;
    const uint32_t x[] = {a->part, a->pool, a->stack, a->facet, a->object};
    const uint32_t y[] = {b->part, b->pool, b->stack, b->facet, b->object};
    return compare_keys(x, y, 5);
}

static int by_second_key(const void *left, const void *right)
{
    const profile_second *a = left;
    const profile_second *b = right;
    const uint32_t x[] = {a->part, a->pool, a->second};
    const uint32_t y[] = {b->part, b->pool, b->second};
    return compare_keys(x, y, 3);
}

static void add_second(profile_second *to, const profile_second *more)
{
    to->amount += more->amount;
    to->count += more->count;
}

static void unite_seconds(profile *one)
{
    qsort(one->seconds, one->second_count, sizeof(*one->seconds), by_second_key);
    size_t kept = 0;
    for (size_t i = 1; i < one->second_count; i++) {
        if (by_second_key(&one->seconds[kept], &one->seconds[i]) == 0)
            add_second(&one->seconds[kept], &one->seconds[i]);
        else
            one->seconds[++kept] = one->seconds[i];
    }
    one->second_count = one->second_count > 0 ? kept + 1 : 0;
}

void profile_unite(profile *one)
{
    if (one->second_count > 0)
        unite_seconds(one);
    if (one->row_count == 0)
        return;
    qsort(one->rows, one->row_count, sizeof(*one->rows), by_row_key);
    size_t kept = 0;
    for (size_t i = 1; i < one->row_count; i++) {
        profile_row *to = &one->rows[kept];
        const profile_row *row = &one->rows[i];
        if (by_row_key(to, row) == 0)
            profile_sum_add(&to->sum, &row->sum);
        else
            one->rows[++kept] = *row;
    }
    one->row_count = kept + 1;
}

/* Orders rows by part, then [dropped] rows first, then heaviest first; equal rows have a fixed
 * order. */
static int heavier_first(const void *left, const void *right)
{
    const profile_row *a = left;
    const profile_row *b = right;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if ((a->stack == 0) != (b->stack == 0))
        return a->stack == 0 ? -1 : 1;
    if (a->sum.amount != b->sum.amount)
        return a->sum.amount > b->sum.amount ? -1 : 1;
    return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Returns the [dropped] row of a pool among the rows [first, last), or adds one at last. */
static profile_row *dropped_row(profile_row *rows, size_t first, size_t *last,
                                const profile_row *of)
{
    for (size_t i = first; i < *last; i++) {
        if (rows[i].stack == 0 && rows[i].pool == of->pool)
            return &rows[i];
    }
    profile_row *fresh = &rows[(*last)++];
    *fresh = (profile_row){.part = of->part, .pool = of->pool};
    return fresh;
}

static size_t count_kept(const profile_row *rows, size_t first, size_t end, size_t max)
{
    /* Leave room for a [dropped] row of every pool that the other rows may have. */
    key_table pools = {.key_size = sizeof(uint32_t)};
    size_t kept = end;
    for (size_t i = first; i < end; i++) {
        uint32_t index = 0;
        bool is_new = false;
        if (key_table_add(&pools, &rows[i].pool, &index, &is_new) != 0)
            break;
    }
    if (pools.count < max)
        kept = first + (max - pools.count);
    else
        kept = first;
    key_table_clear(&pools);
    return kept < end ? kept : end;
}

/* Moves the rows [first, end) of one part to *out at the front, and folds those that are too
 * many. */
static void fold_part(profile *one, size_t first, size_t end, size_t max, size_t *out)
{
    profile_row *rows = one->rows;
    profile_part *part = &one->parts[rows[first].part];
    size_t kept = end - first <= max ? end : count_kept(rows, first, end, max);
    size_t begin = *out;
    memmove(rows + begin, rows + first, (kept - first) * sizeof(*rows));
    size_t last = begin + (kept - first);
    for (size_t i = kept; i < end; i++) {
        profile_row row = rows[i];
        profile_row *to = dropped_row(rows, begin, &last, &row);
        profile_sum_add(&to->sum, &row.sum);
        if (row.stack == 0)
            continue;
        part->dropped_amount += row.sum.raw_amount;
        part->dropped_count += row.sum.raw_count;
        part->dropped_stacks++;
    }
    *out = last;
}

int profile_fold(profile *one, size_t max)
{
    if (one->row_count <= max)
        return 0;
    qsort(one->rows, one->row_count, sizeof(*one->rows), heavier_first);
    size_t out = 0;
    for (size_t first = 0; first < one->row_count;) {
        size_t end = first;
        while (end < one->row_count && one->rows[end].part == one->rows[first].part)
            end++;
        fold_part(one, first, end, max, &out);
        first = end;
    }
    one->row_count = out;
    return 0;
}
