/* The loops of sums, compiled once for each instruction set. */
#include "frames.h"
#include "pattern.h"
#include "sum_add.h"

/*
 * The size at `p`, and how many bytes it takes: one, or the four that the JDK's writers reserve
 * (JfrWriterHost::write_padded). Returns 0 for other forms.
 */
static inline size_t size_at(const uint8_t *p, size_t *bytes)
{
    *bytes = 1;
    if (__builtin_expect(p[0] < 0x80, 1))
        return p[0];
    *bytes = 4;
    bool padded = p[1] >= 0x80 && p[2] == 0x80 && p[3] == 0;
    return padded ? (size_t)(p[0] & 0x7F) | (size_t)(p[1] & 0x7F) << 7 : 0;
}

/* The type id at `p`, of one or two bytes, and how many; JFR__TYPES_NEAR for longer ones. */
static inline uint32_t type_at(const uint8_t *p, size_t *bytes)
{
    *bytes = 1;
    if (p[0] < 0x80)
        return p[0];
    *bytes = 2;
    return p[1] < 0x80 ? (uint32_t)(p[0] & 0x7F) | (uint32_t)p[1] << 7 : JFR__TYPES_NEAR;
}

static inline uint64_t pattern_of(const uint8_t *p, size_t size)
{
    uint64_t bit = UINT64_C(1) << size;
    return (jfr__continuing(p) & (bit - 1)) | bit;
}

static inline size_t layout_slot(uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - JFR__LAYOUT_BITS));
}

static inline uint64_t field(const jfr__layout *layout, const uint8_t *p, enum jfr__sum_slot slot)
{
    uint64_t mask =
        slot < JFR__SUM_CLASS ? layout->mask[slot] : layout->small[slot - JFR__SUM_CLASS];
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

/* An event that is decoded but not added yet. */
typedef struct pending {
    uint64_t key; /* of its row */
    uint64_t first;
    uint64_t second;
    size_t place; /* slot of its row at first, then the row's number if it is the one it seems */
} pending;

enum { PENDING = 64 };

/*
 * Adds decoded events. Their rows lie all over a table larger than the caches: each step asks for
 * the memory of the next before it is needed.
 */
static inline __attribute__((always_inline)) bool
add_pending(jfr_sums *sums, pending *events, size_t count, uint64_t floor, const jfr__recipe recipe)
{
    const uint32_t *slots = sums->slots;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = slots[events[i].place];
        events[i].place = number; /* 0: a row that is nobody's */
        __builtin_prefetch(&sums->rows[number], 1);
    }
    for (size_t i = 0; i < count; i++) {
        jfr__row *row = &sums->rows[events[i].place];
        if (__builtin_expect(row->key != events[i].key, 0))
            row = jfr__sums_row(sums, events[i].key);
        if (__builtin_expect(row == NULL, 0))
            return false;
        jfr__row_add(row, recipe, floor, events[i].first, events[i].second);
    }
    return true;
}

/* Decodes an event of a simple shape. Returns its size, or 0 when it is another or an odd one. */
static inline __attribute__((always_inline)) size_t decode(jfr_sums *sums, jfr__sum_shape *shape,
                                                           const uint8_t *p, pending *out,
                                                           const jfr__recipe recipe)
{
    size_t size = p[0];
    if (size > JFR__EVENT_MAX || (jfr__load_64(p) >> 8 & shape->type_mask) != shape->type_bits)
        return 0;
    uint64_t key = pattern_of(p, size);
    const jfr__layout *layout = &shape->layouts[layout_slot(key)];
    __asm__("" : "+r"(layout)); /* one pointer, not a sum for each field */
    if (__builtin_expect(layout->key != key, 0))
        return 0;
    uint64_t thread = field(layout, p, JFR__SUM_THREAD);
    uint64_t id = field(layout, p, JFR__SUM_STACK);
    const jfr__near_lane *near = &shape->near[thread % JFR__LANES_NEAR];
    uint32_t lane = near->number - 1;
    if (__builtin_expect(near->thread != thread || near->number == 0, 0))
        lane = jfr__sums_near(sums, shape, thread);
    if (__builtin_expect(lane == JFR_NONE || id >= JFR_NONE, 0))
        return 0;
    out->key = (uint64_t)lane << 32 | id;
    out->place = jfr__sums_slot(sums, out->key);
    out->first = field(layout, p, JFR__SUM_FIRST);
    out->second = recipe == JFR__ADD_TLAB ? field(layout, p, JFR__SUM_SECOND) : 0;
    return size;
}

/*
 * Adds events of one simple shape, whose size takes a byte, as long as they follow one another and
 * their layouts are known. Returns the first that is another.
 */
static inline __attribute__((always_inline)) const uint8_t *
run(jfr_sums *sums, jfr__sum_shape *shape, const uint8_t *p, const uint8_t *stop,
    const jfr__recipe recipe)
{
    pending events[PENDING];
    const uint64_t floor = shape->floor;
    size_t count = PENDING;
    while (count == PENDING) {
        for (count = 0; count < PENDING && p < stop; count++) {
            size_t size = decode(sums, shape, p, &events[count], recipe);
            if (size == 0)
                break;
            __builtin_prefetch(&sums->slots[events[count].place]);
            p += size;
        }
        sums->events += count;
        if (!add_pending(sums, events, count, floor, recipe))
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
    if (layout->key != key) {
        if (!jfr__sums_learn(layout, shape, p, head, size))
            return NULL;
        layout->key = key;
        sums->stats.slow_events++;
    }
    const uint8_t *next = p;
    if (shape->simple && p[0] < 0x80 && shape->recipe == JFR__ADD_TLAB)
        next = run(sums, shape, p, stop, JFR__ADD_TLAB);
    if (shape->simple && p[0] < 0x80 && shape->recipe == JFR__ADD_FIRST)
        next = run(sums, shape, p, stop, JFR__ADD_FIRST);
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
        size_t size = size_at(p, &size_bytes);
        uint32_t type = type_at(p + size_bytes, &type_bytes);
        size_t head = size_bytes + type_bytes;
        if (size < head || size > JFR__EVENT_MAX || type == JFR__TYPES_NEAR)
            break;
        uint32_t number = sums->shape_of[type];
        if (number == 0) {
            sums->events++;
            p += size;
            continue;
        }
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
