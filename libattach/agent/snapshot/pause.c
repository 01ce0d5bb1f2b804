/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/pause.h"

#define PART     8 /* stacks of a pause: more exceed the CPU's caches in HotSpot 17 */
#define SLICES   4 /* one pause takes at most the budget divided by this */
#define ERROR_MS 2 /* rounding error: a difference of two sums of two counts in whole ms */
#define MS       UINT64_C(1000000) /* in ns */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Returns took_ns, or the JVM's own count of that time where it is less. */
static uint64_t bounded(uint64_t took_ns, int64_t before_ms, int64_t after_ms)
{
    if (before_ms < 0 || after_ms < before_ms)
        return took_ns;
    uint64_t counted_ms = (uint64_t)after_ms - (uint64_t)before_ms;
    return counted_ms >= took_ns / MS ? took_ns : least(took_ns, (counted_ms + ERROR_MS) * MS);
}

void pauses_begin(pauses *p, uint64_t budget_ns, int64_t counted_ms)
{
    *p = (pauses){.budget_ns = budget_ns,
                  .shortest_ns = UINT64_MAX,
                  .first_ms = counted_ms,
                  .last_ms = counted_ms};
}

void pauses_add(pauses *p, size_t stacks, uint64_t took_ns, int64_t counted_ms)
{
    uint64_t one_ns = bounded(took_ns, p->last_ms, counted_ms);
    p->calls_ns += took_ns;
    p->spent_ns = bounded(p->calls_ns, p->first_ms, counted_ms);
    p->longest_ns = most(p->longest_ns, one_ns);
    p->shortest_ns = least(p->shortest_ns, one_ns);
    p->last_ns = one_ns;
    p->last_stacks = stacks;
    p->n++;
    p->last_ms = counted_ms;
}

size_t pauses_next(const pauses *p, size_t left)
{
    if (p->last_stacks == 0)
        return least(left, PART);
    uint64_t fixed = p->shortest_ns;
    uint64_t room = less(less(p->budget_ns, p->spent_ns), fixed);
    uint64_t each = most(less(p->last_ns, fixed) / p->last_stacks, 1);
    uint64_t walk = least(PART * each, less(p->budget_ns / SLICES, fixed));
    walk = most(walk, most(fixed, each)); /* so that at least half of a pause takes stacks */
    return least(least(left, 2 * (uint64_t)p->last_stacks), least(walk, room) / each);
}
