/* SPDX-License-Identifier: Apache-2.0 */
/* The private structure of an aggregate, for the files that fill, compact, merge and read it. */
#ifndef STACKAGG_AGGREGATE_INTERNAL_H
#define STACKAGG_AGGREGATE_INTERNAL_H

#include "frames/names_impl.h"

/* The value in slot_of[] of an unknown type. */
#define SAGG__NO_SLOT 0xFFu

typedef struct sagg__method {
    uint64_t hash;
    uint32_t class_name; /* numbers of names */
    uint32_t method;
    uint32_t file; /* the smallest seen, bytewise */
    uint8_t kind;
} sagg__method;

typedef struct sagg__frame {
    uint64_t id;
    uint32_t method;
    uint32_t line;
} sagg__frame;

typedef struct sagg__stack {
    uint32_t first; /* in stack_frames */
    uint32_t count : 31;
    uint32_t wide : 1; /* a frame has more than 16 bits: each takes two numbers of stack_frames */
    uint32_t entries;  /* the first entry + 1; 0 = none: see entries.c */
    uint32_t types[2]; /* a bit for the slot of each type that it has entries of */
} sagg__stack;

typedef struct sagg__thread {
    int64_t os_tid;
    int64_t java_tid;
    uint32_t name;
    uint32_t pool;
    uint32_t pool_thread; /* itself, when it is the pool's thread */
} sagg__thread;

typedef struct sagg__label {
    uint32_t tag;
    uint32_t text;
} sagg__label;

/* The twin of an entry that has one type. */
#define SAGG__NO_TWIN 0xFFu

/* The key of an entry. */
typedef struct sagg__key {
    uint32_t stack;
    uint32_t thread;
    uint16_t label;
    uint8_t slot; /* of the type */
    uint8_t twin; /* of the second type of a pair, or SAGG__NO_TWIN */
} sagg__key;

_Static_assert(SAGG_MAX_LABELS <= UINT16_MAX + 1, "labels have 16 bits in keys");

/*
 * The totals of one type, or of two types of the same events, such as bytes and objects allocated,
 * in half the memory. In such a pair the first type's value equals its raw value, and the second's
 * raw value equals the number of samples. `raw_value` is then both numbers of the first type, and
 * `value` is the second type's value. Types that do not form such a pair have an entry each.
 */
typedef struct sagg__entry {
    sagg__key key;
    sagg_totals totals;
} sagg__entry;

/* An entry as it is stored; very few have samples of more than 32 bits. */
typedef struct sagg__kept {
    sagg__key key;
    uint32_t samples; /* the low half: sagg__entry_at */
    uint64_t raw_value;
    uint64_t value;
} sagg__kept;

/* Returns how many types an entry has. */
static inline uint32_t sagg__entry_halves(const sagg__entry *entry)
{
    return entry->key.twin != SAGG__NO_TWIN ? 2 : 1;
}

/* Returns the entry that one of its types would have alone. */
static inline sagg__entry sagg__entry_half(const sagg__entry *entry, uint32_t half)
{
    sagg__entry one = *entry;
    if (entry->key.twin == SAGG__NO_TWIN)
        return one;
    one.key.twin = SAGG__NO_TWIN;
    if (half == 0) {
        one.totals.value = entry->totals.raw_value;
    } else {
        one.key.slot = entry->key.twin;
        one.totals.raw_value = entry->totals.samples;
    }
    return one;
}

/* Returns the value that an entry has of a type; 0 where it has none. */
static inline uint64_t sagg__kept_value(const sagg__kept *kept, uint32_t slot)
{
    const bool is_pair = kept->key.twin != SAGG__NO_TWIN;
    if (kept->key.slot == slot)
        return is_pair ? kept->raw_value : kept->value;
    return is_pair && kept->key.twin == slot ? kept->value : 0;
}

/* The type and pool of a row of per-second totals. */
typedef struct sagg__second_row {
    uint32_t slot;
    uint32_t thread;
} sagg__second_row;

/* An array, its number of used elements, and an index over them. */
typedef struct sagg__set {
    sagg__array array;
    uint32_t count;
    sagg__index index;
} sagg__set;

struct sagg {
    sagg__mem mem;
    int normaliser;
    int group;
    uint32_t max_stacks;
    uint32_t max_threads;
    uint32_t max_frames;
    int64_t origin_ns;
    uint32_t seconds;

    uint32_t type_count;
    sagg_type types[SAGG_MAX_TYPE];
    uint8_t slot_of[SAGG_MAX_TYPE + 1];
    char *type_text; /* names and units of the types */
    size_t type_text_size;
    char *renamed[SAGG_MAX_TYPE]; /* by slot: the type's name since sagg_type_rename */

    sagg__names names;
    sagg__set methods;        /* sagg__method */
    sagg__set frames;         /* sagg__frame */
    sagg__set stacks;         /* sagg__stack */
    sagg__array stack_frames; /* uint16_t: very few aggregates have more frames */
    uint32_t stack_frames_used;
    sagg__set threads; /* sagg__thread */
    uint32_t exact_threads;
    uint32_t pool_threads;
    sagg__set labels;         /* sagg__label */
    sagg__set entries;        /* sagg__kept; the index has those outside of runs */
    sagg__array high_samples; /* uint32_t by entry: the high halves; beyond the end = 0 */

    sagg_totals totals[SAGG_MAX_TYPE];
    sagg__array thread_totals; /* sagg_totals [thread][slot] */
    sagg__array dropped;       /* sagg_totals [thread][slot] */
    sagg__set second_rows;     /* sagg__second_row */
    sagg__array second_values; /* uint64_t [row][second] */
    uint64_t error_bound[SAGG_MAX_TYPE];
    uint32_t type_stacks[SAGG_MAX_TYPE]; /* stacks that have entries, by slot */
    sagg_loss loss;
    uint64_t adds;       /* since the last compaction */
    bool full;           /* a sample, stack or frame was refused since the last compaction */
    sagg__array scratch; /* char: names being cleaned; text being hashed */
};

/* Element `i` of a set or array of T. */
#define SAGG__AT(T, array_, i) ((T *)(array_).items + (i))

static inline sagg__entry sagg__entry_at(const sagg *agg, uint32_t at)
{
    const sagg__kept *kept = SAGG__AT(sagg__kept, agg->entries.array, at);
    uint64_t high =
        at < agg->high_samples.capacity ? *SAGG__AT(uint32_t, agg->high_samples, at) : 0;
    return (sagg__entry){kept->key, {kept->raw_value, kept->value, high << 32 | kept->samples}};
}

/* Returns the frames of a stack, leaf first. */
static inline void *sagg__stack_frames(const sagg *agg, const sagg__stack *stack)
{
    return SAGG__AT(uint16_t, agg->stack_frames, stack->first);
}

/* Returns a stack in the form of the public interface. */
static inline sagg_stack sagg__stack_view(const sagg *agg, const sagg__stack *stack)
{
    return (sagg_stack){stack->count > 0 ? sagg__stack_frames(agg, stack) : NULL, stack->count,
                        stack->wide ? 4 : 2};
}

/* Returns where a stack's frames begin when `used` numbers precede them. */
static inline uint64_t sagg__stack_begin(const sagg__stack *stack, uint64_t used)
{
    return stack->wide ? (used + 1) / 2 * 2 : used;
}

/* Returns where a stack's frames end when they begin at `first`. */
static inline uint64_t sagg__stack_end(const sagg__stack *stack, uint64_t first)
{
    return first + ((uint64_t)stack->count << stack->wide);
}

/* Stores frame `at` of a stack whose frames are at `frames`. */
static inline void sagg__put_frame(void *frames, bool wide, uint32_t at, uint32_t frame)
{
    if (wide)
        ((uint32_t *)frames)[at] = frame;
    else
        ((uint16_t *)frames)[at] = (uint16_t)frame;
}

/* Makes room in a set, but not in its index, for one more element of `each` bytes. */
static inline int sagg__set_extend(sagg *agg, sagg__set *set, size_t each)
{
    if (set->count == UINT32_MAX - 1)
        return SAGG_ERR_LIMIT;
    return sagg__extend(&agg->mem, &set->array, (size_t)set->count + 1, each);
}

/* Makes room in a set and in its index. */
static inline int sagg__set_reserve(sagg *agg, sagg__set *set, size_t each)
{
    int rc = sagg__set_extend(agg, set, each);
    return rc != 0 ? rc : sagg__index_reserve(&agg->mem, &set->index);
}

void sagg__set_free(sagg *agg, sagg__set *set, size_t each);

/* Returns `bytes` of scratch memory, valid until the next call; NULL when there is none. */
void *sagg__scratch(sagg *agg, size_t bytes);

/* Interns a frame whose names are prepared. Returns as sagg_add_frame. */
int sagg__intern_frame(sagg *agg, uint32_t *index, const sagg_frame *frame);

/* Returns the hash under which a stack is in its index. */
uint64_t sagg__stack_hash(const sagg *agg, uint32_t stack);

/* Computes the id of an existing stack. */
void sagg__stack_id(const sagg *agg, uint32_t stack, sagg_stack_id *id);

/* Makes the rows that always exist: the dropped stack, the two threads, the empty label, their
 * seconds. */
int sagg__add_stack_zero(sagg *agg);
int sagg__add_first_threads(sagg *agg);
int sagg__seconds_init(sagg *agg);

/* Adds to sums, counting those that saturate. */
void sagg__sum(sagg *agg, sagg_totals *into, const sagg_totals *from);
void sagg__sum_one(sagg *agg, uint64_t *into, uint64_t value);

/* Adds to sums, unless one of them would overflow. */
static inline bool sagg__sum_up(sagg_totals *into, const sagg_totals *from)
{
    sagg_totals both;
    if (__builtin_add_overflow(into->raw_value, from->raw_value, &both.raw_value) ||
        __builtin_add_overflow(into->value, from->value, &both.value) ||
        __builtin_add_overflow(into->samples, from->samples, &both.samples))
        return false;
    *into = both;
    return true;
}
/* Adds to the totals of a type, a thread and its pool. */
void sagg__keep_sums(sagg *agg, uint32_t slot, uint32_t thread, const sagg_totals *totals);

/*
 * entries.c: adds to the entries with the same keys, or to the dropped totals when there is no room
 * or the stack is SAGG_DROPPED; for some dozens at a time. Returns how many it added: less than
 * `count` when there is no memory.
 */
size_t sagg__add_entries(sagg *agg, const sagg__entry *entries, size_t count);
/*
 * For moving entries. sagg__entries_forget makes all entries unfindable. sagg__entries_keep stores
 * one at `at`, which is its old place or before it, and makes it findable; all before it must be
 * kept already.
 */
void sagg__entries_forget(sagg *agg);
void sagg__entries_keep(sagg *agg, uint32_t at, const sagg__entry *entry);
void sagg__add_dropped(sagg *agg, uint32_t slot, uint32_t thread, const sagg_totals *totals);

/* sagg__add_second adds `value` to the second of time_ns. Returns 0, or SAGG_ERR_NOMEM, which
 * cannot happen after sagg__reserve_second. */
int sagg__reserve_second(sagg *agg, uint32_t slot, uint32_t thread);
int sagg__add_second(sagg *agg, uint32_t slot, uint32_t thread, int64_t time_ns, uint64_t value,
                     uint64_t samples);

/* Returns the thread under which a thread's entries are stored, by the aggregate's group. */
uint32_t sagg__group_thread(const sagg *agg, uint32_t thread);

/* Returns the cursor with which sagg_next returns the first dropped row, after all entries. */
size_t sagg__first_dropped(const sagg *agg);

/* Return a thread's or pool's row of totals. */
sagg_totals *sagg__thread_row(const sagg *agg, uint32_t thread, uint32_t slot);
sagg_totals *sagg__dropped_row(const sagg *agg, uint32_t thread, uint32_t slot);

#endif
