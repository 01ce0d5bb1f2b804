/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of an aggregate: totals by type, thread, stack and label.
 *
 * A caller that adds many samples adds them stack by stack. The first entries of a stack are
 * adjacent: its *run*, which is searched directly. All other entries, which were added later or
 * exceed the longest run, are in the index.
 */
#include "aggregate/aggregate_impl.h"

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

/* Returns whether the entry has the key's stack, thread and label, and one of its types. */
static bool is_entry(const void *context, uint32_t value)
{
    const struct wanted_entry *wanted = context;
    const sagg__key *key = &SAGG__AT(sagg__kept, wanted->agg->entries.array, value)->key;
    const sagg__key *other = wanted->key;
    return key->stack == other->stack && key->thread == other->thread &&
           key->label == other->label &&
           (has_slot(key, other->slot) ||
            (other->twin != SAGG__NO_TWIN && has_slot(key, other->twin)));
}

/* ---- runs ---- */

/* The entries of a stack from `first` up to, but not including, `end`; if both are equal there is
 * none. */
struct run {
    uint32_t stack;
    uint32_t first;
    uint32_t end;
};

/* Returns the first entry of a stack + 1; 0 = none. */
static const uint32_t *first_of(const sagg *agg, uint32_t stack)
{
    return &SAGG__AT(sagg__stack, agg->stacks.array, stack)->entries;
}

/* Returns a stack's run among `count` existing entries. */
static struct run run_of(const sagg *agg, uint32_t stack, uint32_t count)
{
    const sagg__kept *entries = agg->entries.array.items;
    uint32_t first = *first_of(agg, stack);
    if (first == 0)
        return (struct run){stack, count, count};
    uint32_t end = first;
    while (end < count && end - (first - 1) < LONGEST_RUN && entries[end].key.stack == stack)
        end++;
    return (struct run){stack, first - 1, end};
}

/* Searches for the wanted entry in its stack's run. */
static bool find_in_run(const struct wanted_entry *wanted, const struct run *run, uint32_t *at)
{
    for (*at = run->first; *at < run->end; (*at)++) {
        if (is_entry(wanted, *at))
            return true;
    }
    return false;
}

/* Returns whether an entry appended at `at` belongs to its stack's run. */
static bool joins_run(const struct run *run, uint32_t at)
{
    return run->first == run->end || (run->end == at && at - run->first < LONGEST_RUN);
}

/* Counts the stack for a type if it is its first entry of that type. */
static void count_type(sagg *agg, sagg__stack *stack, uint32_t slot)
{
    uint32_t *types = &stack->types[slot / 32];
    const uint32_t bit = UINT32_C(1) << slot % 32;
    agg->type_stacks[slot] += (*types & bit) == 0;
    *types |= bit;
}

/* Makes the entry of a key, which is at `at`, findable. */
static void place(sagg *agg, const sagg__key *key, uint32_t at, struct run *run)
{
    sagg__stack *stack = SAGG__AT(sagg__stack, agg->stacks.array, key->stack);
    count_type(agg, stack, key->slot);
    if (key->twin != SAGG__NO_TWIN)
        count_type(agg, stack, key->twin);
    if (!joins_run(run, at)) {
        sagg__index_put(&agg->entries.index, hash_of(key), at);
        return;
    }
    if (run->first == run->end) {
        stack->entries = at + 1;
        run->first = at;
    }
    run->end = at + 1;
}

/* ---- adding ---- */

void sagg__add_dropped(sagg *agg, uint32_t slot, uint32_t thread, const sagg_totals *totals)
{
    agg->adds++;
    sagg__sum(agg, sagg__dropped_row(agg, thread, slot), totals);
    sagg__sum_one(agg, &agg->loss.samples_dropped, totals->samples);
}

/* Drops an entry without room; the error bounds grow by its values. */
static void refuse(sagg *agg, const sagg__entry *entry)
{
    for (uint32_t half = 0; half < sagg__entry_halves(entry); half++) {
        sagg__entry one = sagg__entry_half(entry, half);
        sagg__add_dropped(agg, one.key.slot, one.key.thread, &one.totals);
        sagg__sum_one(agg, &agg->error_bound[one.key.slot], one.totals.value);
    }
}

/* Makes room for one more entry. Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM. */
static int reserve(sagg *agg, bool in_run)
{
    return in_run ? sagg__set_extend(agg, &agg->entries, sizeof(sagg__kept))
                  : sagg__set_reserve(agg, &agg->entries, sizeof(sagg__kept));
}

/* Writes an entry. Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM; after an error nothing is changed.
 * An entry that was at `at` or after it before always has room. */
static inline int put(sagg *agg, uint32_t at, const sagg__entry *entry)
{
    const sagg_totals *totals = &entry->totals;
    if (totals->samples > UINT32_MAX || at < agg->high_samples.capacity) {
        int rc = sagg__grow(&agg->mem, &agg->high_samples, (size_t)at + 1, sizeof(uint32_t));
        if (rc != 0)
            return rc;
        *SAGG__AT(uint32_t, agg->high_samples, at) = (uint32_t)(totals->samples >> 32);
    }
    *SAGG__AT(sagg__kept, agg->entries.array, at) =
        (sagg__kept){entry->key, (uint32_t)totals->samples, totals->raw_value, totals->value};
    return 0;
}

/* Drops the entry when a limit leaves no room for it. */
static int refuse_on_limit(sagg *agg, int rc, const sagg__entry *entry)
{
    if (rc != SAGG_ERR_LIMIT)
        return rc;
    agg->full = true;
    refuse(agg, entry);
    return 0;
}

/* Appends a new entry. */
static inline int append(sagg *agg, const sagg__entry *entry, struct run *run)
{
    uint32_t at = agg->entries.count;
    int rc = reserve(agg, joins_run(run, at));
    if (rc == 0)
        rc = put(agg, at, entry);
    if (rc != 0)
        return refuse_on_limit(agg, rc, entry);
    place(agg, &entry->key, at, run);
    agg->entries.count++;
    return 0;
}

static int add_to(sagg *agg, uint32_t at, const sagg__entry *from)
{
    sagg__entry entry = sagg__entry_at(agg, at);
    sagg__sum(agg, &entry.totals, &from->totals);
    return refuse_on_limit(agg, put(agg, at, &entry), from);
}

/* Finds an entry in its run or in the index. While a run is at the end of all entries and can grow,
 * the index has no entries of its stack, since those would be after the run. */
static bool find(const sagg *agg, const sagg__key *key, const struct run *run, uint32_t *at)
{
    struct wanted_entry wanted = {agg, key};
    if (find_in_run(&wanted, run, at))
        return true;
    return !joins_run(run, agg->entries.count) &&
           sagg__index_find(&agg->entries.index, hash_of(key), is_entry, &wanted, at);
}

/* Splits an entry's pair of types into two entries. Without memory the pair stays. */
static int part(sagg *agg, uint32_t at, struct run *run)
{
    sagg__entry pair = sagg__entry_at(agg, at);
    sagg__entry first = sagg__entry_half(&pair, 0);
    sagg__entry second = sagg__entry_half(&pair, 1);
    int rc = put(agg, at, &first);
    if (rc == 0)
        rc = append(agg, &second, run);
    if (rc != 0)
        (void)put(agg, at, &pair); /* there is room, since it was there before */
    return rc;
}

/* Adds to an entry, or appends one. `run` is the run of its stack. Returns 0 or SAGG_ERR_NOMEM. */
static int add_entry(sagg *agg, const sagg__entry *from, struct run *run)
{
    uint32_t at;
    if (!find(agg, &from->key, run, &at))
        return append(agg, from, run);
    const sagg__key *key = &SAGG__AT(sagg__kept, agg->entries.array, at)->key;
    if (__builtin_expect(key->slot == from->key.slot && key->twin == from->key.twin, 1))
        return add_to(agg, at, from);
    int rc = 0;
    if (key->twin != SAGG__NO_TWIN)
        rc = part(agg, at, run);
    for (uint32_t half = 0; rc == 0 && half < sagg__entry_halves(from); half++) {
        sagg__entry one = sagg__entry_half(from, half);
        rc = add_entry(agg, &one, run);
    }
    return rc;
}

/* The entries are spread over a table larger than the caches, so each step prefetches the memory of
 * the next. Most entries of one stack are adjacent. */
static void ask_for_memory(const sagg *agg, const sagg__entry *entries, size_t count)
{
    uint32_t last = SAGG_DROPPED;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].key.stack != last)
            __builtin_prefetch(first_of(agg, entries[i].key.stack), 1);
        last = entries[i].key.stack;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t first = entries[i].key.stack != last ? *first_of(agg, entries[i].key.stack) : 0;
        if (first != 0)
            __builtin_prefetch(SAGG__AT(sagg__kept, agg->entries.array, first - 1), 1);
        last = entries[i].key.stack;
    }
}

size_t sagg__add_entries(sagg *agg, const sagg__entry *entries, size_t count)
{
    struct run run = {.stack = SAGG_DROPPED};
    ask_for_memory(agg, entries, count);
    for (size_t i = 0; i < count; i++) {
        const sagg__key *key = &entries[i].key;
        if (key->stack == SAGG_DROPPED) {
            refuse(agg, &entries[i]);
            continue;
        }
        if (key->stack != run.stack)
            run = run_of(agg, key->stack, agg->entries.count);
        agg->adds += sagg__entry_halves(&entries[i]);
        if (add_entry(agg, &entries[i], &run) != 0)
            return i;
    }
    return count;
}

/* ---- compacting ---- */

void sagg__entries_forget(sagg *agg)
{
    memset(agg->type_stacks, 0, sizeof(agg->type_stacks));
    for (uint32_t i = 0; i < agg->stacks.count; i++) {
        sagg__stack *stack = SAGG__AT(sagg__stack, agg->stacks.array, i);
        stack->entries = 0;
        memset(stack->types, 0, sizeof(stack->types));
    }
    sagg__index_clear(&agg->entries.index);
}

void sagg__entries_keep(sagg *agg, uint32_t at, const sagg__entry *entry)
{
    struct run run = run_of(agg, entry->key.stack, at);
    int rc = put(agg, at, entry);
    (void)rc; /* there is room */
    place(agg, &entry->key, at, &run);
}
