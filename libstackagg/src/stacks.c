/* SPDX-License-Identifier: Apache-2.0 */
/* Methods, frames and stacks of an aggregate. */
#include <string.h>

#include "aggregate.h"
#include "fail.h"
#include "frame.h"
#include "id.h"
#include "utf8.h"

struct wanted_method {
    const sagg *agg;
    const sagg_frame *frame;
};

static bool equal(sagg_str a, sagg_str b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool is_method(const void *context, uint32_t value)
{
    const struct wanted_method *wanted = context;
    const sagg__method *method = SAGG__AT(sagg__method, wanted->agg->methods.array, value);
    const sagg__names *names = &wanted->agg->names;
    return method->kind == wanted->frame->kind &&
           equal(sagg__name_get(names, method->class_name), wanted->frame->class_name) &&
           equal(sagg__name_get(names, method->method), wanted->frame->method);
}

/* Whether `a` is the better file name: there is one, and it is smaller bytewise. */
static bool better_file(sagg_str a, sagg_str b)
{
    if (a.size == 0 || b.size == 0)
        return a.size > 0;
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order < 0 || (order == 0 && a.size < b.size);
}

static int offer_file(sagg *agg, uint32_t method, sagg_str file)
{
    sagg__method *row = SAGG__AT(sagg__method, agg->methods.array, method);
    if (!better_file(file, sagg__name_get(&agg->names, row->file)))
        return 0;
    uint32_t number;
    int rc = sagg__name_add(&agg->mem, &agg->names, file, &number);
    if (rc == 0)
        row->file = number;
    return rc;
}

static bool find_method(const sagg *agg, uint32_t *index, const sagg_frame *frame, uint64_t *hash)
{
    struct wanted_method wanted = {agg, frame};
    *hash = sagg__method_hash(frame->kind, frame->class_name, frame->method);
    return sagg__index_find(&agg->methods.index, *hash, is_method, &wanted, index);
}

static int add_method(sagg *agg, uint32_t *index, const sagg_frame *frame)
{
    sagg__method method = {.kind = frame->kind};
    if (find_method(agg, index, frame, &method.hash))
        return 0;
    int rc = sagg__set_reserve(agg, &agg->methods, sizeof(method));
    if (rc == 0)
        rc = sagg__name_add(&agg->mem, &agg->names, frame->class_name, &method.class_name);
    if (rc == 0)
        rc = sagg__name_add(&agg->mem, &agg->names, frame->method, &method.method);
    if (rc != 0)
        return rc;
    *index = agg->methods.count++;
    *SAGG__AT(sagg__method, agg->methods.array, *index) = method;
    sagg__index_put(&agg->methods.index, method.hash, *index);
    return 0;
}

struct wanted_frame {
    const sagg *agg;
    const sagg__frame *frame;
};

static bool is_frame(const void *context, uint32_t value)
{
    const struct wanted_frame *wanted = context;
    const sagg__frame *frame = SAGG__AT(sagg__frame, wanted->agg->frames.array, value);
    return frame->method == wanted->frame->method && frame->line == wanted->frame->line;
}

/* Interns the frame of a method at a line. Returns 0, SAGG_E_LIMIT or SAGG_E_NOMEM. */
static int intern_line(sagg *agg, uint32_t *index, uint32_t method, uint32_t line)
{
    const sagg__method *of = SAGG__AT(sagg__method, agg->methods.array, method);
    sagg__frame row = {sagg__frame_id(of->hash, line), method, line};
    struct wanted_frame wanted = {agg, &row};
    if (sagg__index_find(&agg->frames.index, row.id, is_frame, &wanted, index))
        return 0;
    int rc = sagg__set_reserve(agg, &agg->frames, sizeof(row));
    if (rc != 0)
        return rc;
    *index = agg->frames.count++;
    *SAGG__AT(sagg__frame, agg->frames.array, *index) = row;
    sagg__index_put(&agg->frames.index, row.id, *index);
    return 0;
}

static int intern_method(sagg *agg, uint32_t *method, const sagg_frame *frame)
{
    int rc = add_method(agg, method, frame);
    return rc != 0 ? rc : offer_file(agg, *method, frame->file);
}

int sagg__intern_frame(sagg *agg, uint32_t *index, const sagg_frame *frame)
{
    uint32_t method;
    int rc = intern_method(agg, &method, frame);
    return rc != 0 ? rc : intern_line(agg, index, method, frame->line);
}

/* A frame's names cleaned and normalised, in scratch memory; file is cleaned only. */
static int prepare(sagg *agg, sagg_frame *out, const sagg_frame *frame, sagg_error *err)
{
    if (!sagg__kind_known(frame->kind))
        return sagg__fail(err, SAGG_E_USAGE, 0, "A frame has the unknown kind %u: use 0 to 4.",
                          frame->kind);
    size_t names = sagg__frame_room(frame);
    char *room = sagg__scratch(agg, names + sagg__clean_room(frame->file.size));
    if (room == NULL)
        return sagg__no_memory(err);
    sagg__frame_prepare(out, room, frame, agg->normaliser);
    out->file.data = room + names;
    out->file.size = sagg__clean(room + names, frame->file.data, frame->file.size);
    return 0;
}

static int fail_interning(sagg *agg, int rc, sagg_error *err)
{
    if (rc == SAGG_E_LIMIT) {
        agg->full = true;
        return sagg__fail(err, rc, 0,
                          "The aggregate's byte cap is reached: give the frame's stacks as "
                          "SAGG_DROPPED, or call sagg_compact.");
    }
    return rc != 0 ? sagg__no_memory(err) : 0;
}

int sagg_add_frame(sagg *agg, uint32_t *frame_index, const sagg_frame *frame, sagg_error *err)
{
    sagg_frame prepared;
    int rc = prepare(agg, &prepared, frame, err);
    if (rc != 0)
        return rc;
    return fail_interning(agg, sagg__intern_frame(agg, frame_index, &prepared), err);
}

int sagg_add_method(sagg *agg, uint32_t *method, const sagg_frame *frame, sagg_error *err)
{
    sagg_frame prepared;
    uint64_t hash;
    /* Names that are kept are clean and normalised: the same are as they are. */
    if (frame->file.size == 0 && find_method(agg, method, frame, &hash))
        return 0;
    int rc = prepare(agg, &prepared, frame, err);
    if (rc != 0)
        return rc;
    return fail_interning(agg, intern_method(agg, method, &prepared), err);
}

int sagg_add_line(sagg *agg, uint32_t *frame_index, uint32_t method, uint32_t line, sagg_error *err)
{
    if (method >= agg->methods.count)
        return sagg__fail(err, SAGG_E_USAGE, 0,
                          "Method %u does not exist: indices of methods are void after "
                          "sagg_compact.",
                          method);
    return fail_interning(agg, intern_line(agg, frame_index, method, line), err);
}

struct wanted_stack {
    const sagg *agg;
    const sagg_stack_id *id;
};

static bool is_stack(const void *context, uint32_t value)
{
    const struct wanted_stack *wanted = context;
    const sagg__stack *stack = SAGG__AT(sagg__stack, wanted->agg->stacks.array, value);
    return memcmp(stack->id.bytes, wanted->id->bytes, sizeof(stack->id.bytes)) == 0;
}

static uint64_t hash_id(const sagg_stack_id *id)
{
    uint64_t hash;
    memcpy(&hash, id->bytes, sizeof(hash));
    return hash;
}

bool sagg__find_stack(const sagg *agg, const sagg_stack_id *id, uint32_t *index)
{
    struct wanted_stack wanted = {agg, id};
    return sagg__index_find(&agg->stacks.index, hash_id(id), is_stack, &wanted, index);
}

uint64_t sagg__stack_hash(const sagg__stack *stack)
{
    return hash_id(&stack->id);
}

void sagg__prefetch_stack(const sagg *agg, const sagg__stack *stack)
{
    __builtin_prefetch(sagg__index_slot(&agg->stacks.index, sagg__stack_hash(stack)));
}

/* The id of a stack. Returns 0; SAGG_E_USAGE with *bad, a frame that does not exist; SAGG_E_NOMEM.
 */
static int compute_id(sagg *agg, sagg_stack_id *id, const uint32_t *frames, size_t count,
                      uint32_t *bad)
{
    const sagg__frame *rows = agg->frames.array.items;
    const uint32_t row_count = agg->frames.count;
    uint8_t *text = sagg__scratch(agg, SAGG__ID_PREFIX + count * 8);
    if (text == NULL)
        return SAGG_E_NOMEM;
    sagg__id_begin(text, agg->normaliser);
    for (size_t i = 0; i < count; i++) {
        if (frames[i] >= row_count) {
            *bad = frames[i];
            return SAGG_E_USAGE;
        }
        sagg__id_put(text, i, rows[frames[i]].id);
    }
    sagg__id_end(id, text, count);
    return 0;
}

/* Whether a frame's number has more than 16 bits. */
static bool any_wide(const uint32_t *frames, size_t count)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= frames[i];
    return bits > UINT16_MAX;
}

static int keep_frames(sagg *agg, sagg__stack *stack, const uint32_t *frames, size_t count)
{
    stack->count = (uint32_t)count & INT32_MAX;
    stack->wide = agg->frames.count > UINT16_MAX + 1 && any_wide(frames, count);
    const uint64_t first = sagg__stack_begin(stack, agg->stack_frames_used);
    const uint64_t end = sagg__stack_end(stack, first);
    if (count > INT32_MAX || end > UINT32_MAX)
        return SAGG_E_LIMIT;
    int rc = sagg__extend(&agg->mem, &agg->stack_frames, (size_t)end, sizeof(uint16_t));
    if (rc != 0)
        return rc;
    stack->first = (uint32_t)first;
    agg->stack_frames_used = (uint32_t)end;
    void *to = sagg__stack_frames(agg, stack);
    const bool wide = stack->wide;
    for (uint32_t i = 0; i < count; i++)
        sagg__put_frame(to, wide, i, frames[i]);
    return 0;
}

int sagg__append_stack(sagg *agg, uint32_t *index, const sagg_stack_id *id, const uint32_t *frames,
                       size_t count)
{
    sagg__stack stack = {.id = *id};
    if (agg->stacks.count > 2 * (uint64_t)agg->max_stacks)
        return SAGG_E_LIMIT;
    int rc = sagg__set_reserve(agg, &agg->stacks, sizeof(stack));
    if (rc == 0 && !agg->no_frames)
        rc = keep_frames(agg, &stack, frames, count);
    if (rc != 0)
        return rc;
    *index = agg->stacks.count++;
    *SAGG__AT(sagg__stack, agg->stacks.array, *index) = stack;
    sagg__index_put(&agg->stacks.index, sagg__stack_hash(&stack), *index);
    return 0;
}

int sagg__refuse_stack(sagg *agg, uint32_t *index)
{
    agg->full = true;
    agg->loss.stacks_dropped++;
    *index = SAGG_DROPPED;
    return 0;
}

/* Finds or adds the stack of an id. Returns 0 or SAGG_E_NOMEM. */
static int intern_id(sagg *agg, uint32_t *index, const sagg_stack_id *id, const uint32_t *frames,
                     size_t count)
{
    if (sagg__find_stack(agg, id, index))
        return 0;
    int rc = sagg__append_stack(agg, index, id, frames, count);
    return rc == SAGG_E_LIMIT ? sagg__refuse_stack(agg, index) : rc;
}

static int intern_stack(sagg *agg, uint32_t *index, const uint32_t *frames, size_t count,
                        uint32_t *bad)
{
    sagg_stack_id id;
    int rc = compute_id(agg, &id, frames, count, bad);
    return rc != 0 ? rc : intern_id(agg, index, &id, frames, count);
}

static sagg_frame marker(const char *name)
{
    return (sagg_frame){.method = {name, strlen(name)}, .kind = SAGG_UNKNOWN};
}

/* A stack past max_frames: its leaf-most frames with a root that says so. */
static int intern_cut(sagg *agg, uint32_t *index, const uint32_t *frames, uint32_t *bad)
{
    sagg_frame root = marker("[truncated]");
    size_t count = agg->max_frames;
    uint32_t *cut = sagg__alloc(&agg->mem, count * sizeof(*cut));
    if (cut == NULL)
        return SAGG_E_NOMEM;
    memcpy(cut, frames, (count - 1) * sizeof(*cut));
    int rc = sagg__intern_frame(agg, &cut[count - 1], &root);
    if (rc == 0)
        rc = intern_stack(agg, index, cut, count, bad);
    sagg__release(&agg->mem, cut, count * sizeof(*cut));
    agg->loss.stacks_cut += rc != SAGG_E_USAGE;
    if (rc != SAGG_E_LIMIT)
        return rc;
    agg->full = true;
    *index = SAGG_DROPPED;
    return 0;
}

/* Stacks whose ids are computed, and whose places in the index are asked for, before one is added:
 * the index of many stacks is larger than the caches. */
enum { STACKS_AT_ONCE = 32 };

/* Adds up to STACKS_AT_ONCE. Returns as compute_id; those before the bad one are added. */
static int intern_some(sagg *agg, uint32_t *stacks, const uint32_t *frames, const uint32_t *depths,
                       size_t count, uint32_t *bad)
{
    sagg_stack_id ids[STACKS_AT_ONCE];
    const uint32_t *at = frames;
    size_t good = 0;
    int rc = 0;
    for (; good < count; good++) {
        if (depths[good] <= agg->max_frames) {
            rc = compute_id(agg, &ids[good], at, depths[good], bad);
            if (rc != 0)
                break;
            __builtin_prefetch(sagg__index_slot(&agg->stacks.index, hash_id(&ids[good])));
        }
        at += depths[good];
    }
    int added = 0;
    at = frames;
    for (size_t i = 0; added == 0 && i < good; i++) {
        added = depths[i] > agg->max_frames ? intern_cut(agg, &stacks[i], at, bad)
                                            : intern_id(agg, &stacks[i], &ids[i], at, depths[i]);
        at += depths[i];
    }
    return added != 0 ? added : rc;
}

int sagg_add_stacks(sagg *agg, uint32_t *stacks, const uint32_t *frames, const uint32_t *depths,
                    size_t count, sagg_error *err)
{
    static const uint32_t no_frame = 0;
    uint32_t bad = 0;
    int rc = 0;
    frames = frames != NULL ? frames : &no_frame; /* stacks that have none */
    for (size_t at = 0; rc == 0 && at < count; at += STACKS_AT_ONCE) {
        size_t some = count - at < STACKS_AT_ONCE ? count - at : STACKS_AT_ONCE;
        rc = intern_some(agg, stacks + at, frames, depths + at, some, &bad);
        for (size_t i = 0; i < some; i++)
            frames += depths[at + i];
    }
    if (rc == SAGG_E_USAGE)
        return sagg__fail(err, rc, 0,
                          "Frame %u does not exist: indices of frames are void after "
                          "sagg_compact.",
                          bad);
    return rc != 0 ? sagg__no_memory(err) : 0;
}

int sagg_add_ids(sagg *agg, uint32_t *stacks, const sagg_stack_id *ids, size_t count,
                 sagg_error *err)
{
    int rc = 0;
    if (!agg->no_frames)
        return sagg__fail(err, SAGG_E_USAGE, 0,
                          "Stacks without frames are for aggregates without frames (no_frames).");
    for (size_t at = 0; at < count; at += STACKS_AT_ONCE) {
        size_t end = count - at < STACKS_AT_ONCE ? count : at + STACKS_AT_ONCE;
        for (size_t i = at; i < end; i++)
            __builtin_prefetch(sagg__index_slot(&agg->stacks.index, hash_id(&ids[i])));
        for (size_t i = at; rc == 0 && i < end; i++)
            rc = intern_id(agg, &stacks[i], &ids[i], NULL, 0);
    }
    return rc != 0 ? sagg__no_memory(err) : 0;
}

int sagg_add_stack(sagg *agg, uint32_t *stack, const uint32_t *frames, size_t count,
                   sagg_error *err)
{
    uint32_t depth = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    return sagg_add_stacks(agg, stack, frames, &depth, 1, err);
}

int sagg__add_stack_zero(sagg *agg)
{
    sagg_frame frame = marker("[dropped]");
    uint32_t index, stack, bad = 0;
    int rc = sagg__intern_frame(agg, &index, &frame);
    return rc != 0 ? rc : intern_stack(agg, &stack, &index, 1, &bad);
}

/* What a compaction walks over: it pays once a part of that has been added since the last one. */
static uint64_t compaction_work(const sagg *agg)
{
    return (uint64_t)agg->stacks.count + agg->names.count + agg->threads.count + agg->labels.count;
}

bool sagg_full(const sagg *agg)
{
    bool refused = agg->full || agg->stacks.count > 2 * (uint64_t)agg->max_stacks;
    return refused && agg->adds >= compaction_work(agg) / 8;
}
