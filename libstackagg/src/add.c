/* SPDX-License-Identifier: Apache-2.0 */
/* Adding samples to an aggregate's entries and totals. */
#include "aggregate.h"
#include "fail.h"

void sagg__sum_one(sagg *agg, uint64_t *into, uint64_t value)
{
    if (!__builtin_add_overflow(*into, value, into))
        return;
    *into = UINT64_MAX;
    agg->loss.saturated++;
}

void sagg__sum(sagg *agg, sagg_totals *into, const sagg_totals *from)
{
    sagg__sum_one(agg, &into->raw_value, from->raw_value);
    sagg__sum_one(agg, &into->value, from->value);
    sagg__sum_one(agg, &into->samples, from->samples);
}

/* ---- samples ---- */

static int check_sample(const sagg *agg, const sagg_sample *s, sagg_error *err)
{
    if (s->type > SAGG_MAX_TYPE || agg->slot_of[s->type] == SAGG__NO_SLOT)
        return sagg__fail(err, SAGG_E_USAGE, 0, "Profile type %u is not in the aggregate's table.",
                          s->type);
    if (s->thread >= agg->threads.count || s->stack >= agg->stacks.count ||
        s->label >= agg->labels.count)
        return sagg__fail(err, SAGG_E_USAGE, 0,
                          "Thread %u, stack %u or label %u does not exist: indices of stacks are "
                          "void after sagg_compact.",
                          s->thread, s->stack, s->label);
    return 0;
}

/* Whether two samples, one behind the other, are two types of the same events, such as bytes and
 * objects allocated: sagg__entry says which make a pair. */
static bool is_pair(const sagg_sample *a, const sagg_sample *b)
{
    return a->thread == b->thread && a->stack == b->stack && a->label == b->label &&
           a->samples == b->samples && a->time_ns == b->time_ns && a->type != b->type &&
           a->raw_value == a->value && b->raw_value == b->samples;
}

/* The thread that entries carry: the sample's own, its pool's, or none. */
uint32_t sagg__group_thread(const sagg *agg, uint32_t thread)
{
    if (agg->group == SAGG_BY_NONE)
        return SAGG_NO_THREAD;
    if (agg->group == SAGG_BY_POOL)
        return SAGG__AT(sagg__thread, agg->threads.array, thread)->pool_thread;
    return thread;
}

/* One sample or a pair on its way to its entry. */
struct pending {
    sagg__entry entry;
    const sagg_sample *samples; /* as many as the entry has halves */
};

/* Makes an entry of the first of `count` samples, or of two. Returns of how many. */
static size_t prepare(const sagg *agg, struct pending *out, const sagg_sample *samples,
                      size_t count)
{
    const sagg_sample *s = &samples[0];
    bool pair = count > 1 && s->stack != SAGG_DROPPED && is_pair(s, &samples[1]);
    out->samples = samples;
    out->entry.key = (sagg__key){.slot = agg->slot_of[s->type],
                                 .twin = SAGG__NO_TWIN,
                                 .thread = sagg__group_thread(agg, s->thread),
                                 .stack = s->stack,
                                 .label = s->label};
    out->entry.totals = (sagg_totals){s->raw_value, s->value, s->samples};
    if (pair) {
        out->entry.key.twin = agg->slot_of[samples[1].type];
        out->entry.totals.value = samples[1].value;
    }
    return pair ? 2 : 1;
}

/* Adds to what is kept besides entries: seconds, and the totals of types, threads and pools. */
static int add_sums(sagg *agg, const sagg_sample *sample)
{
    uint32_t slot = agg->slot_of[sample->type];
    uint32_t pool = SAGG__AT(sagg__thread, agg->threads.array, sample->thread)->pool_thread;
    sagg_totals totals = {sample->raw_value, sample->value, sample->samples};
    int rc = 0;
    if (agg->seconds > 0)
        rc = sagg__add_second(agg, slot, pool, sample->time_ns, sample->value, sample->samples);
    if (rc != 0)
        return rc;
    sagg__sum(agg, &agg->totals[slot], &totals);
    sagg__sum(agg, sagg__thread_row(agg, sample->thread, slot), &totals);
    if (pool != sample->thread)
        sagg__sum(agg, sagg__thread_row(agg, pool, slot), &totals);
    return 0;
}

static int add_pending(sagg *agg, const struct pending *pending)
{
    const sagg__entry *entry = &pending->entry;
    uint32_t halves = sagg__entry_halves(entry);
    int rc = 0;
    if (entry->key.stack == SAGG_DROPPED)
        sagg__refuse_entry(agg, entry);
    else
        rc = sagg__add_to_entry(agg, entry);
    for (uint32_t i = 0; rc == 0 && i < halves; i++)
        rc = add_sums(agg, &pending->samples[i]);
    return rc;
}

int sagg_add(sagg *agg, const sagg_sample *sample, sagg_error *err)
{
    struct pending pending;
    int rc = check_sample(agg, sample, err);
    if (rc != 0)
        return rc;
    (void)prepare(agg, &pending, sample, 1);
    return add_pending(agg, &pending) != 0 ? sagg__no_memory(err) : 0;
}

enum { GROUP = 32 };

/*
 * Entries lie all over a table larger than the caches: each step asks for the memory of the next
 * before it is needed.
 */
static int add_group(sagg *agg, const struct pending *pending, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sagg__prefetch_entry(agg, pending[i].entry.key.stack);
    for (size_t i = 0; i < count; i++) {
        int rc = add_pending(agg, &pending[i]);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Adds samples that have been checked. */
static int add_checked(sagg *agg, const sagg_sample *samples, size_t count)
{
    struct pending pending[GROUP];
    size_t used = 0;
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < count;) {
        at += prepare(agg, &pending[used], samples + at, count - at);
        sagg__prefetch_first(agg, pending[used].entry.key.stack);
        if (++used < GROUP && at < count)
            continue;
        rc = add_group(agg, pending, used);
        used = 0;
    }
    return rc;
}

int sagg_add_all(sagg *agg, const sagg_sample *samples, size_t count, sagg_error *err)
{
    size_t valid = 0;
    int rc = 0;
    while (rc == 0 && valid < count) {
        rc = check_sample(agg, &samples[valid], err);
        valid += rc == 0 ? 1 : 0;
    }
    if (add_checked(agg, samples, valid) != 0)
        return sagg__no_memory(err);
    return rc;
}
