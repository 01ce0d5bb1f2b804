/* The loops of sums, compiled once for each instruction set. */
#include "frames.h"
#include "pattern.h"
#include "sum_add.h"

static inline uint64_t pattern_of(const uint8_t *p, size_t size)
{
    uint64_t continuing =
        __builtin_expect(size <= 32, 1) ? jfr__continuing_32(p) : jfr__continuing(p);
    return jfr__first_bits(continuing, size) | UINT64_C(1) << size;
}

static inline size_t layout_slot(uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - JFR__LAYOUT_BITS));
}

static inline uint64_t field(const jfr__layout *layout, const uint8_t *p, enum jfr__sum_slot slot)
{
    unsigned bytes = layout->bytes[slot];
    uint64_t mask = bytes != 0 ? jfr__gather_mask(bytes) : 0;
    return jfr__gather(jfr__load_64(p + layout->at[slot]), mask);
}

/* Adds an event of any shape. */
static inline bool add_any(jfr_sums *sums, const jfr__sum_shape *shape, const jfr__layout *layout,
                           const uint8_t *p)
{
    uint64_t fields[JFR__SUM_SLOTS];
    for (int i = 0; i < JFR__SUM_SLOTS; i++)
        fields[i] = field(layout, p, (enum jfr__sum_slot)i);
    jfr__lane lane = jfr__sums_lane(sums, shape, fields);
    return jfr__sums_add(sums, shape, &lane, fields);
}

enum { AHEAD = 1024 }; /* bytes: memory that is read once is asked for so far before its use */

/*
 * Events that are decoded but not added to their rows yet. Those that follow one another and are of
 * one row are one group; a mark tells where it begins, and what the events before it add up to.
 */
enum { BATCH = 256, LANES = 4 };
#define FLOOR_END (UINT64_C(1) << 56) /* no sum of so many overflows */

/* What sums need of an event, in the order of jfr__sum_slot. */
typedef struct record {
    uint32_t thread;
    uint32_t stack;
    uint32_t first;
    uint32_t second;
} record;

typedef struct mark {
    uint64_t key; /* of the record's thread and stack, then of the row */
    jfr__amounts before;
    uint32_t events; /* before */
    uint32_t row;
} mark;

typedef struct batch {
    record records[BATCH];
    int32_t ratios[BATCH]; /* of second and first, where the recipe wants them */
    mark marks[BATCH + 1]; /* the one behind the last group ends it */
} batch;

/* Reads events of one simple shape, whose size takes a byte, as long as they follow one another and
 * have near layouts. Returns how many, and moves *at behind them. */
static inline __attribute__((always_inline)) uint32_t
read_records(record *out, const jfr__sum_shape *shape, const uint8_t **at, const uint8_t *stop)
{
    const uint64_t type_mask = shape->type_mask;
    const uint64_t type_bits = shape->type_bits;
    const uint8_t *p = *at;
    record *to = out;
    for (record *const end = out + BATCH; to < end && p < stop; to++) {
        __builtin_prefetch(p + AHEAD);
        size_t size = p[0];
        if ((jfr__load_64(p) & type_mask) != type_bits || size > JFR__EVENT_MAX)
            break;
        uint64_t key = pattern_of(p, size);
        const jfr__layout *layout = &shape->layouts[layout_slot(key)];
        __asm__("" : "+r"(layout)); /* one pointer, not a sum for each field */
        if (__builtin_expect(layout->key != key, 0))
            break;
        uint32_t fields[JFR__NEAR];
        jfr__gather_near(fields, p + layout->from, &layout->picks);
        memcpy(to, fields, sizeof(fields));
        p += size;
    }
    *at = p;
    return (uint32_t)(to - out);
}

typedef int32_t lanes_i32 __attribute__((vector_size(4 * LANES)));
typedef double lanes_f64 __attribute__((vector_size(8 * LANES)));

/* jfr__ratio of numbers of 28 bits, LANES at a time: a quotient of them as real numbers is never
 * rounded up to a whole one. */
static inline void find_ratios(batch *all, uint32_t count)
{
    for (uint32_t i = count; i % LANES != 0; i++)
        all->records[i] = (record){0};
    for (uint32_t i = 0; i < count; i += LANES) {
        const record *r = &all->records[i];
        lanes_i32 by = {(int32_t)r[0].first, (int32_t)r[1].first, (int32_t)r[2].first,
                        (int32_t)r[3].first};
        lanes_i32 x = {(int32_t)r[0].second, (int32_t)r[1].second, (int32_t)r[2].second,
                       (int32_t)r[3].second};
        x += by >> 1;
        by |= (by == 0) & INT32_MAX;
        lanes_i32 ratio = __builtin_convertvector(__builtin_convertvector(x, lanes_f64) /
                                                      __builtin_convertvector(by, lanes_f64),
                                                  lanes_i32);
        ratio -= ratio == 0; /* one at least */
        memcpy(&all->ratios[i], &ratio, sizeof(ratio));
    }
}

/* Returns how many groups there are. */
static inline __attribute__((always_inline)) size_t
find_groups(batch *all, uint32_t count, const jfr__recipe recipe, uint64_t floor)
{
    mark *next = all->marks;
    uint64_t last = UINT64_MAX; /* of no record */
    jfr__amounts sum = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        const record *r = &all->records[i];
        uint64_t key = (uint64_t)r->stack << 32 | r->thread;
        /* No branch: whether an event continues a group is hard to foretell. */
        *next = (mark){.key = key, .before = sum, .events = i};
        next += key != last;
        last = key;
        sum.a += recipe == JFR__ADD_TLAB ? r->second : r->first;
        if (recipe == JFR__ADD_TLAB)
            sum.b += (uint32_t)all->ratios[i];
        if (recipe == JFR__ADD_FLOOR)
            sum.b += jfr__at_least(r->first, floor);
    }
    *next = (mark){.before = sum, .events = count};
    return (size_t)(next - all->marks);
}

/* Puts the rows' keys in the place of the records'. */
static inline bool find_lanes(jfr_sums *sums, jfr__sum_shape *shape, mark *restrict marks,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t thread = (uint32_t)marks[i].key;
        const jfr__near_lane *near = &shape->near[thread % JFR__LANES_NEAR];
        if (__builtin_expect(near->thread != thread, 0))
            near = jfr__sums_near(sums, shape, thread);
        if (__builtin_expect(near == NULL, 0))
            return false;
        marks[i].key = near->key | marks[i].key >> 32;
        uint64_t hash = jfr__sums_hash(sums, marks[i].key);
        __builtin_prefetch(&sums->buckets[jfr__sums_bucket(sums, hash)]);
    }
    return true;
}

static inline void find_rows(const jfr_sums *sums, mark *restrict marks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = jfr__sums_hash(sums, marks[i].key);
        marks[i].row = jfr__sums_guess_row(sums, hash);
        __builtin_prefetch(&sums->rows[marks[i].row], 1); /* 0: a row that is nobody's */
    }
}

/*
 * Adds groups to their rows, which lie all over a table larger than the caches: each step asks for
 * the memory of the next before it is needed.
 */
static inline bool add_groups(jfr_sums *sums, jfr__sum_shape *shape, mark *marks, size_t count)
{
    if (!find_lanes(sums, shape, marks, count))
        return false;
    find_rows(sums, marks, count);
    for (size_t i = 0; i < count; i++) {
        const mark *from = &marks[i];
        const mark *to = &marks[i + 1];
        jfr__row *row = &sums->rows[from->row];
        if (__builtin_expect(row->key != from->key, 0))
            row = jfr__sums_row(sums, from->key);
        if (__builtin_expect(row == NULL, 0))
            return false;
        jfr__row_add(row, to->events - from->events,
                     (jfr__amounts){to->before.a - from->before.a, to->before.b - from->before.b});
    }
    return true;
}

/*
 * Adds events of one simple shape, whose size takes a byte, as long as they follow one another and
 * have near layouts. Returns the first that is another.
 */
static inline __attribute__((always_inline)) const uint8_t *
run(jfr_sums *sums, jfr__sum_shape *shape, const uint8_t *p, const uint8_t *stop,
    const jfr__recipe recipe)
{
    batch all;
    uint32_t count = BATCH;
    while (count == BATCH) {
        count = read_records(all.records, shape, &p, stop);
        if (recipe == JFR__ADD_TLAB)
            find_ratios(&all, count);
        size_t groups = find_groups(&all, count, recipe, shape->floor);
        sums->events += count;
        if (!add_groups(sums, shape, all.marks, groups))
            break;
    }
    return p;
}

/* Adds the wanted event at `p`, and those of its shape behind it. Returns NULL when it has no
 * layout, or the next event, which is `p` when there was no room: sums->rc tells. */
static inline const uint8_t *add_events(jfr_sums *sums, jfr__sum_shape *shape, const uint8_t *p,
                                        const uint8_t *stop, size_t head, size_t size)
{
    uint64_t key = pattern_of(p, size);
    jfr__layout *layout = &shape->layouts[layout_slot(key)];
    if ((layout->key & ~JFR__FAR) != key) {
        if (!jfr__sums_learn(layout, shape, p, head, size))
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

static inline const uint8_t *loop(jfr_sums *sums, const uint8_t *p, const uint8_t *stop)
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
 * Decodes frames of four integers and of eight bytes at most. Each is found by where the fourth
 * integer from its begin on ends, and read by the pattern of its bytes.
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

/* The slot of a frame of eight bytes at most, or NULL. No branch: in which of the two it is, is
 * hard to foretell. */
static inline const jfr__frame_slot *find_frame(const jfr__frame_slot *slots, unsigned bits,
                                                uint64_t first)
{
    const jfr__frame_slot *slot = &slots[jfr__frame_pair((jfr__frame_bytes){first, 0}, bits)];
    slot += slot->first != first;
    return __builtin_expect(slot->first == first, 1) ? slot : NULL;
}

/* The slot of a longer one, of `size` bytes, or NULL. */
static inline const jfr__frame_slot *find_long_frame(const jfr__frame_slot *slots, unsigned bits,
                                                     const uint8_t *p, size_t size)
{
    uint64_t more = jfr__first_bytes(jfr__load_64(p + 8), size - 8);
    jfr__frame_bytes frame = {jfr__load_64(p), (uint32_t)more};
    const jfr__frame_slot *pair = &slots[jfr__frame_pair(frame, bits)];
    for (int i = 0; i < 2; i++)
        if (pair[i].first == frame.first && pair[i].more == frame.more)
            return &pair[i];
    return NULL;
}

/*
 * The same frames by their bytes. Blocks of bytes follow one another wherever frames end: `ended`
 * is how many integers of the frame that goes on from one into the next ended before.
 */
static inline const uint8_t *values(const jfr__frame_slot *slots, unsigned bits, const uint8_t *p,
                                    const uint8_t *stop, uint32_t **out, uint32_t *left)
{
    uint32_t *to = *out;
    uint32_t *const end = to + *left;
    unsigned ended = 0;
    for (const uint8_t *block = p; block < stop && to < end; block += 64) {
        uint64_t ends = ~jfr__continuing(block);
        uint64_t fourths = jfr__every_fourth(ends, ended);
        __builtin_prefetch(block + AHEAD);
        ended += jfr__count_bits(ends);
        for (; fourths != 0 && to < end; fourths &= fourths - 1) {
            const uint8_t *next = block + __builtin_ctzll(fourths) + 1;
            size_t size = (size_t)(next - p);
            const jfr__frame_slot *slot = NULL;
            if (__builtin_expect(size <= 8, 1))
                slot = find_frame(slots, bits, jfr__first_bytes(jfr__load_64(p), size));
            else if (size <= JFR__FRAME_BYTES)
                slot = find_long_frame(slots, bits, p, size);
            if (__builtin_expect(slot == NULL, 0))
                goto done;
            *to++ = slot->value;
            p = next;
        }
    }
done:
    *left = (uint32_t)(end - to);
    *out = to;
    return p;
}

/* Reads over integers, none of which may take nine bytes. */
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
