/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the checks 10 to 12 of docs/formats/ingest.md, section Order of checks: sources, windows,
 * times and totals. */
#include <stdlib.h>

#include <catalogue/profile_type.h>

#include <contract/check.h>
#include <contract/sum.h>

typedef unsigned long long ull;

static int check_window(const window_columns *w, size_t i, verdict *v)
{
    if (profile_source_name(w->source.at[i]) == NULL)
        return verdict_reject(v, "unknown_source",
                              "windows.source: entry %zu is %u, which is not in the catalogue.", i,
                              w->source.at[i]);
    if (w->length_ms.at[i] == 0 || w->length_ms.at[i] > DAY_MS)
        return verdict_reject(v, "bad_window",
                              "windows.length_ms: entry %zu is %u; 1 to 86,400,000 are allowed.", i,
                              w->length_ms.at[i]);
    if (w->covered_ms.at[i] > w->length_ms.at[i])
        return verdict_reject(v, "bad_window",
                              "windows.covered_ms: entry %zu is %u, more than its length of %u.", i,
                              w->covered_ms.at[i], w->length_ms.at[i]);
    if (w->reason.at[i] != 0 && (w->covered_ms.at[i] != 0 || w->total.raw_count.at[i] != 0))
        return verdict_reject(v, "bad_window",
                              "windows.reason: entry %zu says why nothing was recorded, but the "
                              "entry has %u ms and %llu events.",
                              i, w->covered_ms.at[i], (ull)w->total.raw_count.at[i]);
    return 0;
}

int check_windows(const profile_batch *b, verdict *v)
{
    const second_columns *s = &b->seconds;

    for (size_t i = 0; i < b->windows.source.count; i++) {
        if (check_window(&b->windows, i, v) != 0)
            return -1;
    }
    for (size_t i = 0; i < s->second.count; i++) {
        uint32_t length_ms = b->windows.length_ms.at[s->window.at[i]];
        if ((uint64_t)s->second.at[i] * 1000 >= length_ms)
            return verdict_reject(v, "bad_window",
                                  "seconds.second: entry %zu is %u, behind its window of %u ms.", i,
                                  s->second.at[i], length_ms);
    }
    return 0;
}

static int check_time(const profile_batch *b, size_t i, const ingest_limits *limits,
                      uint64_t now_ms, verdict *v)
{
    uint64_t start = b->windows.start_ms.at[i];

    if (start / DAY_MS != b->day)
        return verdict_reject(v, "wrong_day",
                              "windows.start_ms: entry %zu is %llu, which is not in day %u.", i,
                              (ull)start, b->day);
    if (start + b->windows.length_ms.at[i] > ((uint64_t)b->day + 1) * DAY_MS)
        return verdict_reject(v, "wrong_day",
                              "windows.start_ms: entry %zu begins at %llu and reaches into the "
                              "next day.",
                              i, (ull)start);
    if (start > now_ms + limits->future_ms)
        return verdict_reject(v, "window_in_future",
                              "windows.start_ms: entry %zu is %llu, %llu ms ahead of the backend's "
                              "clock; %llu are allowed.",
                              i, (ull)start, (ull)(start - now_ms), (ull)limits->future_ms);
    return 0;
}

/*
 * The store keeps whole days and deletes day D when D + retention begins. A window of a deleted day
 * is too old, because it would be accepted and then lost.
 */
static bool is_gone(uint64_t day, const ingest_limits *limits, uint64_t now_ms)
{
    return day * DAY_MS + limits->retention_ms <= now_ms;
}

int check_times(const profile_batch *b, const ingest_limits *limits, uint64_t now_ms, verdict *v)
{
    for (size_t i = 0; i < b->windows.start_ms.count; i++) {
        if (check_time(b, i, limits, now_ms, v) != 0)
            return -1;
    }
    for (size_t i = 0; i < b->snapshots.taken_ms.count; i++) {
        uint64_t taken = b->snapshots.taken_ms.at[i];
        if (taken > now_ms + limits->future_ms)
            return verdict_reject(v, "window_in_future",
                                  "snapshots.taken_ms: entry %zu is %llu, %llu ms ahead of the "
                                  "backend's clock; %llu are allowed.",
                                  i, (ull)taken, (ull)(taken - now_ms), (ull)limits->future_ms);
    }
    if (b->day > (now_ms + limits->future_ms) / DAY_MS)
        return verdict_reject(v, "window_in_future", "day %u is ahead of the backend's clock.",
                              b->day);
    if (is_gone(b->day, limits, now_ms))
        return verdict_reject(v, "window_too_old",
                              "day %u is older than the %llu days that are kept.", b->day,
                              (ull)(limits->retention_ms / DAY_MS));
    if (b->created_ms > now_ms + limits->future_ms)
        return verdict_reject(v, "clock_ahead",
                              "created_ms is %llu ms ahead of the backend's clock; %llu are "
                              "allowed. Set the node's clock.",
                              (ull)(b->created_ms - now_ms), (ull)limits->future_ms);
    if (is_gone(b->created_ms / DAY_MS, limits, now_ms))
        return verdict_reject(v, "batch_too_old",
                              "created_ms is %llu, older than the %llu days that are kept.",
                              (ull)b->created_ms, (ull)(limits->retention_ms / DAY_MS));
    return 0;
}

static int add_row(profile_sum *total, const sample_columns *s, size_t i, verdict *v)
{
    const sum_columns *sum = &s->sum;

    if (__builtin_add_overflow(total->raw_amount, sum->raw_amount.at[i], &total->raw_amount) ||
        __builtin_add_overflow(total->amount, sum->amount.at[i], &total->amount) ||
        __builtin_add_overflow(total->raw_count, sum->raw_count.at[i], &total->raw_count) ||
        __builtin_add_overflow(total->count, sum->count.at[i], &total->count))
        return verdict_reject(v, "overflow", "samples: the sums of window %u pass 64 bits.",
                              s->window.at[i]);
    return 0;
}

static int compare_total(const char *name, size_t window, uint64_t said, uint64_t summed,
                         verdict *v)
{
    if (said == summed)
        return 0;
    return verdict_reject(v, "totals_mismatch",
                          "windows.%s: entry %zu is %llu, but its rows add up to %llu.", name,
                          window, (ull)said, (ull)summed);
}

int check_totals(const profile_batch *b, verdict *v)
{
    const window_columns *w = &b->windows;
    size_t windows = w->target.count;
    profile_sum *all = calloc(windows + 1, sizeof(*all));
    int rc = all != NULL ? 0 : check_no_memory(v);

    for (size_t i = 0; i < b->samples.window.count && rc == 0; i++)
        rc = add_row(&all[b->samples.window.at[i]], &b->samples, i, v);
    for (size_t i = 0; i < windows && rc == 0; i++) {
        const sum_columns *said = &w->total;
        if (compare_total("raw_amount", i, said->raw_amount.at[i], all[i].raw_amount, v) != 0 ||
            compare_total("amount", i, said->amount.at[i], all[i].amount, v) != 0 ||
            compare_total("raw_count", i, said->raw_count.at[i], all[i].raw_count, v) != 0 ||
            compare_total("count", i, said->count.at[i], all[i].count, v) != 0)
            rc = -1;
    }
    free(all);
    return rc;
}
