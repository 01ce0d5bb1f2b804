/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/select.h"

#include <stdbool.h>
#include <stdlib.h>

static int by_tid(const void *a, const void *b)
{
    const candidate *left = a, *right = b;
    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static void count_waiters(candidate *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        list[i].waiters = 0;
    for (size_t i = 0; i < n; i++) {
        candidate key = {.tid = list[i].owner};
        candidate *owner = key.tid == 0 ? NULL : bsearch(&key, list, n, sizeof(*list), by_tid);
        if (owner != NULL)
            owner->waiters++;
    }
}

/* The order within one kind of candidate: the heaviest first, and the oldest first among equals. */
static int by_delta(const void *a, const void *b)
{
    const candidate *const *left = a, *const *right = b;
    if ((*left)->cpu_delta != (*right)->cpu_delta)
        return (*left)->cpu_delta > (*right)->cpu_delta ? -1 : 1;
    return by_tid(*left, *right);
}

static int by_waiters(const void *a, const void *b)
{
    const candidate *const *left = a, *const *right = b;
    if ((*left)->waiters != (*right)->waiters)
        return (*left)->waiters > (*right)->waiters ? -1 : 1;
    return by_tid(*left, *right);
}

static bool is_deadlocked(const candidate *c)
{
    return c->deadlocked != 0;
}

static bool is_owner(const candidate *c)
{
    return c->waiters > 0;
}

static bool is_busy(const candidate *c)
{
    return c->cpu_delta > 0;
}

static bool is_blocked(const candidate *c)
{
    return c->blocked != 0 || c->owner != 0;
}

static bool is_stalled(const candidate *c)
{
    return c->stalled != 0;
}

typedef struct kind {
    uint8_t why;
    bool (*matches)(const candidate *c);
    int (*order)(const void *a, const void *b); /* NULL = by tid */
} kind;

static const kind kinds[] = {
    {THREADS_WHY_DEADLOCKED, is_deadlocked, NULL},
    {THREADS_WHY_OWNER, is_owner, by_waiters},
    {THREADS_WHY_BUSY, is_busy, by_delta},
    {THREADS_WHY_STALLED, is_stalled, NULL}, /* only the stack shows why they do not run */
    {THREADS_WHY_BLOCKED, is_blocked, NULL},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

#define RANK_OF_KIND(i) ((uint32_t)(i) << 24) /* exceeds the number of threads */

/* Takes up to `room` candidates that are not chosen yet. Candidates already chosen get the reason
 * too. */
static size_t take_kind(size_t which, candidate *list, size_t n, candidate **scratch, size_t room)
{
    const kind *k = &kinds[which];
    size_t found = 0, taken = 0;
    for (size_t i = 0; i < n; i++)
        if (k->matches(&list[i]))
            scratch[found++] = &list[i];
    if (k->order != NULL)
        qsort(scratch, found, sizeof(candidate *), k->order);
    for (size_t i = 0; i < found; i++) {
        bool chosen = scratch[i]->why != 0;
        if (!chosen && taken == room)
            continue;
        uint32_t rank = RANK_OF_KIND(which) + (uint32_t)i;
        taken += !chosen;
        scratch[i]->why |= k->why;
        scratch[i]->rank = chosen && scratch[i]->rank < rank ? scratch[i]->rank : rank;
    }
    return taken;
}

/* Takes the candidates that nothing else has chosen, first those after the cursor, then those from
 * the start of the list. */
static size_t take_rest(candidate *list, size_t n, size_t room, uint32_t rank, int64_t *cursor)
{
    size_t first = 0, taken = 0;
    while (first < n && list[first].tid <= *cursor)
        first++;
    for (size_t i = 0; i < n && taken < room; i++) {
        candidate *c = &list[(first + i) % n];
        if (c->why != 0)
            continue;
        c->why = THREADS_WHY_SAMPLED;
        c->rank = rank + (uint32_t)taken;
        *cursor = c->tid;
        taken++;
    }
    return taken;
}

size_t select_threads(candidate *list, size_t n, size_t max, int64_t *cursor)
{
    size_t taken = 0, kept = max / 8, share = (max - kept) / KINDS;
    candidate **scratch = n == 0 || max == 0 ? NULL : malloc(n * sizeof(*scratch));
    if (scratch == NULL)
        return 0;
    count_waiters(list, n);
    for (size_t i = 0; i < n; i++)
        list[i].why = 0;
    for (size_t i = 0; i < KINDS; i++)
        taken += take_kind(i, list, n, scratch, share);
    size_t rest = take_rest(list, n, kept, RANK_OF_KIND(KINDS), cursor);
    taken += rest;
    for (size_t i = 0; i < KINDS; i++)
        taken += take_kind(i, list, n, scratch, max - taken);
    taken += take_rest(list, n, max - taken, RANK_OF_KIND(KINDS) + (uint32_t)rest, cursor);
    free(scratch);
    return taken;
}
