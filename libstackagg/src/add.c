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

/* ---- entries ---- */

uint64_t sagg__key_hash(const sagg__key *key)
{
    uint64_t a = (uint64_t)key->stack << 32 | key->thread;
    a = (a ^ key->label * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return a ^ a >> 29;
}

static bool has_slot(const sagg__key *key, uint32_t slot)
{
    return key->slot == slot || key->twin == slot;
}

struct wanted_entry {
    const sagg *agg;
    const sagg__key *key;
};

/* An entry of any type of the key. */
static bool is_entry(const void *context, uint32_t value)
{
    const struct wanted_entry *wanted = context;
    const sagg__key *key = &SAGG__AT(sagg__entry, wanted->agg->entries.array, value)->key;
    const sagg__key *other = wanted->key;
    return key->stack == other->stack && key->thread == other->thread &&
           key->label == other->label &&
           (has_slot(key, other->slot) ||
            (other->twin != SAGG__NO_TWIN && has_slot(key, other->twin)));
}

void sagg__add_dropped(sagg *agg, uint32_t slot, uint32_t thread, const sagg_totals *totals)
{
    agg->adds++;
    sagg__sum(agg, sagg__dropped_row(agg, thread, slot), totals);
    sagg__sum_one(agg, &agg->loss.samples_dropped, totals->samples);
}

/* What there is no room for is dropped, for that stack's values to be too small by. */
void sagg__refuse_entry(sagg *agg, const sagg__entry *entry)
{
    for (uint32_t half = 0; half < sagg__entry_halves(entry); half++) {
        sagg__entry one = sagg__entry_half(entry, half);
        sagg__add_dropped(agg, one.key.slot, one.key.thread, &one.totals);
        sagg__sum_one(agg, &agg->error_bound[one.key.slot], one.totals.value);
    }
}

/* Appends an entry that is not there. */
static int append(sagg *agg, const sagg__entry *entry, uint64_t hash)
{
    int rc = sagg__set_reserve(agg, &agg->entries, sizeof(sagg__entry));
    if (rc == SAGG_E_LIMIT) {
        agg->full = true;
        sagg__refuse_entry(agg, entry);
        return 0;
    }
    if (rc != 0)
        return rc;
    *SAGG__AT(sagg__entry, agg->entries.array, agg->entries.count) = *entry;
    sagg__index_put(&agg->entries.index, hash, agg->entries.count++);
    return 0;
}

/* The types of an entry's pair are told apart from now on. */
static int part(sagg *agg, uint32_t at, uint64_t hash)
{
    sagg__entry *entry = SAGG__AT(sagg__entry, agg->entries.array, at);
    sagg__entry second = sagg__entry_half(entry, 1);
    *entry = sagg__entry_half(entry, 0);
    return append(agg, &second, hash);
}

static int add_entry(sagg *agg, const sagg__entry *from, uint64_t hash)
{
    struct wanted_entry wanted = {agg, &from->key};
    uint32_t at;
    if (!sagg__index_find(&agg->entries.index, hash, is_entry, &wanted, &at))
        return append(agg, from, hash);
    sagg__entry *entry = SAGG__AT(sagg__entry, agg->entries.array, at);
    bool same = entry->key.slot == from->key.slot && entry->key.twin == from->key.twin;
    if (__builtin_expect(same, 1)) {
        sagg__sum(agg, &entry->totals, &from->totals);
        return 0;
    }
    int rc = 0;
    if (entry->key.twin != SAGG__NO_TWIN)
        rc = part(agg, at, hash);
    for (uint32_t half = 0; rc == 0 && half < sagg__entry_halves(from); half++) {
        sagg__entry one = sagg__entry_half(from, half);
        rc = add_entry(agg, &one, hash);
    }
    return rc;
}

int sagg__add_to_entry(sagg *agg, const sagg__entry *from)
{
    agg->adds++;
    return add_entry(agg, from, sagg__key_hash(&from->key));
}

void sagg__prefetch_entry(const sagg *agg, const sagg__key *key)
{
    __builtin_prefetch(sagg__index_slot(&agg->entries.index, sagg__key_hash(key)));
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
    uint64_t hash;
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
    out->hash = sagg__key_hash(&out->entry.key);
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
    if (entry->key.stack == SAGG_DROPPED) {
        sagg__refuse_entry(agg, entry);
    } else {
        agg->adds += halves;
        rc = add_entry(agg, entry, pending->hash);
    }
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
    for (size_t i = 0; i < count; i++) {
        const struct sagg__slot *slot = sagg__index_slot(&agg->entries.index, pending[i].hash);
        if (slot != NULL && slot->value != 0)
            __builtin_prefetch(SAGG__AT(sagg__entry, agg->entries.array, slot->value - 1), 1);
    }
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
        __builtin_prefetch(sagg__index_slot(&agg->entries.index, pending[used].hash));
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
