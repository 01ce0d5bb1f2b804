/* SPDX-License-Identifier: Apache-2.0 */
/* Access to a decoded snapshot, and the cycles among its deadlocked threads. */
#include <stdlib.h>

#include "error_impl.h"
#include "threads/threads_impl.h"

void attach_threads_free(attach_threads *threads)
{
    if (threads == NULL)
        return;
    free(threads->list);
    free(threads->text);
    free(threads->strings);
    free(threads->locks);
    free(threads->frames);
    free(threads->stack_frames);
    free(threads->held);
    free(threads->cycle_threads);
    free(threads->deadlocks);
    free(threads);
}

const attach_threads_meta *attach_threads_meta_of(const attach_threads *threads)
{
    return &threads->meta;
}

size_t attach_threads_count(const attach_threads *threads)
{
    return threads->n;
}

const attach_thread *attach_threads_at(const attach_threads *threads, size_t index)
{
    return index < threads->n ? &threads->list[index] : NULL;
}

static int by_tid(const void *key, const void *element)
{
    const uint64_t *tid = key;
    const attach_thread *thread = element;
    return *tid < thread->java_tid ? -1 : *tid > thread->java_tid;
}

const attach_thread *attach_threads_find(const attach_threads *threads, uint64_t java_tid)
{
    return threads->n == 0
               ? NULL
               : bsearch(&java_tid, threads->list, threads->n, sizeof(*threads->list), by_tid);
}

const attach_thread_frame *attach_threads_frame(const attach_threads *threads, uint32_t frame)
{
    return frame < threads->n_frames ? &threads->frames[frame] : NULL;
}

size_t attach_threads_deadlock_count(const attach_threads *threads)
{
    return threads->n_deadlocks;
}

const attach_deadlock *attach_threads_deadlock_at(const attach_threads *threads, size_t index)
{
    return index < threads->n_deadlocks ? &threads->deadlocks[index] : NULL;
}

const char *attach_thread_state_name(attach_thread_state state)
{
    static const char *const names[] = {
        [ATTACH_THREAD_UNKNOWN] = "unknown",       [ATTACH_THREAD_NEW] = "new",
        [ATTACH_THREAD_RUNNABLE] = "runnable",     [ATTACH_THREAD_BLOCKED] = "blocked",
        [ATTACH_THREAD_WAITING] = "waiting",       [ATTACH_THREAD_TIMED_WAITING] = "timed_waiting",
        [ATTACH_THREAD_TERMINATED] = "terminated",
    };
    return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

uint64_t attach_thread_cpu_since(const attach_thread *now, const attach_threads *before)
{
    const attach_thread *then = attach_threads_find(before, now->java_tid);
    uint64_t base = then == NULL ? 0 : then->cpu_ns;
    if (now->cpu_ns == ATTACH_THREADS_UNKNOWN || base == ATTACH_THREADS_UNKNOWN)
        return ATTACH_THREADS_UNKNOWN;
    return now->cpu_ns > base ? now->cpu_ns - base : 0;
}

/* Returns the deadlocked thread for which a deadlocked thread waits; NULL when its owner is not
 * deadlocked. */
static const attach_thread *next_in_chain(const attach_thread *thread)
{
    const attach_thread *owner = thread->owner;
    return owner != NULL && (owner->flags & ATTACH_THREAD_DEADLOCKED) ? owner : NULL;
}

/*
 * Follows the owners from one thread. Each thread waits for at most one other, so the walk ends, or
 * returns to a thread that it has visited: the threads from there on are a cycle. walk[i] is the
 * walk that visited thread i.
 */
static void walk_from(attach_threads *t, size_t start, uint32_t *walk, size_t *used)
{
    const attach_thread *at = &t->list[start];
    while (at != NULL && walk[at - t->list] == 0) {
        walk[at - t->list] = (uint32_t)start + 1;
        at = next_in_chain(at);
    }
    if (at == NULL || walk[at - t->list] != (uint32_t)start + 1)
        return;
    attach_deadlock *cycle = &t->deadlocks[t->n_deadlocks++];
    cycle->threads = t->cycle_threads + *used;
    const attach_thread *first = at;
    do {
        t->cycle_threads[*used + cycle->n++] = at;
        at = next_in_chain(at);
    } while (at != first);
    *used += cycle->n;
}

int attach__threads_find_cycles(attach_threads *t, attach_error *err)
{
    size_t used = 0, marked = 0;
    for (size_t i = 0; i < t->n; i++)
        marked += (t->list[i].flags & ATTACH_THREAD_DEADLOCKED) != 0;
    if (marked == 0)
        return ATTACH_OK;
    uint32_t *walk = calloc(t->n, sizeof(*walk));
    t->cycle_threads = calloc(marked, sizeof(*t->cycle_threads));
    t->deadlocks = calloc(marked, sizeof(*t->deadlocks));
    if (walk == NULL || t->cycle_threads == NULL || t->deadlocks == NULL) {
        free(walk);
        return attach__fail(err, ATTACH_ERR_NOMEM, "no memory for a thread snapshot");
    }
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].flags & ATTACH_THREAD_DEADLOCKED)
            walk_from(t, i, walk, &used);
    free(walk);
    return ATTACH_OK;
}
