/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/deadlocks.h>

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Hashes the threads of a cycle and the locks that they wait for, in the order of the cycle. */
static uint64_t find_id(const diagnosed_thread *threads, const uint32_t *cycle, size_t count)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t parts[2] = {threads[cycle[i]].java_tid, threads[cycle[i]].lock_id};
        hash = XXH3_64bits_withSeed(parts, sizeof(parts), hash);
    }
    return hash;
}

/* Appends the cycle through thread `from` to out->threads, beginning with the lowest thread id. */
static void add_cycle(diagnosed_deadlocks *out, size_t *used, const diagnosed_thread *threads,
                      const uint32_t *next, uint32_t from)
{
    uint32_t lowest = from;
    diagnosed_cycle cycle = {.threads = out->threads + *used};
    bool found_by_jvm = true;

    for (uint32_t at = next[from]; at != from; at = next[at])
        lowest = at < lowest ? at : lowest;
    uint32_t at = lowest;
    do {
        out->threads[*used + cycle.count++] = at;
        found_by_jvm = found_by_jvm && (threads[at].flags & DIAGNOSIS_DEADLOCKED) != 0;
        cycle.inferred = cycle.inferred || diagnose_wait(&threads[at]) == WAIT_CLASS;
        at = next[at];
    } while (at != lowest);
    if (!found_by_jvm && !cycle.inferred)
        return;
    cycle.id = find_id(threads, cycle.threads, cycle.count);
    *used += cycle.count;
    out->items[out->count++] = cycle;
}

/*
 * Each thread waits for at most one other. So a walk along `next` ends, or reaches a thread of the
 * same walk again: the threads between are a cycle. walk[i] is the walk that visited thread i.
 */
static void find_cycles(diagnosed_deadlocks *out, const diagnosed_thread *threads, size_t count,
                        const uint32_t *next, uint32_t *walk)
{
    size_t used = 0;

    for (uint32_t start = 0; start < count; start++) {
        uint32_t at = start;
        while (at < count && walk[at] == 0) {
            walk[at] = start + 1;
            at = next[at];
        }
        if (at < count && walk[at] == start + 1)
            add_cycle(out, &used, threads, next, at);
    }
}

int diagnose_deadlocks(diagnosed_deadlocks *out, const diagnosed_thread *threads, size_t count)
{
    uint32_t *next = calloc(count + 1, sizeof(*next)), *walk = calloc(count + 1, sizeof(*walk));
    int rc = 0;

    *out = (diagnosed_deadlocks){.items = calloc(count + 1, sizeof(*out->items)),
                                 .threads = calloc(count + 1, sizeof(*out->threads))};
    if (next == NULL || walk == NULL || out->items == NULL || out->threads == NULL)
        rc = -1;
    for (size_t i = 0; i < count && rc == 0; i++)
        next[i] = (uint32_t)diagnose_next(threads, count, i);
    if (rc == 0)
        find_cycles(out, threads, count, next, walk);
    free(next);
    free(walk);
    return rc;
}

void diagnosed_deadlocks_free(diagnosed_deadlocks *deadlocks)
{
    free(deadlocks->items);
    free(deadlocks->threads);
    *deadlocks = (diagnosed_deadlocks){.items = NULL};
}
