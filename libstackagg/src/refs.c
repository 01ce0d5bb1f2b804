/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks given by method and line: the way in for callers that add very many. */
#include <string.h>

#include "aggregate.h"
#include "fail.h"
#include "frame.h"
#include "id.h"
#include "utf8.h"

/* Frames last interned, by method and line: most frames of a stack are there. */
#define NEAR_BITS   13
#define NEAR_FRAMES (1u << NEAR_BITS)

struct sagg__near_frame {
    uint32_t method; /* + 1; 0 = free */
    uint32_t line;
    uint32_t frame;
};

void sagg__near_frames_clear(sagg *agg)
{
    if (agg->near_frames != NULL)
        memset(agg->near_frames, 0, NEAR_FRAMES * sizeof(*agg->near_frames));
}

void sagg__near_frames_free(sagg *agg)
{
    if (agg->near_frames != NULL)
        sagg__release(&agg->mem, agg->near_frames, NEAR_FRAMES * sizeof(*agg->near_frames));
}

static void make_near_frames(sagg *agg)
{
    size_t bytes = NEAR_FRAMES * sizeof(*agg->near_frames);
    if (agg->near_frames == NULL && agg->mem.used + bytes <= agg->mem.cap / 2)
        agg->near_frames = sagg__alloc_zero(&agg->mem, NEAR_FRAMES, sizeof(*agg->near_frames));
}

static struct sagg__near_frame *near_frame(const sagg *agg, const sagg_frame_ref *ref)
{
    uint64_t hash = ((uint64_t)ref->method << 32 | ref->line) * UINT64_C(0x9E3779B97F4A7C15);
    return &agg->near_frames[hash >> (64 - NEAR_BITS)];
}

static int intern_ref(sagg *agg, uint32_t *frame, const sagg_frame_ref *ref)
{
    if (agg->near_frames == NULL)
        return sagg__intern_row(agg, frame, ref->method, ref->line);
    struct sagg__near_frame *near = near_frame(agg, ref);
    if (near->method == ref->method + 1 && near->line == ref->line) {
        *frame = near->frame;
        return 0;
    }
    int rc = sagg__intern_row(agg, frame, ref->method, ref->line);
    if (rc == 0)
        *near = (struct sagg__near_frame){ref->method + 1, ref->line, *frame};
    return rc;
}

static void id_of(const sagg *agg, sagg_stack_id *id, uint8_t *text, const sagg_frame_ref *refs,
                  size_t count)
{
    const sagg__method *methods = agg->methods.array.items;
    sagg__id_begin(text, agg->normaliser);
    for (size_t i = 0; i < count; i++)
        sagg__id_put(text, i, sagg__frame_id(methods[refs[i].method].hash, refs[i].line));
    sagg__id_end(id, text, count);
}

/* Interns the frames of a new stack into scratch memory. Returns 0 or a negative code. */
static int intern_refs(sagg *agg, uint32_t *frames, const sagg_frame_ref *refs, size_t count)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = intern_ref(agg, &frames[i], &refs[i]);
    return rc;
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

static int add_refs(sagg *agg, uint32_t *stack, const sagg_frame_ref *refs, size_t count)
{
    size_t kept = count <= agg->max_frames ? count : agg->max_frames;
    size_t text_bytes = (SAGG__ID_PREFIX + kept * 8 + 7) / 8 * 8;
    uint8_t *text = sagg__scratch(agg, text_bytes + kept * (sizeof(*refs) + sizeof(uint32_t)));
    if (text == NULL)
        return SAGG_E_NOMEM;
    sagg_frame_ref *own = (sagg_frame_ref *)(void *)(text + text_bytes);
    uint32_t *frames = (uint32_t *)(void *)(own + kept);
    int rc = count > kept ? cut(agg, own, refs) : 0;
    if (rc != 0)
        return rc;
    if (count > kept)
        refs = own;
    sagg_stack_id id;
    id_of(agg, &id, text, refs, kept);
    sagg__prefetch_stack(agg, &id);
    /* After a new stack another is likely: its frames are interned while the memory arrives that
     * tells. The frames of one that is there are there, too. */
    bool is_early = agg->new_stacks;
    if (is_early)
        rc = intern_refs(agg, frames, refs, kept);
    agg->new_stacks = !sagg__find_stack(agg, &id, stack);
    if (!agg->new_stacks)
        return 0;
    if (!is_early)
        rc = intern_refs(agg, frames, refs, kept);
    return rc != 0 ? rc : sagg__append_stack(agg, stack, &id, frames, kept);
}

int sagg_add_stack_refs(sagg *agg, uint32_t *stack, const sagg_frame_ref *frames, size_t count,
                        sagg_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i].method >= agg->methods.count)
            return sagg__fail(err, SAGG_E_USAGE, 0,
                              "Method %u does not exist: indices of methods are void after "
                              "sagg_compact.",
                              frames[i].method);
    make_near_frames(agg);
    int rc = add_refs(agg, stack, frames, count);
    if (rc == SAGG_E_LIMIT)
        return sagg__refuse_stack(agg, stack);
    return rc != 0 ? sagg__no_memory(err) : 0;
}
