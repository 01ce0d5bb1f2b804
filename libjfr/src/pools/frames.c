/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as numbers, for callers that already know the methods. Any thread may read them. */
#include "pools/frames_impl.h"

#include "error_impl.h"
#include "read/reader_impl.h"
#include "sums/pattern_impl.h"

#include <string.h>

enum { INTEGERS = 4 };

/* Returns which integer of a frame fills a slot, or INTEGERS when none does or the frame is not
 * four integers.
 */
static unsigned place_of(const jfr__plan *frame, uint8_t slot, unsigned *total)
{
    unsigned found = INTEGERS;
    *total = 0;
    for (uint32_t i = 0; i < frame->count; i++) {
        const jfr__op *op = &frame->ops[i];
        if (op->code != JFR__OP_VARINT || op->n > INTEGERS) {
            *total = INTEGERS + 1;
            return INTEGERS;
        }
        if (op->slot == slot)
            found = *total;
        *total += op->n;
    }
    return found;
}

/* Finds the places of the integers in eight bytes, of which the bytes in `pattern` continue an
 * integer. An integer that does not end in these bytes has no place, nor does entry INTEGERS. */
static void find_places(unsigned pattern, jfr__field_place places[INTEGERS + 1])
{
    unsigned begin = 0;
    unsigned count = 0;
    for (unsigned at = 0; at < 8 && count < INTEGERS; at++) {
        if ((pattern >> at & 1) != 0)
            continue;
        places[count++] =
            (jfr__field_place){jfr__gather_mask(at + 1 - begin) << 8 * begin, 8 * (uint64_t)begin};
        begin = at + 1;
    }
    while (count <= INTEGERS)
        places[count++] = (jfr__field_place){0, 0};
}

static jfr__plan head_of(const jfr__plan *stack)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        if (stack->ops[i].slot == JFR__SLOT_TRUNCATED)
            continue;
        if (stack->ops[i].slot == JFR__SLOT_FRAMES && i + 1 + stack->ops[i].n == stack->count)
            return (jfr__plan){stack->ops, i};
    }
    return *stack;
}

static bool is_flag(const jfr__plan *head)
{
    const jfr__op *op = head->ops;
    return head->count == 1 && op->code == JFR__OP_FIXED && op->n == 1 &&
           op->slot == JFR__SLOT_TRUNCATED;
}

void jfr__frames_define(jfr__frames *out, const jfr__plan *stack, const jfr__plan *frame)
{
    unsigned total;
    unsigned method = place_of(frame, JFR__SLOT_METHOD, &total);
    unsigned line = place_of(frame, JFR__SLOT_LINE, &total);
    unsigned type = place_of(frame, JFR__SLOT_TYPE, &total);
    out->plan = frame;
    out->head = head_of(stack);
    out->behind_flag = out->head.count < stack->count && is_flag(&out->head);
    out->by_pattern = total == INTEGERS;
    for (unsigned pattern = 0; out->by_pattern && pattern < 256; pattern++) {
        jfr__field_place places[INTEGERS + 1];
        find_places(pattern, places);
        out->layouts[pattern] = (jfr__frame_layout){places[method], places[line], places[type]};
    }
}

/* Reads the frame at the cursor by the plan. */
static int read_frame(const jfr_chunk *chunk, jfr__cursor *c, jfr_frame_ref *out, jfr_error *err)
{
    uint64_t slots[JFR__POOL_SLOTS] = {0};
    uint64_t offset = jfr__cursor_offset(c);
    jfr__plan_run(chunk->frames_by.plan, c, slots);
    if (c->failed)
        return jfr__fail(err, JFR_ERR_FORMAT, offset, "A stack's frame cannot be decoded.");
    uint32_t method = jfr__idmap_find(chunk->frames_by.methods, slots[JFR__SLOT_METHOD]);
    *out = jfr__frame_ref(chunk->frames_by.types, method, slots[JFR__SLOT_LINE],
                          slots[JFR__SLOT_TYPE]);
    return 0;
}

int jfr__frames_read(const jfr_chunk *chunk, jfr__cursor *c, jfr_frame_ref *out, uint32_t count,
                     jfr_error *err)
{
    const jfr__frames *by = &chunk->frames_by;
    bool near_end = jfr__cursor_left(c) < JFR__READ_AHEAD;
    const uint8_t *stop = by->by_pattern && !near_end ? c->end - JFR__READ_AHEAD : c->pos;
    while (count > 0) {
        if (c->pos < stop)
            c->pos = chunk->file->frames_loop(by, c->pos, stop, &out, &count);
        if (count == 0)
            return 0;
        int rc = read_frame(chunk, c, out++, err);
        if (rc < 0)
            return rc;
        count--;
    }
    return 0;
}

/* A faster enter_frames for the form that all known recorders write, with at most some hundred
 * frames. */
static bool enter_quickly(const jfr_chunk *chunk, uint32_t index, jfr__cursor *c, bool *truncated,
                          uint32_t *count)
{
    const uint64_t offset = chunk->pools[JFR__POOL_STACK].offsets[index];
    const uint8_t *p = chunk->file->data + offset;
    if (!chunk->frames_by.behind_flag || !chunk->info.compressed || chunk->end - offset < 3)
        return false;
    const bool one = p[1] < 0x80;
    if (!one && p[2] >= 0x80)
        return false;
    *c = jfr__chunk_cursor(chunk, offset + (one ? 2 : 3), chunk->end);
    *truncated = p[0] != 0;
    *count = one ? p[1] : p[1] - 0x80u + ((uint32_t)p[2] << 7);
    return true;
}

/* Moves the cursor to the stack's first frame and returns the number of frames. */
static uint32_t enter_frames(const jfr_chunk *chunk, uint32_t index, jfr__cursor *c,
                             bool *truncated)
{
    const jfr__pool *pool = &chunk->pools[JFR__POOL_STACK];
    const jfr__frames *by = &chunk->frames_by;
    uint64_t slots[JFR__POOL_SLOTS] = {0};
    *c = jfr__chunk_cursor(chunk, pool->offsets[index], chunk->end);
    jfr__plan_run(&by->head, c, slots);
    *truncated = slots[JFR__SLOT_TRUNCATED] != 0;
    if (by->head.count == pool->plan.count) {
        if (slots[JFR__SLOT_FRAMES] == 0)
            return 0;
        *c = jfr__chunk_cursor(chunk, slots[JFR__SLOT_FRAMES], chunk->end);
    }
    return jfr__read_count(c);
}

int jfr__stack_enter(const jfr_chunk *chunk, uint32_t index, jfr__cursor *c, jfr_stack_ref *out,
                     jfr_error *err)
{
    uint32_t stacks = chunk->info.stack_count;
    if (index >= stacks)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "Stack %u does not exist: the chunk has %u.", index,
                         stacks);
    bool truncated;
    uint32_t count;
    if (!enter_quickly(chunk, index, c, &truncated, &count))
        count = enter_frames(chunk, index, c, &truncated);
    uint32_t most = chunk->file->options.max_stack_frames;
    if (c->failed)
        return jfr__fail(err, JFR_ERR_FORMAT, chunk->pools[JFR__POOL_STACK].offsets[index],
                         "A constant pool is damaged at this offset: an entry cannot be decoded.");
    if (chunk->frame_plan.count == 0)
        count = 0;
    out->truncated = truncated || count > most;
    out->frame_count = count < most ? count : most;
    return 0;
}

int jfr_chunk_stack_refs(const jfr_chunk *chunk, uint32_t index, jfr_frame_ref *frames,
                         uint32_t room, jfr_stack_ref *out, jfr_error *err)
{
    jfr__cursor c;
    int rc = jfr__stack_enter(chunk, index, &c, out, err);
    if (rc < 0)
        return rc;
    return jfr__frames_read(chunk, &c, frames, out->frame_count < room ? out->frame_count : room,
                            err);
}

int jfr_chunk_frame(jfr_chunk *chunk, const jfr_frame_ref *ref, jfr_frame *out, jfr_error *err)
{
    uint32_t count = chunk->info.method_count;
    if (ref->method >= count && ref->method != JFR_NONE)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "Method %u does not exist: the chunk has %u.",
                         ref->method, count);
    *out = (jfr_frame){
        .method_index = ref->method, .line = ref->line, .kind = ref->kind, .tier = ref->tier};
    return jfr__frame_name(chunk, out, &chunk->named, err);
}
