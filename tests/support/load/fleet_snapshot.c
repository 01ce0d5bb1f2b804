/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the thread snapshot of a simulated JVM. */
#include "fleet_impl.h"

#include <stdio.h>

enum { RUNNABLE = 2, BLOCKED = 3, WAITING = 4, TAKEN_AT_MS = 30000, MONITOR = 1 };

/* Whether the JVM has two threads that wait for each other: the first one of each node has. */
static bool has_deadlock(const making *m, uint32_t jvm)
{
    enum { NODES_A_DEADLOCK = 50 };

    return jvm == 0 && m->name.node % NODES_A_DEADLOCK == 0 && m->f->threads >= 2;
}

/* timed: the JVM's contention monitoring is on, which is off by default. */
static int add_state(making *m, uint32_t snapshot, uint32_t i, bool timed)
{
    const profile *read = &m->f->from->read;
    batch *to = m->to;
    batch_state *state = BATCH_NEXT(to->states, to->state_room, to->state_count);
    bool runs = i % 10 == 3;
    char name[NAME_SIZE];

    if (state == NULL)
        return -1;
    *state = (batch_state){.snapshot = snapshot,
                           .java_tid = 20 + i,
                           .os_tid = 2000 + i,
                           .state = runs ? RUNNABLE : WAITING,
                           .cpu_ns = 1 + (runs ? making_roll(m) % 100000000 : 0),
                           .allocated_bytes = 1 + (runs ? making_roll(m) % 10000000 : 0),
                           .blocked_ms = timed ? 1 : 0,
                           .waited_ms = timed ? 1 + making_roll(m) % WINDOW_MS : 0};
    to->state_count++;
    (void)snprintf(name, sizeof(name), "http-nio-8080-exec-%u", i);
    if (making_text(m, name, &state->name_str) != 0 ||
        making_text(m, "http-nio-8080-exec-#", &state->pool_str) != 0)
        return -1;
    if (!runs || read->stack_count < 2)
        return 0;
    uint32_t stack = 0, recorded = 1 + (uint32_t)(making_roll(m) % (read->stack_count - 1));
    if (making_stack(m, recorded, &stack) != 0)
        return -1;
    state->stack = stack + 1;
    return 0;
}

/* Adds one of two threads of a cycle: it holds a lock, and waits for the other's. */
static int add_deadlocked(making *m, uint32_t first, uint32_t locks, uint32_t i)
{
    batch *to = m->to;
    batch_lock *lock = BATCH_NEXT(to->locks, to->lock_room, to->lock_count);
    batch_held *held = BATCH_NEXT(to->held, to->held_room, to->held_count);
    batch_deadlock *sighting = BATCH_NEXT(to->deadlocks, to->deadlock_room, to->deadlock_count);
    batch_state *state = &to->states[first + i], *other = &to->states[first + 1 - i];

    if (lock == NULL || held == NULL || sighting == NULL)
        return -1;
    *lock = (batch_lock){.identity = 1000 + i};
    *held = (batch_held){.thread = first + i, .lock = locks + i, .kind = MONITOR};
    *sighting = (batch_deadlock){.cycle = 7, .thread = first + i};
    to->lock_count++;
    to->held_count++;
    to->deadlock_count++;
    state->state = BLOCKED;
    state->lock = locks + (1 - i) + 1;
    state->owner_tid = other->java_tid;
    state->owner_str = other->name_str;
    return making_text(m, "com.acme.shop.Account", &lock->class_str);
}

int making_snapshot(making *m, uint32_t jvm)
{
    batch *to = m->to;
    uint32_t index = (uint32_t)to->snapshot_count, first = (uint32_t)to->state_count;
    uint32_t locks = (uint32_t)to->lock_count;
    batch_snapshot *snapshot = BATCH_NEXT(to->snapshots, to->snapshot_room, to->snapshot_count);

    if (snapshot == NULL)
        return -1;
    uint64_t start_ms = m->f->start_ms + (uint64_t)m->name.window * WINDOW_MS;
    *snapshot = (batch_snapshot){.target = jvm,
                                 .taken_ms = start_ms + TAKEN_AT_MS,
                                 .interval_ms = WINDOW_MS,
                                 .threads_total = m->f->threads,
                                 .offers = 7,
                                 .longest_pause_ns = 100000 + making_roll(m) % 900000};
    to->snapshot_count++;
    for (uint32_t i = 0; i < m->f->threads; i++) {
        if (add_state(m, index, i, has_deadlock(m, jvm)) != 0)
            return -1;
    }
    for (uint32_t i = 0; i < 2 && has_deadlock(m, jvm); i++) {
        if (add_deadlocked(m, first, locks, i) != 0)
            return -1;
    }
    return 0;
}
