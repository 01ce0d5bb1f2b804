/* SPDX-License-Identifier: Apache-2.0 */
#include "read/skim_impl.h"

#include "error_impl.h"
#include "events/event_head_impl.h"

int jfr__skim_begin(jfr__skim *s, jfr_chunk *chunk, jfr_error *err)
{
    uint64_t last = chunk->meta.by_id.max_key;
    s->near = last < JFR__TYPES_NEAR ? (uint32_t)last + 1 : JFR__TYPES_NEAR;
    s->wanted = jfr__arena_zalloc(&chunk->arena, s->near, sizeof(*s->wanted));
    s->middle = chunk->file->data + chunk->middle;
    s->far = s->middle;
    return s->wanted != NULL ? 0 : jfr__arena_fail(&chunk->arena, err);
}

/* The distance that the loops read ahead of an event's start: an event with a size of one byte, and
 * the head of the next. */
enum { AHEAD = 0x80 + 8 };

/* Returns the size of the event at `p` if it is unwanted and its head has a common form, and else
 * 0. */
static size_t unwanted_size(const jfr__skim *s, const uint8_t *p, const uint8_t *stop)
{
    size_t size_bytes, type_bytes;
    size_t size = jfr__size_at(p, &size_bytes);
    uint32_t type = jfr__type_at(p + size_bytes, &type_bytes);
    size_t rest = size - size_bytes -
                  type_bytes; /* wraps to a huge number if the event is too short for its head */
    bool skips = rest < (size_t)(stop - p) && type < s->near && !s->wanted[type];
    return skips ? size : 0;
}

/* The common bits of the heads of small events of one type. Often many such events follow one
 * another. */
typedef struct alike {
    uint64_t mask;
    uint64_t head;
    size_t head_bytes;
} alike;

/* Returns the common bits of events like this one, whose size must take one byte and whose type id
 * must be below JFR__TYPES_NEAR. */
static alike like(const uint8_t *event)
{
    alike a = {0xFF80, 0, 2}; /* size and type of one byte each */
    if (event[1] >= 0x80)
        a = (alike){0xFFFF80, 0, 3};
    a.head = jfr__load_64(event) & a.mask;
    return a;
}

/* Returns the size of such an event at `p`, or 0 if there is another event. */
static inline size_t alike_size(const alike *a, const uint8_t *p)
{
    uint64_t bytes = jfr__load_64(p);
    size_t size = bytes & 0x7F;
    return (bytes & a->mask) == a->head && size >= a->head_bytes ? size : 0;
}

/*
 * Skips events that match `a`, from `p` on. The start of an event depends on the size of the
 * previous one, which makes a long chain of dependent loads. Therefore the loop skips events of
 * both halves of the chunk at the same time.
 */
static const uint8_t *skip_alike(jfr__skim *s, const alike a, const uint8_t *p, const uint8_t *stop)
{
    const uint8_t *far = s->far;
    bool has_halves = p < s->middle && s->middle < stop;
    const uint8_t *end = has_halves ? s->middle : stop;
    size_t size = 1;
    size_t far_size = 1;
    while (has_halves && p < end && far < stop && size != 0 && far_size != 0) {
        size = alike_size(&a, p);
        far_size = alike_size(&a, far);
        p += size;
        far += far_size;
    }
    while (p < end && (size = alike_size(&a, p)) != 0)
        p += size;
    s->far = far;
    return p;
}

void jfr__skim_over(jfr__skim *s, jfr__cursor *c)
{
    if (!c->compressed || jfr__cursor_left(c) < AHEAD)
        return;
    const uint8_t *stop = c->end - AHEAD;
    const uint8_t *p = c->pos;
    size_t size;
    while (p < stop && (size = unwanted_size(s, p, stop)) != 0) {
        const uint8_t *event = p;
        p += size;
        if (p < s->middle && s->far < stop)
            s->far += unwanted_size(s, s->far, stop);
        if (event[0] < 0x80)
            p = skip_alike(s, like(event), p, stop);
        if (p == s->middle)
            p = s->far;
    }
    c->pos = p;
}
