/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the ingest contract that a collector could break, on its own batch. */
#include "batch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct verdict {
    const char *code;
    char *detail;
    size_t size;
} verdict;

static bool refuse(verdict *on, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(verdict *on, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(on->detail, on->size, format, arguments);
    va_end(arguments);
    on->code = code;
    return false;
}

static bool check_window(const batch *one, size_t index, verdict *on)
{
    const batch_window *window = &one->windows[index];
    uint64_t end = window->start_ms + window->length_ms;
    if (window->target >= one->target_count)
        return refuse(on, "bad_index", "window %zu names target %u of %zu", index, window->target,
                      one->target_count);
    if (profile_type_get(window->totals.type) == NULL)
        return refuse(on, "unknown_type", "window %zu has type %u", index, window->totals.type);
    if (window->length_ms == 0 || window->length_ms > MS_PER_DAY ||
        window->covered_ms > window->length_ms)
        return refuse(on, "bad_window", "window %zu covers %u of %u ms", index, window->covered_ms,
                      window->length_ms);
    if (window->start_ms / MS_PER_DAY != one->day || (end - 1) / MS_PER_DAY != one->day)
        return refuse(on, "wrong_day", "window %zu is not within UTC day %u", index, one->day);
    return true;
}

typedef struct sums {
    uint64_t raw, value, samples;
} sums;

static bool add_row(const batch *one, size_t index, sums *totals, verdict *on)
{
    const batch_row *row = &one->rows[index];
    if (row->window >= one->window_count || row->stack >= one->stack_ids.count ||
        row->pool_str >= one->strings.count || row->object_str >= one->strings.count)
        return refuse(on, "bad_index", "row %zu has an index out of range", index);
    sums *to = &totals[row->window];
    if (__builtin_add_overflow(to->raw, row->raw_value, &to->raw) ||
        __builtin_add_overflow(to->value, row->value, &to->value) ||
        __builtin_add_overflow(to->samples, row->samples, &to->samples))
        return refuse(on, "overflow", "the sums of window %u pass 64 bits", row->window);
    return true;
}

static bool check_totals(const batch *one, const sums *totals, verdict *on)
{
    for (size_t i = 0; i < one->window_count; i++) {
        const profile_part *said = &one->windows[i].totals;
        if (totals[i].raw != said->raw_total || totals[i].value != said->value_total ||
            totals[i].samples != said->samples)
            return refuse(on, "totals_mismatch",
                          "window %zu says %llu and its rows sum to %llu (raw value)", i,
                          (unsigned long long)said->raw_total, (unsigned long long)totals[i].raw);
    }
    return true;
}

static int by_key(const void *left, const void *right)
{
    const batch_row *a = left;
    const batch_row *b = right;
    const uint32_t keys[][2] = {{a->window, b->window},
                                {a->pool_str, b->pool_str},
                                {a->stack, b->stack},
                                {a->facet, b->facet},
                                {a->object_str, b->object_str}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    }
    return 0;
}

static bool check_unique_rows(const batch *one, verdict *on)
{
    batch_row *sorted = malloc((one->row_count + 1) * sizeof(*sorted));
    if (sorted == NULL)
        return refuse(on, "no_memory", "out of memory while the batch was checked");
    if (one->row_count > 0)
        memcpy(sorted, one->rows, one->row_count * sizeof(*sorted));
    qsort(sorted, one->row_count, sizeof(*sorted), by_key);
    bool unique = true;
    for (size_t i = 1; i < one->row_count && unique; i++)
        unique = by_key(&sorted[i - 1], &sorted[i]) != 0;
    free(sorted);
    return unique || refuse(on, "duplicate_row",
                            "two rows have one window, pool, stack, facet and "
                            "object");
}

static bool check_unique_windows(const batch *one, verdict *on)
{
    for (size_t i = 1; i < one->window_count; i++) {
        for (size_t k = 0; k < i; k++) {
            const batch_window *a = &one->windows[i];
            const batch_window *b = &one->windows[k];
            if (a->target == b->target && a->totals.type == b->totals.type &&
                a->start_ms == b->start_ms)
                return refuse(on, "duplicate_row", "windows %zu and %zu are the same", k, i);
        }
    }
    return true;
}

static bool check_seconds(const batch *one, verdict *on)
{
    for (size_t i = 0; i < one->second_count; i++) {
        const batch_second *second = &one->seconds[i];
        if (second->window >= one->window_count)
            return refuse(on, "bad_index", "second %zu has no window", i);
        if ((uint64_t)second->second * 1000 >= one->windows[second->window].length_ms)
            return refuse(on, "bad_window", "second %zu lies behind its window", i);
    }
    return true;
}

static bool check_rows(const batch *one, verdict *on)
{
    sums *totals = calloc(one->window_count + 1, sizeof(*totals));
    if (totals == NULL)
        return refuse(on, "no_memory", "out of memory while the batch was checked");
    bool good = true;
    for (size_t i = 0; i < one->row_count && good; i++)
        good = add_row(one, i, totals, on);
    good = good && check_totals(one, totals, on);
    free(totals);
    return good && check_unique_rows(one, on);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the verdict */
const char *batch_check(const batch *one, char *detail, size_t size)
{
    verdict on = {.detail = detail, .size = size};
    bool good = true;
    for (size_t i = 0; i < one->target_count && good; i++)
        good = one->targets[i].workload_str != 0 ||
               refuse(&on, "bad_identity", "target %zu has no workload", i);
    for (size_t i = 0; i < one->window_count && good; i++)
        good = check_window(one, i, &on);
    good = good && check_unique_windows(one, &on);
    good = good && check_rows(one, &on);
    good = good && check_seconds(one, &on);
    return good ? NULL : on.code;
}
