/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the heaviest stacks of an aggregate. */
#include <string.h>

#include "aggregate/aggregate_impl.h"
#include "aggregate/saturate_impl.h"
#include "fail_impl.h"
#include "trees/sort_impl.h"

/* The arrays of one compaction; each has one row per stack, frame, method or name. */
struct plan {
    sagg *agg;
    uint32_t keep_count; /* stacks that stay, the dropped one included */
    double *weight;      /* of stacks: largest share of a type */
    uint64_t *value;     /* of stacks, in one type */
    sagg_stack_id *id;   /* of stacks */
    uint32_t *order;     /* stacks by weight; then new numbers of stacks */
    uint32_t *room;      /* for sorting */
    uint32_t *new_frame; /* UINT32_MAX = removed */
    uint32_t *new_method;
    uint32_t *new_name;
    uint8_t *keep_name;
    uint32_t stacks, frames, methods, names; /* sizes of the arrays */
};

static void end(struct plan *p)
{
    sagg__mem *mem = &p->agg->mem;
    sagg__release(mem, p->weight, p->stacks * sizeof(*p->weight));
    sagg__release(mem, p->value, p->stacks * sizeof(*p->value));
    sagg__release(mem, p->id, p->stacks * sizeof(*p->id));
    sagg__release(mem, p->order, p->stacks * sizeof(*p->order));
    sagg__release(mem, p->room, p->stacks * sizeof(*p->room));
    sagg__release(mem, p->new_frame, p->frames * sizeof(*p->new_frame));
    sagg__release(mem, p->new_method, p->methods * sizeof(*p->new_method));
    sagg__release(mem, p->new_name, p->names * sizeof(*p->new_name));
    sagg__release(mem, p->keep_name, p->names);
}

static bool begin(struct plan *p)
{
    sagg *agg = p->agg;
    p->stacks = agg->stacks.count;
    p->frames = agg->frames.count;
    p->methods = agg->methods.count;
    p->names = agg->names.count;
    p->weight = sagg__alloc_zero(&agg->mem, p->stacks, sizeof(*p->weight));
    p->value = sagg__alloc_zero(&agg->mem, p->stacks, sizeof(*p->value));
    p->id = sagg__alloc(&agg->mem, p->stacks * sizeof(*p->id));
    p->order = sagg__alloc_zero(&agg->mem, p->stacks, sizeof(*p->order));
    p->room = sagg__alloc_zero(&agg->mem, p->stacks, sizeof(*p->room));
    p->new_frame = sagg__alloc_zero(&agg->mem, p->frames, sizeof(*p->new_frame));
    p->new_method = sagg__alloc_zero(&agg->mem, p->methods, sizeof(*p->new_method));
    p->new_name = sagg__alloc_zero(&agg->mem, p->names, sizeof(*p->new_name));
    p->keep_name = sagg__alloc_zero(&agg->mem, p->names, 1);
    return p->weight != NULL && p->value != NULL && p->id != NULL && p->order != NULL &&
           p->room != NULL && p->new_frame != NULL && p->new_method != NULL &&
           p->new_name != NULL && p->keep_name != NULL;
}

/* Fills `value` with each stack's total in one type. */
static void value_stacks(struct plan *p, uint32_t slot)
{
    memset(p->value, 0, p->stacks * sizeof(*p->value));
    for (uint32_t i = 0; i < p->agg->entries.count; i++) {
        const sagg__entry entry = sagg__entry_at(p->agg, i);
        for (uint32_t half = 0; half < sagg__entry_halves(&entry); half++) {
            sagg__entry one = sagg__entry_half(&entry, half);
            if (one.key.slot == slot)
                (void)sagg__add_to(&p->value[one.key.stack], one.totals.value);
        }
    }
}

static void weigh_stacks(struct plan *p)
{
    for (uint32_t slot = 0; slot < p->agg->type_count; slot++) {
        double total = (double)p->agg->totals[slot].value;
        if (total == 0)
            continue;
        value_stacks(p, slot);
        for (uint32_t i = 0; i < p->stacks; i++) {
            double share = (double)p->value[i] / total;
            p->weight[i] = share > p->weight[i] ? share : p->weight[i];
        }
    }
}

/* Orders the heaviest first; the dropped stack comes before all. */
static int by_weight(const void *context, uint32_t a, uint32_t b)
{
    const struct plan *p = context;
    if ((a == SAGG_DROPPED) != (b == SAGG_DROPPED))
        return a == SAGG_DROPPED ? -1 : 1;
    if (p->weight[a] != p->weight[b])
        return p->weight[a] > p->weight[b] ? -1 : 1;
    return memcmp(&p->id[a], &p->id[b], sizeof(p->id[a]));
}

/* Turns `order` into new numbers: stacks that stay keep their order of adding. */
static void choose_stacks(struct plan *p)
{
    for (uint32_t i = 0; i < p->stacks; i++) {
        p->order[i] = i;
        sagg__stack_id(p->agg, i, &p->id[i]);
    }
    sagg__sort(p->order, p->room, p->stacks, by_weight, p);
    memset(p->room, 0, p->stacks * sizeof(*p->room));
    for (uint32_t i = 0; i < p->keep_count; i++)
        p->room[p->order[i]] = 1;
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->stacks; i++)
        p->order[i] = p->room[i] ? next++ : UINT32_MAX;
}

/* Adds the largest value of an evicted stack to the error bound, since a stack that is added again
 * can lack that much. */
static void widen_error_bounds(struct plan *p)
{
    for (uint32_t slot = 0; slot < p->agg->type_count; slot++) {
        uint64_t most = 0;
        value_stacks(p, slot);
        for (uint32_t i = 0; i < p->stacks; i++)
            if (p->order[i] == UINT32_MAX && p->value[i] > most)
                most = p->value[i];
        sagg__sum_one(p->agg, &p->agg->error_bound[slot], most);
    }
}

static void drop_entry(sagg *agg, const sagg__entry *entry)
{
    for (uint32_t half = 0; half < sagg__entry_halves(entry); half++) {
        sagg__entry one = sagg__entry_half(entry, half);
        sagg__add_dropped(agg, one.key.slot, one.key.thread, &one.totals);
    }
}

static void move_entries(struct plan *p)
{
    sagg *agg = p->agg;
    uint32_t count = 0;
    sagg__entries_forget(agg);
    for (uint32_t i = 0; i < agg->entries.count; i++) {
        sagg__entry entry = sagg__entry_at(agg, i);
        uint32_t stack = p->order[entry.key.stack];
        if (stack == UINT32_MAX) {
            drop_entry(agg, &entry);
            continue;
        }
        entry.key.stack = stack;
        sagg__entries_keep(agg, count++, &entry);
    }
    agg->entries.count = count;
}

/* Marks the frames and methods of the stacks that stay with a number that is not UINT32_MAX. */
static void mark_frames(struct plan *p)
{
    sagg *agg = p->agg;
    memset(p->new_frame, 0xFF, p->frames * sizeof(*p->new_frame));
    memset(p->new_method, 0xFF, p->methods * sizeof(*p->new_method));
    for (uint32_t i = 0; i < p->stacks; i++) {
        const sagg_stack stack = sagg__stack_view(agg, SAGG__AT(sagg__stack, agg->stacks.array, i));
        for (uint32_t f = 0; p->order[i] != UINT32_MAX && f < stack.count; f++) {
            uint32_t frame = sagg_stack_frame(&stack, f);
            p->new_frame[frame] = 0;
            p->new_method[SAGG__AT(sagg__frame, agg->frames.array, frame)->method] = 0;
        }
    }
}

static void mark_names(struct plan *p)
{
    sagg *agg = p->agg;
    for (uint32_t i = 0; i < p->methods; i++) {
        const sagg__method *method = SAGG__AT(sagg__method, agg->methods.array, i);
        if (p->new_method[i] == UINT32_MAX)
            continue;
        p->keep_name[method->class_name] = 1;
        p->keep_name[method->method] = 1;
        p->keep_name[method->file] = 1;
    }
    for (uint32_t i = 0; i < agg->threads.count; i++) {
        p->keep_name[SAGG__AT(sagg__thread, agg->threads.array, i)->name] = 1;
        p->keep_name[SAGG__AT(sagg__thread, agg->threads.array, i)->pool] = 1;
    }
    for (uint32_t i = 0; i < agg->labels.count; i++)
        p->keep_name[SAGG__AT(sagg__label, agg->labels.array, i)->text] = 1;
}

static void move_methods(struct plan *p)
{
    sagg *agg = p->agg;
    uint32_t count = 0;
    sagg__index_clear(&agg->methods.index);
    for (uint32_t i = 0; i < p->methods; i++) {
        if (p->new_method[i] == UINT32_MAX)
            continue;
        sagg__method method = *SAGG__AT(sagg__method, agg->methods.array, i);
        method.class_name = p->new_name[method.class_name];
        method.method = p->new_name[method.method];
        method.file = p->new_name[method.file];
        *SAGG__AT(sagg__method, agg->methods.array, count) = method;
        sagg__index_put(&agg->methods.index, method.hash, count);
        p->new_method[i] = count++;
    }
    agg->methods.count = count;
}

static void move_frames(struct plan *p)
{
    sagg *agg = p->agg;
    uint32_t count = 0;
    sagg__index_clear(&agg->frames.index);
    for (uint32_t i = 0; i < p->frames; i++) {
        if (p->new_frame[i] == UINT32_MAX)
            continue;
        sagg__frame frame = *SAGG__AT(sagg__frame, agg->frames.array, i);
        frame.method = p->new_method[frame.method];
        *SAGG__AT(sagg__frame, agg->frames.array, count) = frame;
        sagg__index_put(&agg->frames.index, frame.id, count);
        p->new_frame[i] = count++;
    }
    agg->frames.count = count;
}

/* Returns whether any of a stack's new frame numbers has more than 16 bits. */
static bool stays_wide(const struct plan *p, const sagg_stack *stack)
{
    for (uint32_t f = 0; stack->width > sizeof(uint16_t) && f < stack->count; f++)
        if (p->new_frame[sagg_stack_frame(stack, f)] > UINT16_MAX)
            return true;
    return false;
}

/* Writes the frames of a stack with their new numbers, from `used` on, where nothing is stored any
 * more. */
static sagg__stack move_stack(const struct plan *p, uint32_t index, uint64_t used)
{
    sagg__stack stack = *SAGG__AT(sagg__stack, p->agg->stacks.array, index);
    const sagg_stack from = sagg__stack_view(p->agg, &stack);
    stack.wide = stays_wide(p, &from);
    stack.first = (uint32_t)sagg__stack_begin(&stack, used);
    for (uint32_t f = 0; f < stack.count; f++)
        sagg__put_frame(sagg__stack_frames(p->agg, &stack), stack.wide, f,
                        p->new_frame[sagg_stack_frame(&from, f)]);
    return stack;
}

static void move_stacks(struct plan *p)
{
    sagg *agg = p->agg;
    uint32_t count = 0;
    uint64_t used = 0;
    sagg__index_clear(&agg->stacks.index);
    for (uint32_t i = 0; i < p->stacks; i++) {
        if (p->order[i] == UINT32_MAX)
            continue;
        sagg__stack stack = move_stack(p, i, used);
        used = sagg__stack_end(&stack, stack.first);
        *SAGG__AT(sagg__stack, agg->stacks.array, count) = stack;
        sagg__index_put(&agg->stacks.index, sagg__stack_hash(agg, count), count);
        count++;
    }
    agg->stacks.count = count;
    agg->stack_frames_used = (uint32_t)used;
}

static void move_thread_names(struct plan *p)
{
    sagg *agg = p->agg;
    for (uint32_t i = 0; i < agg->threads.count; i++) {
        sagg__thread *thread = SAGG__AT(sagg__thread, agg->threads.array, i);
        thread->name = p->new_name[thread->name];
        thread->pool = p->new_name[thread->pool];
    }
    for (uint32_t i = 0; i < agg->labels.count; i++) {
        sagg__label *label = SAGG__AT(sagg__label, agg->labels.array, i);
        label->text = p->new_name[label->text];
    }
}

/* Returns how many stacks stay, the dropped one included. */
static uint32_t target(const sagg *agg)
{
    uint32_t kept = agg->stacks.count;
    if (agg->full)
        kept = 1 + (agg->stacks.count - 1) / 2;
    return kept > agg->max_stacks + 1 ? agg->max_stacks + 1 : kept;
}

int sagg_compact(sagg *agg, sagg_error *err)
{
    struct plan p = {.agg = agg, .keep_count = target(agg)};
    if (p.keep_count == agg->stacks.count && !agg->full)
        return 0;
    if (!begin(&p)) {
        end(&p);
        return sagg__no_memory(err);
    }
    agg->full = false;
    agg->adds = 0;
    weigh_stacks(&p);
    choose_stacks(&p);
    widen_error_bounds(&p);
    agg->loss.stacks_dropped += p.stacks - p.keep_count;
    mark_frames(&p);
    mark_names(&p);
    sagg__names_compact(&agg->names, p.keep_name, p.new_name);
    move_methods(&p);
    move_frames(&p);
    move_stacks(&p);
    move_entries(&p);
    move_thread_names(&p);
    end(&p);
    return 0;
}
