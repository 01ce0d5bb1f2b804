/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as numbers that the caller assigns to frames. The numbers are cached by the bytes of the
 * frames. */
#include "pools/stacks_impl.h"

#include "error_impl.h"
#include "memory_impl.h"

#include <string.h>

enum {
    FIRST_BITS = 7, /* log2 of buckets */
    MOST_BITS = 15,
    LOST_BITS = 3 /* log2 of the buckets per frame that may be evicted */
};

static size_t table_size(unsigned bits)
{
    return ((size_t)1 << bits) * sizeof(jfr__memo_bucket);
}

int jfr_stacks_open(jfr_stacks **out, const jfr_chunk *chunk, jfr_number_frame *number, void *ctx,
                    jfr_error *err)
{
    const jfr_allocator *a = &chunk->file->allocator;
    jfr_stacks *stacks = a->alloc(a->ctx, sizeof(*stacks));
    if (stacks == NULL)
        return jfr__fail_nomem(err);
    *stacks = (jfr_stacks){.chunk = chunk,
                           .number = number,
                           .ctx = ctx,
                           .allocator = *a,
                           .bits = FIRST_BITS,
                           .loop = jfr__values_loop_best()};
    *out = stacks;
    return 0;
}

static void forget_all(jfr_stacks *stacks)
{
    memset(stacks->buckets, 0xFF, table_size(stacks->bits)); /* free slots */
    stacks->used = 0;
    stacks->lost = 0;
}

void jfr_stacks_close(jfr_stacks *stacks)
{
    if (stacks == NULL)
        return;
    const jfr_allocator a = stacks->allocator;
    if (stacks->block != NULL)
        a.free(a.ctx, stacks->block);
    a.free(a.ctx, stacks);
}

/* Replaces the table by an empty one; the caller keeps the old table. */
static bool new_table(jfr_stacks *stacks, unsigned bits)
{
    const jfr_allocator *a = &stacks->allocator;
    void *block = a->alloc(a->ctx, table_size(bits) + sizeof(jfr__memo_bucket));
    if (block == NULL)
        return false;
    stacks->block = block;
    stacks->buckets = jfr__first_multiple(block, sizeof(*stacks->buckets));
    stacks->bits = bits;
    forget_all(stacks);
    return true;
}

/*
 * Makes the first table. Its size follows from the number of methods, because there are mostly more
 * frames than methods. Without memory there is no cache.
 */
static void make_table(jfr_stacks *stacks)
{
    unsigned bits = stacks->bits;
    while (bits < MOST_BITS && UINT32_C(1) << bits < stacks->chunk->info.method_count)
        bits++;
    (void)new_table(stacks, bits);
}

/* Adds a frame. If all of its buckets are full, it replaces a frame of its first bucket. */
static void put(jfr_stacks *stacks, jfr__frame_bytes frame, uint32_t value)
{
    const size_t first = jfr__memo_bucket_of(frame, stacks->bits);
    jfr__memo_bucket *bucket = &stacks->buckets[first];
    uint32_t slot = JFR__MEMO_BUCKET;
    for (size_t way = 0; way < JFR__MEMO_WAYS && slot == JFR__MEMO_BUCKET; way++) {
        bucket = &stacks->buckets[(first + way) & (((size_t)1 << stacks->bits) - 1)];
        for (slot = 0; slot < JFR__MEMO_BUCKET && bucket->first[slot] != JFR__FREE_SLOT;)
            slot++;
    }
    if (slot < JFR__MEMO_BUCKET) {
        stacks->used++;
    } else {
        bucket = &stacks->buckets[first];
        slot = stacks->lost++ % JFR__MEMO_BUCKET;
    }
    bucket->first[slot] = frame.first;
    bucket->more[slot] = frame.more;
    bucket->values[slot] = value;
}

/* Returns whether five eighths are used, or whether so many frames were evicted that numbering them
 * again costs as much as a larger table. */
static bool is_full(const jfr_stacks *stacks)
{
    return (uint64_t)stacks->used * 8 > (uint64_t)JFR__MEMO_BUCKET * 5 << stacks->bits ||
           stacks->lost >= UINT32_C(1) << (stacks->bits - LOST_BITS);
}

static void grow(jfr_stacks *stacks)
{
    void *old = stacks->block;
    const jfr__memo_bucket *from = stacks->buckets;
    const size_t count = (size_t)1 << stacks->bits;
    if (stacks->bits == MOST_BITS || !is_full(stacks) || !new_table(stacks, stacks->bits + 1))
        return; /* without memory, more frames are evicted */
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < JFR__MEMO_BUCKET && from[i].first[k] != JFR__FREE_SLOT; k++)
            put(stacks, (jfr__frame_bytes){from[i].first[k], from[i].more[k]}, from[i].values[k]);
    stacks->allocator.free(stacks->allocator.ctx, old);
}

/* Caches the value of the frame at `p`, if the loop can look such a frame up. */
static void keep(jfr_stacks *stacks, const uint8_t *p, const uint8_t *end, uint32_t value)
{
    uint8_t bytes[16] = {0};
    size_t count = (size_t)(end - p);
    if (!stacks->chunk->frames_by.by_pattern || count > JFR__FRAME_BYTES || stacks->buckets == NULL)
        return;
    memcpy(bytes, p, count);
    jfr__frame_bytes frame = {jfr__load_64(bytes), (uint32_t)jfr__load_64(bytes + 8)};
    if (frame.first == JFR__FREE_SLOT)
        return;
    put(stacks, frame, value);
    grow(stacks);
}

/* Reads the frame at the cursor and asks the caller for its number. */
static int number_frame(jfr_stacks *stacks, jfr__cursor *c, uint32_t *value, jfr_error *err)
{
    const uint8_t *begin = c->pos;
    jfr_frame_ref ref;
    int rc = jfr__frames_read(stacks->chunk, c, &ref, 1, err);
    if (rc < 0)
        return rc;
    if (stacks->number(stacks->ctx, &ref, value) != 0)
        return 1;
    keep(stacks, begin, c->pos, *value);
    return 0;
}

static int read_values(jfr_stacks *stacks, jfr__cursor *c, uint32_t *out, uint32_t count,
                       jfr_error *err)
{
    if (stacks->buckets == NULL)
        make_table(stacks);
    bool can_loop = stacks->buckets != NULL && stacks->chunk->frames_by.by_pattern;
    bool near_end = jfr__cursor_left(c) < JFR__READ_AHEAD;
    const uint8_t *stop = can_loop && !near_end ? c->end - JFR__READ_AHEAD : c->pos;
    while (count > 0) {
        if (c->pos < stop)
            c->pos = stacks->loop(stacks->buckets, stacks->bits, c->pos, stop, &out, &count);
        if (count == 0)
            return 0;
        int rc = number_frame(stacks, c, out++, err);
        if (rc != 0)
            return rc;
        count--;
    }
    return 0;
}

int jfr_stacks_read(jfr_stacks *stacks, uint32_t index, uint32_t *numbers, uint32_t room,
                    jfr_stack_ref *out, jfr_error *err)
{
    jfr__cursor c;
    int rc = jfr__stack_enter(stacks->chunk, index, &c, out, err);
    if (rc < 0)
        return rc;
    return read_values(stacks, &c, numbers, out->frame_count < room ? out->frame_count : room, err);
}
