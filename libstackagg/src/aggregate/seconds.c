/* SPDX-License-Identifier: Apache-2.0 */
/* Per-second totals by type and pool. */
#include "aggregate/aggregate_impl.h"

struct wanted_row {
    const sagg *agg;
    sagg__second_row row;
};

static bool is_row(const void *context, uint32_t value)
{
    const struct wanted_row *wanted = context;
    const sagg__second_row *row = SAGG__AT(sagg__second_row, wanted->agg->second_rows.array, value);
    return row->slot == wanted->row.slot && row->thread == wanted->row.thread;
}

static uint64_t hash_row(uint32_t slot, uint32_t thread)
{
    return ((uint64_t)thread << 8 | slot) * 0x9E3779B97F4A7C15u;
}

static bool find(const sagg *agg, uint32_t slot, uint32_t thread, uint32_t *row)
{
    struct wanted_row wanted = {agg, {slot, thread}};
    return sagg__index_find(&agg->second_rows.index, hash_row(slot, thread), is_row, &wanted, row);
}

static int append(sagg *agg, uint32_t slot, uint32_t thread, uint32_t *row)
{
    int rc = sagg__set_reserve(agg, &agg->second_rows, sizeof(sagg__second_row));
    if (rc == 0)
        rc = sagg__grow(&agg->mem, &agg->second_values,
                        ((size_t)agg->second_rows.count + 1) * agg->seconds, sizeof(uint64_t));
    if (rc != 0)
        return rc;
    *row = agg->second_rows.count++;
    *SAGG__AT(sagg__second_row, agg->second_rows.array, *row) = (sagg__second_row){slot, thread};
    sagg__index_put(&agg->second_rows.index, hash_row(slot, thread), *row);
    return 0;
}

/* Makes the rows of the dropped thread, so that there is always a row to add to. */
int sagg__seconds_init(sagg *agg)
{
    uint32_t row;
    int rc = 0;
    for (uint32_t slot = 0; rc == 0 && agg->seconds > 0 && slot < agg->type_count; slot++)
        rc = append(agg, slot, SAGG_DROPPED_THREAD, &row);
    return rc;
}

/* Returns the second of a time; times outside the range count in the first or last second. */
static uint32_t second_of(sagg *agg, int64_t time_ns, uint64_t samples)
{
    int64_t after;
    bool before = time_ns < agg->origin_ns;
    if (__builtin_sub_overflow(time_ns, agg->origin_ns, &after))
        after = INT64_MAX;
    uint64_t second = (uint64_t)after / 1000000000u;
    if (!before && second < agg->seconds)
        return (uint32_t)second;
    sagg__sum_one(agg, &agg->loss.outside_seconds, samples);
    return before ? 0 : agg->seconds - 1;
}

int sagg__reserve_second(sagg *agg, uint32_t slot, uint32_t thread)
{
    uint32_t row;
    int rc = find(agg, slot, thread, &row) ? 0 : append(agg, slot, thread, &row);
    return rc == SAGG_ERR_LIMIT ? 0 : rc;
}

int sagg__add_second(sagg *agg, uint32_t slot, uint32_t thread, int64_t time_ns, uint64_t value,
                     uint64_t samples)
{
    uint32_t row;
    if (!find(agg, slot, thread, &row)) {
        int rc = append(agg, slot, thread, &row);
        if (rc == SAGG_ERR_LIMIT && find(agg, slot, SAGG_DROPPED_THREAD, &row))
            agg->full = true;
        else if (rc != 0)
            return rc;
    }
    size_t at = (size_t)row * agg->seconds + second_of(agg, time_ns, samples);
    sagg__sum_one(agg, SAGG__AT(uint64_t, agg->second_values, at), value);
    return 0;
}

const uint64_t *sagg_seconds(const sagg *agg, uint32_t type, uint32_t pool_thread)
{
    uint32_t row;
    if (agg->seconds == 0 || type > SAGG_MAX_TYPE || agg->slot_of[type] == SAGG__NO_SLOT ||
        !find(agg, agg->slot_of[type], pool_thread, &row))
        return NULL;
    return SAGG__AT(uint64_t, agg->second_values, (size_t)row * agg->seconds);
}
