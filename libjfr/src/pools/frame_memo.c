/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as what a caller made of their frames. */
#include "pools/frame_memo_impl.h"

#include "error_impl.h"
#include "memory_impl.h"
#include "options_impl.h"

#include <string.h>

enum {
    FIRST_BITS = 7, /* log2 of buckets */
    MOST_BITS = 15,
    LOST_BITS = 3 /* log2 of the buckets for one frame that may be lost */
};

static size_t table_size(unsigned bits)
{
    return ((size_t)1 << bits) * sizeof(jfr__memo_bucket);
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

static void forget_all(jfr_frame_memo *memo)
{
    memset(memo->buckets, 0xFF, table_size(memo->bits)); /* free slots */
    memo->used = 0;
    memo->lost = 0;
}

void jfr_frame_memo_clear(jfr_frame_memo *memo)
{
    if (memo->used > 0)
        forget_all(memo);
}

void jfr_frame_memo_free(jfr_frame_memo *memo)
{
    if (memo == NULL)
        return;
    const jfr_allocator a = memo->allocator;
    if (memo->block != NULL)
        a.free(a.ctx, memo->block);
    a.free(a.ctx, memo);
}

/* Gives the memo an empty table, and leaves the old one to the caller. */
static bool new_table(jfr_frame_memo *memo, unsigned bits)
{
    const jfr_allocator *a = &memo->allocator;
    void *block = a->alloc(a->ctx, table_size(bits) + sizeof(jfr__memo_bucket));
    if (block == NULL)
        return false;
    memo->block = block;
    memo->buckets = jfr__first_multiple(block, sizeof(*memo->buckets));
    memo->bits = bits;
    forget_all(memo);
    return true;
}

/*
 * Makes the table of a memo that knows no frame. A chunk's methods are known before its frames are,
 * of which there will be more, mostly. Without memory for as many the one that is there will do;
 * without any, nothing is kept.
 */
static void make_table(jfr_frame_memo *memo, const jfr_chunk *chunk)
{
    void *old = memo->block;
    unsigned bits = memo->bits;
    while (bits < MOST_BITS && UINT32_C(1) << bits < jfr_chunk_method_count(chunk))
        bits++;
    if (old != NULL && bits == memo->bits)
        return;
    if (new_table(memo, bits) && old != NULL)
        memo->allocator.free(memo->allocator.ctx, old);
}

/* Where a frame finds no room, another of its first bucket makes some. */
static void put(jfr_frame_memo *memo, jfr__frame_bytes frame, uint32_t value)
{
    const size_t first = jfr__memo_bucket_of(frame, memo->bits);
    jfr__memo_bucket *bucket = &memo->buckets[first];
    uint32_t slot = JFR__MEMO_BUCKET;
    for (size_t way = 0; way < JFR__MEMO_WAYS && slot == JFR__MEMO_BUCKET; way++) {
        bucket = &memo->buckets[(first + way) & (((size_t)1 << memo->bits) - 1)];
        for (slot = 0; slot < JFR__MEMO_BUCKET && bucket->first[slot] != JFR__FREE_SLOT;)
            slot++;
    }
    if (slot < JFR__MEMO_BUCKET) {
        memo->used++;
    } else {
        bucket = &memo->buckets[first];
        slot = memo->lost++ % JFR__MEMO_BUCKET;
    }
    bucket->first[slot] = frame.first;
    bucket->more[slot] = frame.more;
    bucket->values[slot] = value;
}

/* Whether five eighths are used, or frames made room for others that often that to ask for them
 * anew costs as much as the memory does. */
static bool is_full(const jfr_frame_memo *memo)
{
    return (uint64_t)memo->used * 8 > (uint64_t)JFR__MEMO_BUCKET * 5 << memo->bits ||
           memo->lost >= UINT32_C(1) << (memo->bits - LOST_BITS);
}

static void grow(jfr_frame_memo *memo)
{
    void *old = memo->block;
    const jfr__memo_bucket *from = memo->buckets;
    const size_t count = (size_t)1 << memo->bits;
    if (memo->bits == MOST_BITS || !is_full(memo) || !new_table(memo, memo->bits + 1))
        return; /* without memory it forgets sooner */
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < JFR__MEMO_BUCKET && from[i].first[k] != JFR__FREE_SLOT; k++)
            put(memo, (jfr__frame_bytes){from[i].first[k], from[i].more[k]}, from[i].values[k]);
    memo->allocator.free(memo->allocator.ctx, old);
}

/* Keeps the value of the frame that begins at `p`, where it is one that the loop knows. */
static void keep(jfr_frame_memo *memo, const jfr_chunk *chunk, const uint8_t *p, const uint8_t *end,
                 uint32_t value)
{
    uint8_t bytes[16] = {0};
    size_t count = (size_t)(end - p);
    if (!chunk->frames_by.by_pattern || count > JFR__FRAME_BYTES || memo->buckets == NULL)
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
    bool can_loop = memo->buckets != NULL && chunk->frames_by.by_pattern;
    bool near_end = jfr__cursor_left(c) < JFR__READ_AHEAD;
    const uint8_t *stop = can_loop && !near_end ? c->end - JFR__READ_AHEAD : c->pos;
    while (count > 0) {
        if (c->pos < stop)
            c->pos = memo->loop(memo->buckets, memo->bits, c->pos, stop, &out, &count);
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
