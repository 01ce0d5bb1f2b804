/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks given by method and line: the way in for callers that add very many. */
#include <string.h>

#include "aggregate.h"
#include "fail.h"
#include "frame.h"
#include "id.h"
#include "utf8.h"

/* Frames last interned, by method and line, with their ids: most frames of a stack are there. The
 * table grows with the frames, up to what a core's own cache holds. */
#define FIRST_BITS 11
#define MOST_BITS  15

struct sagg__near_frame {
    uint64_t id;
    uint32_t method; /* + 1; 0 = free */
    uint32_t line;
    uint32_t frame;
};

static size_t near_bytes(const sagg *agg)
{
    return ((size_t)1 << agg->near_bits) * sizeof(*agg->near_frames);
}

void sagg__near_frames_clear(sagg *agg)
{
    if (agg->near_frames != NULL)
        memset(agg->near_frames, 0, near_bytes(agg));
}

void sagg__near_frames_free(sagg *agg)
{
    if (agg->near_frames != NULL)
        sagg__release(&agg->mem, agg->near_frames, near_bytes(agg));
    agg->near_frames = NULL;
}

/* Makes the table, or a larger one, which is empty. */
static void make_near_frames(sagg *agg)
{
    unsigned bits = FIRST_BITS;
    while (bits < MOST_BITS && agg->frames.count > UINT32_C(1) << (bits - 1))
        bits += 2;
    size_t count = (size_t)1 << bits;
    if (agg->near_frames != NULL && agg->near_bits >= bits)
        return;
    if (agg->mem.used + count * sizeof(*agg->near_frames) > agg->mem.cap / 2)
        return;
    struct sagg__near_frame *next = sagg__alloc_zero(&agg->mem, count, sizeof(*next));
    if (next == NULL)
        return;
    sagg__near_frames_free(agg);
    agg->near_frames = next;
    agg->near_bits = bits;
}

static struct sagg__near_frame *near_frame(const sagg *agg, const sagg_frame_ref *ref)
{
    uint64_t hash = ((uint64_t)ref->method << 32 | ref->line) * UINT64_C(0x9E3779B97F4A7C15);
    return &agg->near_frames[hash >> (64 - agg->near_bits)];
}

/* Interns a frame and tells its id. Returns as sagg__intern_row. */
static int intern_ref(sagg *agg, struct sagg__near_frame *out, const sagg_frame_ref *ref)
{
    const sagg__method *method = SAGG__AT(sagg__method, agg->methods.array, ref->method);
    out->id = sagg__frame_id(method->hash, ref->line);
    out->method = ref->method + 1;
    out->line = ref->line;
    return sagg__intern_row(agg, &out->frame, ref->method, ref->line);
}

/*
 * Interns frames: their numbers go to `frames`, their ids into the text of the stack's id. Returns
 * as sagg__intern_row, or SAGG_E_USAGE with *bad, which only that sets.
 */
static int intern_refs(sagg *agg, uint32_t *frames, uint8_t *text, const sagg_frame_ref *refs,
                       size_t count, const sagg_frame_ref **bad)
{
    struct sagg__near_frame single = {0};
    const bool has_near = agg->near_frames != NULL;
    for (size_t i = 0; i < count; i++) {
        struct sagg__near_frame *near = has_near ? near_frame(agg, &refs[i]) : &single;
        bool is_hit =
            near->method != 0 && near->method - 1 == refs[i].method && near->line == refs[i].line;
        if (!is_hit) {
            if (refs[i].method >= agg->methods.count) {
                *bad = &refs[i];
                return SAGG_E_USAGE;
            }
            struct sagg__near_frame found;
            int rc = intern_ref(agg, &found, &refs[i]);
            if (rc != 0)
                return rc;
            *near = found;
        }
        sagg__id_put(text, i, near->id);
        frames[i] = near->frame;
    }
    return 0;
}

/* The id of a stack, without a look at its frames' numbers. False: a method does not exist. */
static bool id_of(const sagg *agg, sagg_stack_id *id, uint8_t *text, const sagg_frame_ref *refs,
                  size_t count)
{
    const sagg__method *methods = agg->methods.array.items;
    sagg__id_begin(text, agg->normaliser);
    for (size_t i = 0; i < count; i++) {
        if (refs[i].method >= agg->methods.count)
            return false;
        sagg__id_put(text, i, sagg__frame_id(methods[refs[i].method].hash, refs[i].line));
    }
    sagg__id_end(id, text, count);
    return true;
}

/* A stack past max_frames: its leaf-most frames with a root that says so. */
static int cut(sagg *agg, sagg_frame_ref *refs, const sagg_frame_ref *given)
{
    uint32_t root;
    int rc = sagg__truncated_root(agg, &root);
    if (rc != 0)
        return rc;
    size_t last = agg->max_frames - 1;
    const sagg__frame *row = SAGG__AT(sagg__frame, agg->frames.array, root);
    memcpy(refs, given, last * sizeof(*refs));
    refs[last] = (sagg_frame_ref){row->method, row->line};
    agg->loss.stacks_cut++;
    return 0;
}

/* Writes the frames of a stack behind those of the last one, where they are if it is new; without
 * room there, into scratch memory. */
static uint32_t *frames_room(sagg *agg, size_t count, uint32_t *scratch)
{
    size_t end = (size_t)agg->stack_frames_used + count;
    if (sagg__extend(&agg->mem, &agg->stack_frames, end, sizeof(uint32_t)) != 0)
        return scratch;
    return SAGG__AT(uint32_t, agg->stack_frames, agg->stack_frames_used);
}

static int add_refs(sagg *agg, uint32_t *stack, const sagg_frame_ref *refs, size_t count,
                    const sagg_frame_ref **bad)
{
    size_t kept = count <= agg->max_frames ? count : agg->max_frames;
    size_t text_bytes = (SAGG__ID_PREFIX + kept * 8 + 7) / 8 * 8;
    uint8_t *text = sagg__scratch(agg, text_bytes + kept * (sizeof(*refs) + sizeof(uint32_t)));
    if (text == NULL)
        return SAGG_E_NOMEM;
    sagg_frame_ref *own = (sagg_frame_ref *)(void *)(text + text_bytes);
    int rc = count > kept ? cut(agg, own, refs) : 0;
    if (rc != 0)
        return rc;
    if (count > kept)
        refs = own;
    sagg_stack_id id;
    /* After a known stack another is likely, whose frames need not be looked for. */
    bool is_known =
        !agg->new_stacks && id_of(agg, &id, text, refs, kept) && sagg__find_stack(agg, &id, stack);
    agg->new_stacks = !is_known;
    if (is_known)
        return 0;
    uint32_t *frames = frames_room(agg, kept, (uint32_t *)(void *)(own + kept));
    sagg__id_begin(text, agg->normaliser);
    rc = intern_refs(agg, frames, text, refs, kept, bad);
    if (rc != 0)
        return rc;
    sagg__id_end(&id, text, kept);
    agg->new_stacks = !sagg__find_stack(agg, &id, stack);
    return agg->new_stacks ? sagg__append_stack(agg, stack, &id, frames, kept) : 0;
}

int sagg_add_stack_refs(sagg *agg, uint32_t *stack, const sagg_frame_ref *frames, size_t count,
                        sagg_error *err)
{
    const sagg_frame_ref *bad = NULL;
    make_near_frames(agg);
    int rc = add_refs(agg, stack, frames, count, &bad);
    if (bad != NULL)
        return sagg__fail(err, SAGG_E_USAGE, 0,
                          "Method %u does not exist: indices of methods are void after "
                          "sagg_compact.",
                          bad->method);
    if (rc == SAGG_E_LIMIT)
        return sagg__refuse_stack(agg, stack);
    return rc != 0 ? sagg__no_memory(err) : 0;
}
