/* SPDX-License-Identifier: Apache-2.0 */
/* Adds samples to an aggregate's entries and totals. */
#include "aggregate/aggregate_impl.h"
#include "aggregate/saturate_impl.h"
#include "fail_impl.h"

void sagg__sum_one(sagg *agg, uint64_t *into, uint64_t value)
{
    if (!sagg__add_to(into, value))
        agg->loss.saturated++;
}

void sagg__sum(sagg *agg, sagg_totals *into, const sagg_totals *from)
{
    sagg__sum_one(agg, &into->raw_value, from->raw_value);
    sagg__sum_one(agg, &into->value, from->value);
    sagg__sum_one(agg, &into->samples, from->samples);
}

/* ---- samples ---- */

static bool is_known_type(const sagg *agg, uint32_t type)
{
    return type <= SAGG_MAX_TYPE && agg->slot_of[type] != SAGG__NO_SLOT;
}

static int check_sample(const sagg *agg, const sagg_sample *s, sagg_error *err)
{
    if (!is_known_type(agg, s->type))
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Profile type %u is not in the aggregate's table.", s->type);
    if (s->thread >= agg->threads.count || s->stack >= agg->stacks.count ||
        s->label >= agg->labels.count)
        return sagg__fail(err, SAGG_ERR_USAGE, 0,
                          "Thread %u, stack %u or label %u does not exist: indices of stacks are "
                          "void after sagg_compact.",
                          s->thread, s->stack, s->label);
    return 0;
}

/* Returns whether two successive samples are two types of the same events, such as bytes and
 * objects allocated; sagg__entry defines which samples make a pair. */
static bool is_pair(const sagg_sample *a, const sagg_sample *b)
{
    return a->thread == b->thread && a->stack == b->stack && a->label == b->label &&
           a->samples == b->samples && a->time_ns == b->time_ns && a->type != b->type &&
           a->raw_value == a->value && b->raw_value == b->samples;
}

/* Returns the thread of entries: the sample's own, its pool's, or none. */
uint32_t sagg__group_thread(const sagg *agg, uint32_t thread)
{
    if (agg->group == SAGG_BY_NONE)
        return SAGG_NO_THREAD;
    if (agg->group == SAGG_BY_POOL)
        return SAGG__AT(sagg__thread, agg->threads.array, thread)->pool_thread;
    return thread;
}

/* Makes an entry of the first of `count` samples, which has been checked, or of the first two.
 * Returns how many samples it used. */
static size_t prepare(const sagg *agg, sagg__entry *out, const sagg_sample *samples, size_t count)
{
    const sagg_sample *s = &samples[0];
    bool pair = count > 1 && s->stack != SAGG_DROPPED && is_pair(s, &samples[1]) &&
                is_known_type(agg, samples[1].type);
    out->key = (sagg__key){.slot = agg->slot_of[s->type],
                           .twin = SAGG__NO_TWIN,
                           .thread = sagg__group_thread(agg, s->thread),
                           .stack = s->stack,
                           .label = (uint16_t)s->label};
    out->totals = (sagg_totals){s->raw_value, s->value, s->samples};
    if (pair) {
        out->key.twin = agg->slot_of[samples[1].type];
        out->totals.value = samples[1].value;
    }
    return pair ? 2 : 1;
}

/* Totals of a type and thread. */
struct sum {
    uint32_t slot;
    uint32_t thread;
    sagg_totals totals;
};

enum { SUMS = 32 };

/* Totals that are still to be added. Many samples have few types and threads, so they are summed
 * first. */
struct sums {
    struct sum rows[SUMS];
    uint32_t used; /* a bit for each row */
};

void sagg__keep_sums(sagg *agg, uint32_t slot, uint32_t thread, const sagg_totals *totals)
{
    uint32_t pool = SAGG__AT(sagg__thread, agg->threads.array, thread)->pool_thread;
    sagg__sum(agg, &agg->totals[slot], totals);
    sagg__sum(agg, sagg__thread_row(agg, thread, slot), totals);
    if (pool != thread)
        sagg__sum(agg, sagg__thread_row(agg, pool, slot), totals);
}

static void keep_sum(sagg *agg, const struct sum *sum)
{
    sagg__keep_sums(agg, sum->slot, sum->thread, &sum->totals);
}

static void keep_sums(sagg *agg, const struct sums *sums)
{
    for (uint32_t left = sums->used; left != 0; left &= left - 1)
        keep_sum(agg, &sums->rows[__builtin_ctz(left)]);
}

static void add_sum(sagg *agg, struct sums *sums, const struct sum *sum)
{
    uint32_t at = (sum->thread * 2 ^ sum->slot) % SUMS;
    struct sum *row = &sums->rows[at];
    bool used = (sums->used >> at & 1) != 0;
    if (used && row->slot == sum->slot && row->thread == sum->thread &&
        sagg__sum_up(&row->totals, &sum->totals))
        return;
    if (used)
        keep_sum(agg, row);
    *row = *sum;
    sums->used |= UINT32_C(1) << at;
}

/* Adds to the totals besides entries: seconds, and the totals of types, threads and pools. */
static int add_sums(sagg *agg, struct sums *sums, const sagg_sample *sample)
{
    struct sum sum = {.slot = agg->slot_of[sample->type],
                      .thread = sample->thread,
                      .totals = {sample->raw_value, sample->value, sample->samples}};
    int rc = 0;
    if (agg->seconds > 0) {
        uint32_t pool = SAGG__AT(sagg__thread, agg->threads.array, sum.thread)->pool_thread;
        rc = sagg__add_second(agg, sum.slot, pool, sample->time_ns, sample->value, sample->samples);
    }
    if (rc == 0)
        add_sum(agg, sums, &sum);
    return rc;
}

enum { GROUP = 32 };

/* Samples that are still to be added to their entries. */
struct group {
    sagg__entry entries[GROUP]; /* each of one sample, or of a pair */
    size_t count;
};

/* Reserves the rows of per-second totals for the whole group, so that nothing is added without
 * memory. */
static int reserve_seconds(sagg *agg, const struct group *group, const sagg_sample *samples)
{
    uint32_t slot = SAGG__NO_SLOT;
    uint32_t pool = 0;
    int rc = 0;
    for (size_t i = 0; i < group->count; i++) {
        for (uint32_t left = sagg__entry_halves(&group->entries[i]); rc == 0 && left > 0; left--) {
            uint32_t before = slot;
            uint32_t last = pool;
            slot = agg->slot_of[samples->type];
            pool = SAGG__AT(sagg__thread, agg->threads.array, samples++->thread)->pool_thread;
            if (slot != before || pool != last)
                rc = sagg__reserve_second(agg, slot, pool);
        }
    }
    return rc;
}

static int add_group(sagg *agg, struct sums *sums, const struct group *group,
                     const sagg_sample *samples)
{
    int rc = agg->seconds > 0 ? reserve_seconds(agg, group, samples) : 0;
    const size_t added = rc == 0 ? sagg__add_entries(agg, group->entries, group->count) : 0;
    for (size_t i = 0; i < group->count && i < added; i++) {
        for (uint32_t left = sagg__entry_halves(&group->entries[i]); rc == 0 && left > 0; left--)
            rc = add_sums(agg, sums, samples++);
    }
    return added < group->count ? SAGG_ERR_NOMEM : rc;
}

/* Checks up to GROUP samples or pairs and prepares them; moves *at past them. Returns 0 or the
 * error of the first bad sample. */
static int take_group(const sagg *agg, struct group *group, const sagg_sample *samples,
                      size_t count, size_t *at, sagg_error *err)
{
    int rc = 0;
    group->count = 0;
    while (group->count < GROUP && *at < count && (rc = check_sample(agg, &samples[*at], err)) == 0)
        *at += prepare(agg, &group->entries[group->count++], samples + *at, count - *at);
    return rc;
}

int sagg_add_all(sagg *agg, const sagg_sample *samples, size_t count, sagg_error *err)
{
    struct group group;
    struct sums sums;
    size_t at = 0;
    int bad = 0, rc = 0;
    sums.used = 0;
    while (bad == 0 && rc == 0 && at < count) {
        const sagg_sample *first = &samples[at];
        bad = take_group(agg, &group, samples, count, &at, err);
        rc = add_group(agg, &sums, &group, first);
    }
    keep_sums(agg, &sums);
    return rc != 0 ? sagg__no_memory(err) : bad;
}

int sagg_add_second(sagg *agg, const sagg_sample *sample, sagg_error *err)
{
    if (agg->seconds == 0)
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "The aggregate keeps no per-second totals.");
    int rc = check_sample(agg, sample, err);
    if (rc != 0)
        return rc;
    uint32_t pool = SAGG__AT(sagg__thread, agg->threads.array, sample->thread)->pool_thread;
    rc = sagg__add_second(agg, agg->slot_of[sample->type], pool, sample->time_ns, sample->value,
                          sample->samples);
    return rc == 0 ? 0 : sagg__no_memory(err);
}

int sagg_add(sagg *agg, const sagg_sample *sample, sagg_error *err)
{
    return sagg_add_all(agg, sample, 1, err);
}
