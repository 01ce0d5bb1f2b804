/* SPDX-License-Identifier: Apache-2.0 */
/* Adds thread snapshots to a batch. */
#include "batch_impl.h"

#include <stdlib.h>
#include <string.h>

void thread_snapshot_clear(thread_snapshot *one)
{
    string_table_clear(&one->strings);
    free(one->states);
    free(one->locks);
    free(one->held);
    free(one->deadlocks);
    free(one->frames);
    free(one->stacks);
    free(one->stack_frames);
    *one = (thread_snapshot){.states = NULL};
}

void thread_snapshot_failed(thread_snapshot *out, uint64_t taken_ms, uint32_t reason)
{
    *out = (thread_snapshot){.meta = {.taken_ms = taken_ms, .reason = reason}};
}

/* One snapshot, of a batch or from the reader: its threads are states [first, end). */
typedef struct source {
    const batch_snapshot *meta;
    const string_table *strings;
    const batch_state *states;
    size_t first, end;
    const batch_lock *locks;
    uint32_t *lock_map; /* the new index of a lock, plus 1; 0 = not added yet */
    const batch_held *held;
    size_t held_count;
    const batch_deadlock *deadlocks;
    size_t deadlock_count;
    frame_source frames;
    const profile_stack *stacks;
} source;

/* Gets the index in `one` of lock `index`. Returns 0 or -1. */
static int add_lock(batch *one, const source *from, uint32_t index, uint32_t *out)
{
    if (from->lock_map[index] == 0) {
        batch_lock *to = BATCH_NEXT(one->locks, one->lock_room, one->lock_count);
        if (to == NULL)
            return -1;
        *to = from->locks[index];
        if (batch_move_string(&one->strings, from->strings, from->locks[index].class_str,
                              &to->class_str) != 0)
            return -1;
        from->lock_map[index] = (uint32_t)++one->lock_count;
    }
    *out = from->lock_map[index] - 1;
    return 0;
}

static int add_state(batch *one, const source *from, const batch_state *state)
{
    const string_table *strings = from->strings;
    batch_state *to = BATCH_NEXT(one->states, one->state_room, one->state_count);
    uint32_t index = 0;
    if (to == NULL)
        return -1;
    *to = *state;
    to->snapshot = (uint32_t)one->snapshot_count - 1;
    if (batch_move_string(&one->strings, strings, state->name_str, &to->name_str) != 0 ||
        batch_move_string(&one->strings, strings, state->pool_str, &to->pool_str) != 0 ||
        batch_move_string(&one->strings, strings, state->owner_str, &to->owner_str) != 0 ||
        batch_move_string(&one->strings, strings, state->carries_str, &to->carries_str) != 0)
        return -1;
    if (state->lock > 0) {
        if (add_lock(one, from, state->lock - 1, &index) != 0)
            return -1;
        to->lock = index + 1;
    }
    if (state->stack > 0) {
        if (batch_add_stack(one, &from->frames, &from->stacks[state->stack - 1], &index) != 0)
            return -1;
        to->stack = index + 1;
    }
    one->state_count++;
    return 0;
}

/* Adds the held locks and deadlocks of the source's threads; the first thread is at `base` in
 * `one`. */
static int add_relations(batch *one, const source *from, uint32_t base)
{
    for (size_t i = 0; i < from->held_count; i++) {
        uint32_t thread = from->held[i].thread;
        if (thread < from->first || thread >= from->end)
            continue;
        batch_held *to = BATCH_NEXT(one->held, one->held_room, one->held_count);
        if (to == NULL)
            return -1;
        *to = from->held[i];
        to->thread = base + (thread - (uint32_t)from->first);
        if (add_lock(one, from, from->held[i].lock, &to->lock) != 0)
            return -1;
        one->held_count++;
    }
    for (size_t i = 0; i < from->deadlock_count; i++) {
        uint32_t thread = from->deadlocks[i].thread;
        if (thread < from->first || thread >= from->end)
            continue;
        batch_deadlock *to = BATCH_NEXT(one->deadlocks, one->deadlock_room, one->deadlock_count);
        if (to == NULL)
            return -1;
        *to = from->deadlocks[i];
        to->thread = base + (thread - (uint32_t)from->first);
        one->deadlock_count++;
    }
    return 0;
}

static int add_source(batch *one, const local_jvm *jvm, const target_labels *labels,
                      const source *from)
{
    uint32_t base = (uint32_t)one->state_count;
    batch_snapshot *to = BATCH_NEXT(one->snapshots, one->snapshot_room, one->snapshot_count);
    uint32_t target = 0;
    if (to == NULL || from->lock_map == NULL || batch__add_target(one, jvm, labels, &target) != 0)
        return -1;
    *to = *from->meta;
    to->target = target;
    one->snapshot_count++;
    for (size_t i = from->first; i < from->end; i++) {
        if (add_state(one, from, &from->states[i]) != 0)
            return -1;
    }
    return add_relations(one, from, base);
}

int batch_add_snapshot(batch *one, const local_jvm *jvm, const target_labels *labels,
                       const thread_snapshot *from)
{
    const source all = {
        .meta = &from->meta,
        .strings = &from->strings,
        .states = from->states,
        .end = from->state_count,
        .locks = from->locks,
        .lock_map = calloc(from->lock_count + 1, sizeof(uint32_t)),
        .held = from->held,
        .held_count = from->held_count,
        .deadlocks = from->deadlocks,
        .deadlock_count = from->deadlock_count,
        .frames = {&from->strings, from->frames, from->stack_frames},
        .stacks = from->stacks,
    };
    int rc = add_source(one, jvm, labels, &all);
    free(all.lock_map);
    return rc;
}

int batch__copy_snapshot(batch *one, const local_jvm *jvm, const target_labels *labels,
                         const batch *from, uint32_t snapshot)
{
    source part = {
        .meta = &from->snapshots[snapshot],
        .strings = &from->strings,
        .states = from->states,
        .locks = from->locks,
        .lock_map = calloc(from->lock_count + 1, sizeof(uint32_t)),
        .held = from->held,
        .held_count = from->held_count,
        .deadlocks = from->deadlocks,
        .deadlock_count = from->deadlock_count,
        .frames = batch_frames(from),
        .stacks = from->stacks,
    };
    while (part.first < from->state_count && from->states[part.first].snapshot < snapshot)
        part.first++;
    for (part.end = part.first;
         part.end < from->state_count && from->states[part.end].snapshot == snapshot;)
        part.end++;
    int rc = add_source(one, jvm, labels, &part);
    free(part.lock_map);
    return rc;
}

bool batch_would_pass_snapshot(const batch *one, const batch_limits *limits,
                               const thread_snapshot *from)
{
    return batch__over(limits->rows, one->state_count + from->state_count) ||
           batch__over(limits->rows, one->held_count + from->held_count) ||
           batch__over(limits->windows, one->snapshot_count + 1) ||
           batch__over(limits->targets, one->target_count + 1) ||
           batch__over(limits->stacks, one->stack_ids.count + from->stack_count) ||
           batch__over(limits->string_bytes,
                       one->strings.bytes + one->dictionary.bytes + from->strings.bytes) ||
           batch__over(limits->payload_bytes, batch_bytes(one) + from->strings.bytes +
                                                  80 * (uint64_t)from->state_count +
                                                  32 * (uint64_t)from->stack_count);
}
