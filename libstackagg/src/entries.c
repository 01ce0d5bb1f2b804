/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of an aggregate: totals by type, thread, stack and label.
 *
 * Who adds many adds them stack by stack: a stack's first entries stand side by side, its *run*,
 * and are found by looking at them. All others, which came later or are too many to look at, are in
 * the index.
 */
#include "aggregate.h"

#include <string.h>

enum { LONGEST_RUN = 16 };

static uint64_t hash_of(const sagg__key *key)
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

/* ---- runs ---- */

/* The first entry of a stack + 1; 0 = none. */
static uint32_t first_of(const sagg *agg, uint32_t stack)
{
    return stack < agg->first_entries.capacity ? *SAGG__AT(uint32_t, agg->first_entries, stack) : 0;
}

/* Where a stack's run ends, of `count` entries that are there. */
static uint32_t run_end(const sagg *agg, uint32_t stack, uint32_t count)
{
    const sagg__entry *entries = agg->entries.array.items;
    uint32_t first = first_of(agg, stack);
    if (first == 0)
        return count;
    uint32_t at = first;
    while (at < count && at - (first - 1) < LONGEST_RUN && entries[at].key.stack == stack)
        at++;
    return at;
}

/* Looks for the wanted entry in its stack's run. *at is where the run ends when it is not there. */
static bool find_in_run(const struct wanted_entry *wanted, uint32_t *at)
{
    const sagg *agg = wanted->agg;
    uint32_t first = first_of(agg, wanted->key->stack);
    uint32_t end = run_end(agg, wanted->key->stack, agg->entries.count);
    for (*at = first != 0 ? first - 1 : end; *at < end; (*at)++) {
        if (is_entry(wanted, *at))
            return true;
    }
    return false;
}

/* Whether an entry behind all others belongs to its stack's run, which ends at `end`. */
static bool joins_run(const sagg *agg, uint32_t stack, uint32_t end, uint32_t at)
{
    uint32_t first = first_of(agg, stack);
    return first == 0 || (end == at && at - (first - 1) < LONGEST_RUN);
}

/* Makes the entry of a key, which stands at `at`, one that is found. */
static void place(sagg *agg, const sagg__key *key, uint32_t at, bool in_run)
{
    if (!in_run)
        sagg__index_put(&agg->entries.index, hash_of(key), at);
    else if (first_of(agg, key->stack) == 0)
        *SAGG__AT(uint32_t, agg->first_entries, key->stack) = at + 1;
}

void sagg__prefetch_first(const sagg *agg, uint32_t stack)
{
    if (stack < agg->first_entries.capacity)
        __builtin_prefetch(SAGG__AT(uint32_t, agg->first_entries, stack));
}

void sagg__prefetch_entry(const sagg *agg, uint32_t stack)
{
    uint32_t first = first_of(agg, stack);
    if (first != 0)
        __builtin_prefetch(SAGG__AT(sagg__entry, agg->entries.array, first - 1), 1);
}

/* ---- adding ---- */

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

/* Makes room for an entry behind the others. Returns 0, SAGG_E_LIMIT or SAGG_E_NOMEM. */
static int reserve(sagg *agg, uint32_t stack, bool in_run)
{
    int rc = in_run ? sagg__set_extend(agg, &agg->entries, sizeof(sagg__entry))
                    : sagg__set_reserve(agg, &agg->entries, sizeof(sagg__entry));
    if (rc != 0 || stack < agg->first_entries.capacity)
        return rc;
    return sagg__grow(&agg->mem, &agg->first_entries, (size_t)stack + 1, sizeof(uint32_t));
}

/* Appends an entry that is not there; its stack's run ends at `end`. */
static int append(sagg *agg, const sagg__entry *entry, uint32_t end)
{
    uint32_t at = agg->entries.count;
    bool in_run = joins_run(agg, entry->key.stack, end, at);
    int rc = reserve(agg, entry->key.stack, in_run);
    if (rc == SAGG_E_LIMIT) {
        agg->full = true;
        sagg__refuse_entry(agg, entry);
        return 0;
    }
    if (rc != 0)
        return rc;
    *SAGG__AT(sagg__entry, agg->entries.array, at) = *entry;
    place(agg, &entry->key, at, in_run);
    agg->entries.count++;
    return 0;
}

/* Finds the entry of a key, or where its stack's run ends. */
static bool find(const sagg *agg, const sagg__key *key, uint32_t *at)
{
    struct wanted_entry wanted = {agg, key};
    uint32_t found;
    if (find_in_run(&wanted, at))
        return true;
    if (agg->entries.index.count == 0 ||
        !sagg__index_find(&agg->entries.index, hash_of(key), is_entry, &wanted, &found))
        return false;
    *at = found;
    return true;
}

/* The types of an entry's pair are told apart from now on. */
static int part(sagg *agg, uint32_t at)
{
    sagg__entry *entry = SAGG__AT(sagg__entry, agg->entries.array, at);
    sagg__entry second = sagg__entry_half(entry, 1);
    *entry = sagg__entry_half(entry, 0);
    return append(agg, &second, run_end(agg, second.key.stack, agg->entries.count));
}

static int add_entry(sagg *agg, const sagg__entry *from)
{
    uint32_t at;
    if (!find(agg, &from->key, &at))
        return append(agg, from, at);
    sagg__entry *entry = SAGG__AT(sagg__entry, agg->entries.array, at);
    bool same = entry->key.slot == from->key.slot && entry->key.twin == from->key.twin;
    if (__builtin_expect(same, 1)) {
        sagg__sum(agg, &entry->totals, &from->totals);
        return 0;
    }
    int rc = 0;
    if (entry->key.twin != SAGG__NO_TWIN)
        rc = part(agg, at);
    for (uint32_t half = 0; rc == 0 && half < sagg__entry_halves(from); half++) {
        sagg__entry one = sagg__entry_half(from, half);
        rc = add_entry(agg, &one);
    }
    return rc;
}

int sagg__add_to_entry(sagg *agg, const sagg__entry *from)
{
    agg->adds += sagg__entry_halves(from);
    return add_entry(agg, from);
}

/* ---- compacting ---- */

void sagg__entries_forget(sagg *agg)
{
    if (agg->first_entries.capacity > 0)
        memset(agg->first_entries.items, 0, agg->first_entries.capacity * sizeof(uint32_t));
    sagg__index_clear(&agg->entries.index);
}

void sagg__entries_keep(sagg *agg, uint32_t at)
{
    const sagg__key *key = &SAGG__AT(sagg__entry, agg->entries.array, at)->key;
    place(agg, key, at, joins_run(agg, key->stack, run_end(agg, key->stack, at), at));
}
