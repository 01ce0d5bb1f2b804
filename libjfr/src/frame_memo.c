/* Stacks as what a caller made of their frames. */
#include "error.h"
#include "frames.h"
#include "options.h"
#include "reader.h"

#include <string.h>

enum {
    FIRST_BITS = 9,
    MOST_BITS = 17,
    LOST_BITS = 5 /* log2 of the slots for one frame that may be lost */
};

/* In all its bytes as after memset: of a frame that begins with eight such bytes, others follow. */
static const jfr__frame_slot free_slot = {JFR__FREE_SLOT, UINT32_MAX, UINT32_MAX};

static size_t table_size(unsigned bits)
{
    return ((size_t)1 << bits) * sizeof(jfr__frame_slot);
}

static int new_memo(jfr_frame_memo **out, const jfr_frame_memo_options *o, const jfr_allocator *a,
                    jfr_error *err)
{
    jfr_frame_memo *memo = a->alloc(a->ctx, sizeof(*memo));
    if (memo == NULL)
        return jfr__fail_nomem(err);
    *memo = (jfr_frame_memo){.options = *o, .allocator = *a, .bits = FIRST_BITS};
    memo->loop = jfr__values_loop_best();
    *out = memo;
    return 0;
}

int jfr_frame_memo_new(jfr_frame_memo **out, const jfr_frame_memo_options *options, jfr_error *err)
{
    jfr_frame_memo_options o = JFR_FRAME_MEMO_OPTIONS_INIT;
    if (options == NULL)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "jfr_frame_memo_new needs options.");
    int rc =
        jfr__options_copy(&o, sizeof(o), options, options->size, "jfr_frame_memo_options", err);
    if (rc < 0)
        return rc;
    const jfr_allocator *a = o.allocator != NULL ? o.allocator : &jfr__malloc;
    if (o.learn == NULL || a->alloc == NULL || a->realloc == NULL || a->free == NULL)
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "Set jfr_frame_memo_options.learn, and all functions of the allocator or "
                         "none.");
    return new_memo(out, &o, a, err);
}

void jfr_frame_memo_clear(jfr_frame_memo *memo)
{
    if (memo->used > 0)
        memset(memo->slots, 0xFF, table_size(memo->bits));
    memo->used = 0;
    memo->lost = 0;
}

void jfr_frame_memo_free(jfr_frame_memo *memo)
{
    if (memo == NULL)
        return;
    const jfr_allocator a = memo->allocator;
    if (memo->slots != NULL)
        a.free(a.ctx, memo->slots);
    a.free(a.ctx, memo);
}

/*
 * Makes the table of a memo that knows no frame. A chunk's methods are known before its frames are,
 * of which there will be more, mostly. Without memory for as many the one that is there will do;
 * without any, nothing is kept.
 */
static void make_table(jfr_frame_memo *memo, const jfr_chunk *chunk)
{
    const jfr_allocator *a = &memo->allocator;
    unsigned bits = memo->bits;
    while (bits < MOST_BITS && UINT32_C(1) << (bits - 2) < jfr_chunk_method_count(chunk))
        bits++;
    if (memo->slots != NULL && bits == memo->bits)
        return;
    jfr__frame_slot *slots = a->alloc(a->ctx, table_size(bits));
    if (slots == NULL)
        return;
    memset(slots, 0xFF, table_size(bits));
    if (memo->slots != NULL)
        a->free(a->ctx, memo->slots);
    memo->slots = slots;
    memo->bits = bits;
}

/* Where the pair is full its second frame makes room. */
static void put(jfr_frame_memo *memo, jfr__frame_bytes frame, uint32_t value)
{
    jfr__frame_slot *slot = &memo->slots[jfr__frame_pair(frame, memo->bits)];
    slot += slot->first != JFR__FREE_SLOT;
    bool is_free = slot->first == JFR__FREE_SLOT;
    memo->used += is_free;
    memo->lost += !is_free;
    *slot = (jfr__frame_slot){frame.first, frame.more, value};
}

/*
 * Grows where frames made room for others that often that to ask for them anew costs as much as the
 * memory does. What is in pair i of a table belongs into pair 2i or 2i + 1 of one twice as large:
 * from the last on they move within the same memory.
 */
static void grow(jfr_frame_memo *memo)
{
    const unsigned bits = memo->bits;
    const size_t size = table_size(bits);
    if (memo->lost < UINT32_C(1) << (bits - LOST_BITS) || bits == MOST_BITS)
        return;
    jfr__frame_slot *slots =
        memo->allocator.realloc(memo->allocator.ctx, memo->slots, size, table_size(bits + 1));
    if (slots == NULL)
        return; /* it forgets sooner */
    memset((char *)slots + size, 0xFF, size);
    memo->slots = slots;
    memo->used = 0;
    memo->lost = 0;
    memo->bits = bits + 1;
    for (size_t pair = (size_t)1 << (bits - 1); pair-- > 0;) {
        jfr__frame_slot both[2];
        for (int i = 0; i < 2; i++) {
            both[i] = slots[2 * pair + i];
            slots[2 * pair + i] = free_slot;
        }
        for (int i = 0; i < 2 && both[i].first != JFR__FREE_SLOT; i++)
            put(memo, (jfr__frame_bytes){both[i].first, both[i].more}, both[i].value);
    }
}

/* Keeps the value of the frame that begins at `p`, where it is one that the loop knows. */
static void keep(jfr_frame_memo *memo, const jfr_chunk *chunk, const uint8_t *p, const uint8_t *end,
                 uint32_t value)
{
    uint8_t bytes[16] = {0};
    size_t count = (size_t)(end - p);
    if (!chunk->frames_by.by_pattern || count > JFR__FRAME_BYTES || memo->slots == NULL)
        return;
    memcpy(bytes, p, count);
    jfr__frame_bytes frame = {jfr__load_64(bytes), (uint32_t)jfr__load_64(bytes + 8)};
    if (frame.first == JFR__FREE_SLOT)
        return;
    put(memo, frame, value);
    grow(memo);
}

/* Reads the frame at the cursor and asks for its value. */
static int learn(const jfr_chunk *chunk, jfr_frame_memo *memo, jfr__cursor *c, uint32_t *value,
                 jfr_error *err)
{
    const uint8_t *begin = c->pos;
    jfr_frame_ref ref;
    int rc = jfr__frames_read(chunk, c, &ref, 1, err);
    if (rc < 0)
        return rc;
    if (memo->options.learn(memo->options.ctx, &ref, value) != 0)
        return 1;
    keep(memo, chunk, begin, c->pos, *value);
    return 0;
}

static int read_values(const jfr_chunk *chunk, jfr_frame_memo *memo, jfr__cursor *c, uint32_t *out,
                       uint32_t count, jfr_error *err)
{
    if (memo->used == 0)
        make_table(memo, chunk);
    bool can_loop = memo->slots != NULL && chunk->frames_by.by_pattern;
    bool near_end = jfr__cursor_left(c) < JFR__READ_AHEAD;
    const uint8_t *stop = can_loop && !near_end ? c->end - JFR__READ_AHEAD : c->pos;
    while (count > 0) {
        if (c->pos < stop)
            c->pos = memo->loop(memo->slots, memo->bits, c->pos, stop, &out, &count);
        if (count == 0)
            return 0;
        int rc = learn(chunk, memo, c, out++, err);
        if (rc != 0)
            return rc;
        count--;
    }
    return 0;
}

int jfr_chunk_stack_values(const jfr_chunk *chunk, uint32_t index, jfr_frame_memo *memo,
                           uint32_t *values, uint32_t room, jfr_stack_ref *out, jfr_error *err)
{
    jfr__cursor c;
    int rc = jfr__stack_enter(chunk, index, &c, out, err);
    if (rc < 0)
        return rc;
    return read_values(chunk, memo, &c, values, out->frame_count < room ? out->frame_count : room,
                       err);
}
