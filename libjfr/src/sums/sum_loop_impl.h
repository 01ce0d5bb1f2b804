/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of sums, compiled once for each instruction set. */
#include "pools/frames_impl.h"
#include "sums/pattern_impl.h"
#include "sums/sum_add_impl.h"

/*
 * The key of an event's layout. Most events are short: less than 32 bytes, with a size of one byte
 * and a type in its shortest form. Size, type and pattern of a short event form one number, so one
 * comparison checks all three. The key of other events is their pattern and the bit of their size;
 * their type is compared separately.
 */
enum { SHORT = 32, HEAD_BITS = 24 };
#define LONG_KEY (UINT64_C(1) << 62) /* a bit that no short event's key has */

static inline bool is_of(const jfr__sum_shape *shape, const uint8_t *p)
{
    return (jfr__load_64(p) & shape->type_mask) == shape->type_bits;
}

static inline uint64_t short_key(uint64_t type_mask, const uint8_t *p, size_t size)
{
    const uint64_t head = jfr__load_64(p) & (type_mask | 0xFF);
    return jfr__first_bits(jfr__continuing_32(p), size) << HEAD_BITS | head;
}

static inline uint64_t long_key(const uint8_t *p, size_t size)
{
    return jfr__first_bits(jfr__continuing(p), size) | UINT64_C(1) << size | LONG_KEY;
}

static inline uint64_t key_of(const jfr__sum_shape *shape, const uint8_t *p, size_t size)
{
    return p[0] < SHORT && is_of(shape, p) ? short_key(shape->type_mask, p, size)
                                           : long_key(p, size);
}

static inline uint64_t pattern_of(uint64_t key)
{
    return (key & LONG_KEY) != 0 ? key : key >> HEAD_BITS;
}

static inline size_t layout_slot(uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - JFR__LAYOUT_BITS));
}

static inline uint64_t field(const jfr__layout *layout, const uint8_t *p, enum jfr__sum_slot slot)
{
    const unsigned at = layout->at[slot];
    if (at == 0)
        return 0;
    const unsigned bytes = (unsigned)__builtin_ctzll(~pattern_of(layout->key) >> at) + 1;
    return jfr__gather(jfr__load_64(p + at), jfr__gather_mask(bytes));
}

/* Adds an event of any shape. */
static inline bool add_any(jfr__tally *sums, const jfr__sum_shape *shape, const jfr__layout *layout,
                           const uint8_t *p)
{
    uint64_t fields[JFR__SUM_SLOTS];
    for (int i = 0; i < JFR__SUM_SLOTS; i++)
        fields[i] = field(layout, p, (enum jfr__sum_slot)i);
    jfr__lane lane = jfr__sums_lane(sums, shape, fields);
    return jfr__sums_add(sums, shape, &lane, fields);
}

enum { AHEAD = 2048 }; /* bytes of prefetch distance for memory that is read once */

/*
 * Events that are decoded but not yet added to their rows. Successive events that are equal in all
 * wanted fields form one group.
 */
enum { BATCH = 256, LANES = 4 };
#define FLOOR_END (UINT64_C(1) << 56) /* the sum of a batch of smaller floors does not overflow */

typedef struct group {
    union {
        jfr__near fields; /* in the order of jfr__sum_slot */
        struct {
            uint32_t thread;
            uint32_t stack;
            uint32_t first;
            uint32_t second;
        };
    };
    uint64_t key;   /* of its row */
    uint32_t row;   /* the row that it most likely has */
    uint32_t count; /* the batch's events up to the last of this group */
} group;

typedef struct batch {
    uint32_t count;                /* of groups */
    group groups[BATCH + LANES];   /* from 1 on; the one at 0 ends before the first event */
    int32_t ratios[BATCH + LANES]; /* second / first, for recipes that need it */
} batch;

/* Returns whether an event that is not short has the shape's type and can have a layout. */
static inline bool is_long(const jfr__sum_shape *shape, const uint8_t *p, size_t size)
{
    return is_of(shape, p) && size >= SHORT && size <= JFR__EVENT_MAX;
}

/* Returns the group of an event: the last group if all four fields are equal, else the next one. It
 * uses no branch, which would be hard to predict, and as little arithmetic as possible. */
static inline group *group_of(group *last, uint32_t same)
{
#ifdef __clang_analyzer__ /* it cannot follow the byte arithmetic from group to group */
    return last + (same != (1u << JFR__NEAR) - 1);
#else
    enum { NEXT = sizeof(group) };
    static const uint64_t steps[1 << JFR__NEAR] = {NEXT, NEXT, NEXT, NEXT, NEXT, NEXT, NEXT, NEXT,
                                                   NEXT, NEXT, NEXT, NEXT, NEXT, NEXT, NEXT, 0};
    return (group *)(void *)((uint8_t *)last + steps[same]);
#endif
}

/* The state of reading a batch. */
typedef struct place {
    const uint8_t *p;
    group *to;      /* the last group */
    jfr__near last; /* its fields */
    uint32_t events;
} place;

/* Reads an event, unless it has another shape or no near layout. `layouts` and `type_mask` are the
 * shape's, passed separately so that they stay in registers. */
static inline __attribute__((always_inline)) bool
read_event(place *at, const jfr__sum_shape *shape, const jfr__layout *layouts, uint64_t type_mask)
{
    const uint8_t *p = at->p;
    size_t size = p[0];
    uint64_t key = short_key(type_mask, p, size);
    const jfr__layout *layout = &layouts[layout_slot(key)];
    __asm__("" : "+r"(layout)); /* one pointer, not a sum for each field */
    if (__builtin_expect(layout->key != key, 0)) {
        if (!is_long(shape, p, size))
            return false;
        key = long_key(p, size);
        layout = &layouts[layout_slot(key)];
        if (layout->key != key)
            return false;
    }
    jfr__near fields = jfr__gather_near(p + layout->from, &layout->picks);
    at->to = group_of(at->to, jfr__near_equal(fields, at->last));
    at->to->fields = fields;
    at->to->count = ++at->events;
    at->last = fields;
    at->p = p + size;
    return true;
}

enum { FOUR = 4 };

/* Reads four events, which all begin below the stop. */
static inline __attribute__((always_inline)) bool
read_four(place *at, const jfr__sum_shape *shape, const jfr__layout *layouts, uint64_t type_mask)
{
    __builtin_prefetch(at->p + AHEAD);
    __builtin_prefetch(at->p + AHEAD + 64);
#pragma GCC unroll 4
    for (int i = 0; i < FOUR; i++)
        if (!read_event(at, shape, layouts, type_mask))
            return false;
    return true;
}

/* Reads events of one simple shape, whose size takes a byte, as long as they follow one another and
 * have near layouts. Returns where it stopped. */
static inline __attribute__((always_inline)) const uint8_t *
read_groups(batch *out, const jfr__sum_shape *shape, const uint8_t *p, const uint8_t *stop)
{
    enum { BYTES = FOUR * JFR__EVENT_MAX };
    const jfr__layout *layouts = shape->layouts;
    const uint64_t type_mask = shape->type_mask;
    place at = {
        .p = p, .to = out->groups, .last = ~(jfr__near){0}}; /* equal to no event's fields */
    bool more = true;
    __asm__("" : "+r"(layouts)); /* nor one for each layout */
    at.to->count = 0;
    while (more && at.events <= BATCH - FOUR && stop - at.p > BYTES)
        more = read_four(&at, shape, layouts, type_mask);
    while (more && at.events < BATCH && at.p < stop)
        more = read_event(&at, shape, layouts, type_mask);
    out->count = (uint32_t)(at.to - out->groups);
    return at.p;
}

typedef int32_t lanes_i32 __attribute__((vector_size(4 * LANES)));
typedef double lanes_f64 __attribute__((vector_size(8 * LANES)));

/* Computes jfr__ratio for numbers of 28 bits, LANES at a time. The floating-point quotient of two
 * such numbers is never rounded up to a whole number. */
static inline void find_ratios(batch *all)
{
    for (uint32_t i = 1; i < LANES; i++)
        all->groups[all->count + i].fields = (jfr__near){0};
    for (uint32_t i = 1; i <= all->count; i += LANES) {
        const group *g = &all->groups[i];
        lanes_i32 by = {(int32_t)g[0].first, (int32_t)g[1].first, (int32_t)g[2].first,
                        (int32_t)g[3].first};
        lanes_i32 x = {(int32_t)g[0].second, (int32_t)g[1].second, (int32_t)g[2].second,
                       (int32_t)g[3].second};
        x += by >> 1;
        by |= (by == 0) & INT32_MAX;
        lanes_i32 ratio = __builtin_convertvector(__builtin_convertvector(x, lanes_f64) /
                                                      __builtin_convertvector(by, lanes_f64),
                                                  lanes_i32);
        ratio -= ratio == 0; /* at least one */
        memcpy(&all->ratios[i], &ratio, sizeof(ratio));
    }
}

/* Finds the keys of the groups' rows. */
static inline bool find_lanes(jfr__tally *sums, jfr__sum_shape *shape, batch *all)
{
    for (uint32_t i = 1; i <= all->count; i++) {
        group *g = &all->groups[i];
        const jfr__near_lane *near = &shape->near[g->thread % JFR__LANES_NEAR];
        __asm__("" : "+r"(near)); /* as in read_groups */
        if (__builtin_expect(near->thread != g->thread, 0))
            near = jfr__sums_near(sums, shape, g->thread);
        if (__builtin_expect(near == NULL, 0))
            return false;
        g->key = near->key | g->stack;
        uint64_t hash = jfr__sums_hash(sums, g->key);
        __builtin_prefetch(&sums->buckets[jfr__sums_bucket(sums, hash)]);
    }
    return true;
}

static inline bool find_rows(jfr__tally *sums, jfr__sum_shape *shape, batch *all)
{
    if (!find_lanes(sums, shape, all))
        return false;
    for (uint32_t i = 1; i <= all->count; i++) {
        group *g = &all->groups[i];
        g->row = jfr__sums_guess_row(sums, jfr__sums_hash(sums, g->key));
        __builtin_prefetch(&sums->rows[g->row], 1); /* 0: row 0, which no key has */
    }
    return true;
}

/* Finds the keys and rows of groups that all have the same lane. */
static inline bool guess_rows(jfr__tally *sums, jfr__sum_shape *shape, batch *all)
{
    const jfr__near_lane *near = &shape->near[0];
    if (__builtin_expect(near->thread != 0, 0))
        near = jfr__sums_near(sums, shape, 0);
    if (__builtin_expect(near == NULL, 0))
        return false;
    const uint64_t key = near->key;
    for (uint32_t i = 1; i <= all->count; i++) {
        group *g = &all->groups[i];
        g->key = key | g->stack;
        g->row = *jfr__sums_guess_at(sums, g->key);
        __builtin_prefetch(&sums->rows[g->row], 1); /* 0: as in find_rows */
    }
    return true;
}

/* Returns the amounts that the group adds to its row besides its count of events. */
static inline __attribute__((always_inline)) jfr__amounts
amounts_of(const batch *all, uint32_t i, uint64_t events, const jfr__recipe recipe, uint64_t floor)
{
    const group *g = &all->groups[i];
    jfr__amounts each = recipe == JFR__ADD_TLAB
                            ? (jfr__amounts){g->second, (uint32_t)all->ratios[i]}
                            : jfr__amounts_of(recipe, floor, g->first, g->second);
    return (jfr__amounts){events * each.a, events * each.b};
}

/*
 * Adds groups to their rows. The rows are spread over a table larger than the caches, so each step
 * prefetches the memory of the next.
 */
static inline __attribute__((always_inline)) bool
add_groups(jfr__tally *sums, jfr__sum_shape *shape, batch *all, const jfr__recipe recipe)
{
    if (sums->guesses != NULL ? !guess_rows(sums, shape, all) : !find_rows(sums, shape, all))
        return false;
    for (uint32_t i = 1; i <= all->count; i++) {
        const group *g = &all->groups[i];
        jfr__row *row = &sums->rows[g->row];
        if (__builtin_expect(row->key != g->key, 0))
            row = jfr__sums_row(sums, g->key);
        if (__builtin_expect(row == NULL, 0))
            return false;
        uint64_t events = g->count - g[-1].count;
        jfr__row_add(row, events, amounts_of(all, i, events, recipe, shape->floor));
    }
    return true;
}

/*
 * Adds events of one simple shape, whose size takes a byte, as long as they follow one another and
 * have near layouts. Returns the first event that does not fit.
 */
static inline __attribute__((always_inline)) const uint8_t *
run(jfr__tally *sums, jfr__sum_shape *shape, const uint8_t *p, const uint8_t *stop,
    const jfr__recipe recipe)
{
    batch all;
    uint32_t events = BATCH;
    while (events == BATCH) {
        p = read_groups(&all, shape, p, stop);
        if (recipe == JFR__ADD_TLAB)
            find_ratios(&all);
        events = all.groups[all.count].count;
        sums->events += events;
        if (!add_groups(sums, shape, &all, recipe))
            break;
    }
    return p;
}

/* Adds the wanted event at `p`, and the events of its shape after it. Returns NULL when the event
 * has no layout, and else the next event; that is `p` after an error, which sums->rc holds. */
static inline const uint8_t *add_events(jfr__tally *sums, jfr__sum_shape *shape, const uint8_t *p,
                                        const uint8_t *stop, size_t head, size_t size)
{
    uint64_t key = key_of(shape, p, size);
    jfr__layout *layout = &shape->layouts[layout_slot(key)];
    if ((layout->key & ~JFR__FAR) != key) {
        if (!jfr__sums_make_layout(layout, shape, p, head, size))
            return NULL;
        layout->key |= key;
        sums->stats.slow_events++;
    }
    const uint8_t *next = p;
    bool plain = layout->key == key && shape->simple && p[0] < 0x80;
    if (plain && shape->recipe == JFR__ADD_TLAB)
        next = run(sums, shape, p, stop, JFR__ADD_TLAB);
    if (plain && shape->recipe == JFR__ADD_FIRST)
        next = run(sums, shape, p, stop, JFR__ADD_FIRST);
    if (plain && shape->recipe == JFR__ADD_FLOOR && shape->floor < FLOOR_END)
        next = run(sums, shape, p, stop, JFR__ADD_FLOOR);
    if (next != p)
        return next;
    if (!add_any(sums, shape, layout, p))
        return p;
    sums->events++;
    return p + size;
}

static inline const uint8_t *loop(jfr__tally *sums, const uint8_t *p, const uint8_t *stop)
{
    while (p < stop && sums->rc == 0) {
        size_t size_bytes, type_bytes;
        size_t size = jfr__size_at(p, &size_bytes);
        uint32_t type = jfr__type_at(p + size_bytes, &type_bytes);
        size_t head = size_bytes + type_bytes;
        if (size < head || size > JFR__EVENT_MAX || type == JFR__TYPES_NEAR)
            break;
        uint32_t number = sums->shape_of[type];
        if (number == 0) {
            sums->events++;
            p += size;
            continue;
        }
        if (__builtin_expect(number == JFR__TO_COME, 0))
            break;
        const uint8_t *next = add_events(sums, &sums->shapes[number - 1], p, stop, head, size);
        if (next == NULL)
            break;
        p = next;
    }
    return p;
}

/*
 * Decodes frames of four integers and at most eight bytes. A frame ends where the fourth integer
 * from its start ends; the pattern of its bytes gives its fields.
 */
static inline const uint8_t *frames(const jfr__frames *by, const uint8_t *p, const uint8_t *stop,
                                    jfr_frame_ref **out, uint32_t *left)
{
    const jfr__idmap *ids = by->methods;
    const uint32_t *direct = ids->direct;
    const uint64_t max_id = ids->max_key;
    const bool dense = direct != NULL;
    const jfr__frame_type *types = by->types;
    jfr_frame_ref *to = *out;
    jfr_frame_ref *const end = to + *left;
    while (p < stop && to < end) {
        uint64_t continuing = jfr__continuing(p);
        uint64_t ends = ~continuing;
        unsigned at = 0;
        while (to < end) {
            uint64_t fourth = ends & (ends - 1);
            fourth &= fourth - 1;
            fourth &= fourth - 1;
            unsigned next = (unsigned)__builtin_ctzll(fourth | UINT64_C(1) << 63) + 1;
            if (__builtin_expect(fourth == 0 || next - at > 8, 0))
                break;
            const jfr__frame_layout *form = &by->layouts[continuing >> at & 0xFF];
            uint64_t bytes = jfr__load_64(p + at);
            uint64_t id = jfr__gather_at(bytes, &form->method);
            uint32_t method = dense && id <= max_id ? direct[id] - 1u : jfr__idmap_find(ids, id);
            *to++ = jfr__frame_ref(types, method, jfr__gather_at(bytes, &form->line),
                                   jfr__gather_at(bytes, &form->type));
            ends = fourth & (fourth - 1);
            at = next;
        }
        p += at;
        if (at == 0)
            break;
    }
    *left = (uint32_t)(end - to);
    *out = to;
    return p;
}

/* Looks up the value of a frame. `more` is compared only if the frame is `longer` than eight bytes.
 */
static inline __attribute__((always_inline)) bool find_value(const jfr__memo_bucket *buckets,
                                                             unsigned bits, jfr__frame_bytes frame,
                                                             bool longer, uint32_t *value)
{
    size_t at = jfr__memo_bucket_of(frame, bits);
    for (int way = 0; way < JFR__MEMO_WAYS; way++) {
        const jfr__memo_bucket *bucket = &buckets[at];
        size_t found = jfr__equal_four(bucket->first, frame.first);
        for (; longer && found != 0; found &= found - 1)
            if (bucket->more[__builtin_ctzll(found)] == frame.more)
                break;
        if (__builtin_expect(found != 0, 1)) {
            *value = bucket->values[__builtin_ctzll(found)];
            return true;
        }
        if (bucket->first[JFR__MEMO_BUCKET - 1] == JFR__FREE_SLOT)
            break;
        at = (at + 1) & (((size_t)1 << bits) - 1);
    }
    return false;
}

/*
 * Looks up frames by their bytes, in blocks of bytes that do not depend on where frames end.
 * `ended` is the number of integers of the frame across two blocks that ended in the first block.
 */
static inline const uint8_t *values(const jfr__memo_bucket *buckets, unsigned bits,
                                    const uint8_t *p, const uint8_t *stop, uint32_t **out,
                                    uint32_t *left)
{
    uint32_t *to = *out;
    uint32_t *const end = to + *left;
    unsigned ended = 0;
    for (const uint8_t *block = p; block < stop && to < end; block += 64) {
        uint64_t ends = ~jfr__continuing(block);
        uint64_t fourths = jfr__every_fourth(ends, ended);
        size_t wanted = (size_t)(end - to);
        __builtin_prefetch(block + AHEAD);
        ended += jfr__count_bits(ends);
        if (wanted < 64 / 4) /* at most this many frames end here */
            fourths = jfr__first_set(fourths, (unsigned)wanted);
        for (; fourths != 0; fourths &= fourths - 1) {
            const uint8_t *next = block + __builtin_ctzll(fourths) + 1;
            size_t size = (size_t)(next - p);
            jfr__frame_bytes frame = {jfr__load_64(p), 0};
            bool known = false;
            if (__builtin_expect(size <= 8, 1)) {
                frame.first = jfr__first_bytes(frame.first, size);
                known = find_value(buckets, bits, frame, false, to);
            } else if (size <= JFR__FRAME_BYTES) {
                frame.more = (uint32_t)jfr__first_bytes(jfr__load_64(p + 8), size - 8);
                known = find_value(buckets, bits, frame, true, to);
            }
            if (__builtin_expect(!known, 0))
                goto done;
            to++;
            p = next;
        }
    }
done:
    *left = (uint32_t)(end - to);
    *out = to;
    return p;
}

/* Skips integers, none of which may take nine bytes. */
static inline const uint8_t *skip(const uint8_t *p, const uint8_t *stop, uint64_t *count)
{
    while (*count > 0 && p < stop) {
        uint64_t continuing = jfr__continuing(p);
        uint64_t ends = ~continuing;
        __builtin_prefetch(p + AHEAD);
        unsigned whole = jfr__count_bits(ends);
        if (whole == 0 || jfr__has_nine(continuing))
            break;
        if (whole > *count) {
            p += jfr__nth_bit(ends, (unsigned)*count) + 1;
            *count = 0;
            break;
        }
        p += 64 - __builtin_clzll(ends);
        *count -= whole;
    }
    return p;
}
