/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an aggregate. */
#include "aggregate/aggregate_impl.h"

#include <string.h>

#include "fail_impl.h"

static bool is_zero(const sagg_totals *totals)
{
    return totals->samples == 0 && totals->value == 0 && totals->raw_value == 0;
}

size_t sagg__first_dropped(const sagg *agg)
{
    return (size_t)agg->entries.count * 2;
}

/* The cursor counts through the entries, by halves, then through the dropped rows. */
bool sagg_next(const sagg *agg, size_t *cursor, sagg_entry *entry)
{
    size_t halves = sagg__first_dropped(agg);
    if (*cursor < halves) {
        uint32_t half = *cursor & 1;
        const sagg__entry row = sagg__entry_at(agg, (uint32_t)(*cursor / 2));
        const sagg__entry one = sagg__entry_half(&row, half);
        *entry = (sagg_entry){.type = agg->types[one.key.slot].id,
                              .thread = one.key.thread,
                              .stack = one.key.stack,
                              .label = one.key.label,
                              .totals = one.totals};
        *cursor += half == 0 && sagg__entry_halves(&row) == 1 ? 2 : 1;
        return true;
    }
    size_t end = (size_t)agg->threads.count * agg->type_count;
    for (size_t at = *cursor - halves; at < end; at++) {
        const sagg_totals *row = SAGG__AT(sagg_totals, agg->dropped, at);
        (*cursor)++;
        if (is_zero(row))
            continue;
        *entry = (sagg_entry){.type = agg->types[at % agg->type_count].id,
                              .thread = (uint32_t)(at / agg->type_count),
                              .stack = SAGG_DROPPED,
                              .totals = *row};
        return true;
    }
    return false;
}

static bool any_dropped(const sagg *agg, uint32_t slot)
{
    for (uint32_t thread = 0; thread < agg->threads.count; thread++) {
        if (!is_zero(sagg__dropped_row(agg, thread, slot)))
            return true;
    }
    return false;
}

void sagg_type_stacks(const sagg *agg, uint64_t counts[SAGG_MAX_TYPE + 1])
{
    memset(counts, 0, (SAGG_MAX_TYPE + 1) * sizeof(*counts));
    for (uint32_t slot = 0; slot < agg->type_count; slot++)
        counts[agg->types[slot].id] = (uint64_t)agg->type_stacks[slot] + any_dropped(agg, slot);
}

/* ---- the rest ---- */

static uint32_t slot_of(const sagg *agg, uint32_t type)
{
    return type <= SAGG_MAX_TYPE ? agg->slot_of[type] : SAGG__NO_SLOT;
}

sagg_totals sagg_type_totals(const sagg *agg, uint32_t type)
{
    uint32_t slot = slot_of(agg, type);
    return slot != SAGG__NO_SLOT ? agg->totals[slot] : (sagg_totals){0};
}

sagg_totals sagg_thread_totals(const sagg *agg, uint32_t thread, uint32_t type)
{
    uint32_t slot = slot_of(agg, type);
    if (slot == SAGG__NO_SLOT || thread >= agg->threads.count)
        return (sagg_totals){0};
    return *sagg__thread_row(agg, thread, slot);
}

uint64_t sagg_error_bound(const sagg *agg, uint32_t type)
{
    uint32_t slot = slot_of(agg, type);
    return slot != SAGG__NO_SLOT ? agg->error_bound[slot] : 0;
}

bool sagg_type_at(const sagg *agg, size_t index, sagg_type *type)
{
    if (index >= agg->type_count)
        return false;
    *type = agg->types[index];
    return true;
}

uint32_t sagg_stack_count(const sagg *agg)
{
    return agg->stacks.count;
}

uint32_t sagg_frame_count(const sagg *agg)
{
    return agg->frames.count;
}

uint32_t sagg_thread_count(const sagg *agg)
{
    return agg->threads.count;
}

bool sagg_frame_at(const sagg *agg, uint32_t index, sagg_frame *frame)
{
    if (index >= agg->frames.count)
        return false;
    const sagg__frame *row = SAGG__AT(sagg__frame, agg->frames.array, index);
    const sagg__method *method = SAGG__AT(sagg__method, agg->methods.array, row->method);
    frame->class_name = sagg__name_get(&agg->names, method->class_name);
    frame->method = sagg__name_get(&agg->names, method->method);
    frame->file = sagg__name_get(&agg->names, method->file);
    frame->line = row->line;
    frame->kind = method->kind;
    return true;
}

bool sagg_thread_at(const sagg *agg, uint32_t index, sagg_thread *thread)
{
    if (index >= agg->threads.count)
        return false;
    const sagg__thread *row = SAGG__AT(sagg__thread, agg->threads.array, index);
    thread->os_tid = row->os_tid;
    thread->java_tid = row->java_tid;
    thread->name = sagg__name_get(&agg->names, row->name);
    thread->pool = sagg__name_get(&agg->names, row->pool);
    thread->pool_thread = row->pool_thread;
    return true;
}

bool sagg_label_at(const sagg *agg, uint32_t index, uint32_t *tag, sagg_str *text)
{
    if (index >= agg->labels.count)
        return false;
    const sagg__label *row = SAGG__AT(sagg__label, agg->labels.array, index);
    *tag = row->tag;
    *text = sagg__name_get(&agg->names, row->text);
    return true;
}

bool sagg_stack_at(const sagg *agg, uint32_t index, sagg_stack *stack)
{
    if (index >= agg->stacks.count)
        return false;
    const sagg__stack *row = SAGG__AT(sagg__stack, agg->stacks.array, index);
    *stack = sagg__stack_view(agg, row);
    return true;
}

bool sagg_stack_id_at(const sagg *agg, uint32_t index, sagg_stack_id *id)
{
    if (index >= agg->stacks.count)
        return false;
    sagg__stack_id(agg, index, id);
    return true;
}

sagg_loss sagg_losses(const sagg *agg)
{
    return agg->loss;
}

uint64_t sagg_bytes(const sagg *agg)
{
    return agg->mem.used;
}
