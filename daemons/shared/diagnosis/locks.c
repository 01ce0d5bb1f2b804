/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/locks.h>

#include <stdlib.h>
#include <string.h>

const char *holder_kind_name(holder_kind kind)
{
    static const char *const names[HOLDER_KINDS] = {
        [HOLDER_UNKNOWN] = "unknown",
        [HOLDER_JAVA] = "java",
        [HOLDER_VIRTUAL] = "virtual",
        [HOLDER_ENDED] = "ended",
        [HOLDER_ENDED_OR_VIRTUAL] = "ended_or_virtual",
    };
    return names[kind];
}

static bool is_carried(const diagnosed_thread *threads, size_t count, uint64_t tid)
{
    for (size_t i = 0; i < count; i++) {
        if (threads[i].carries_tid == tid)
            return true;
    }
    return false;
}

holder_kind judge_holder(const diagnosed_thread *waiter, bool listed, bool carried)
{
    bool gone = (waiter->flags & DIAGNOSIS_OWNER_GONE) != 0;

    if (waiter->owner_tid == 0)
        return HOLDER_UNKNOWN;
    if ((waiter->flags & DIAGNOSIS_OWNER_ENDED) != 0 || (gone && listed)) /* no virtual thread */
        return HOLDER_ENDED;
    if (listed)
        return HOLDER_JAVA;
    if (carried)
        return HOLDER_VIRTUAL;
    return gone ? HOLDER_ENDED_OR_VIRTUAL : HOLDER_UNKNOWN;
}

holder_kind diagnose_holder(const diagnosed_thread *threads, size_t count, size_t i)
{
    uint64_t owner = threads[i].owner_tid;
    bool listed = diagnosis_find(threads, count, owner) < count;

    return judge_holder(&threads[i], listed,
                        owner != 0 && !listed && is_carried(threads, count, owner));
}

static int compare_locks(const diagnosed_thread *a, const diagnosed_thread *b)
{
    if (a->lock_id != b->lock_id)
        return a->lock_id < b->lock_id ? -1 : 1;
    if (a->lock_class_length != b->lock_class_length)
        return a->lock_class_length < b->lock_class_length ? -1 : 1;
    return memcmp(a->lock_class, b->lock_class, a->lock_class_length);
}

/* qsort has no context argument, so it sorts pointers to the threads. Equal ones keep the order of
 * their indexes, which is the order of the pointers. */
static int by_lock(const void *a, const void *b)
{
    const diagnosed_thread *const *left = a, *const *right = b;
    int order = compare_locks(*left, *right);

    return order != 0 ? order : (*left < *right ? -1 : *left > *right);
}

static int by_waiters(const void *a, const void *b)
{
    const diagnosed_lock *left = a, *right = b;

    if (left->waiter_count != right->waiter_count)
        return left->waiter_count > right->waiter_count ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

/* Describes the lock that `waiters` wait for. Its holder is the one that the first waiter names. */
static diagnosed_lock describe(const diagnosed_thread *threads, size_t count,
                               const uint32_t *waiters, size_t n)
{
    size_t teller = 0;

    while (teller + 1 < n && threads[waiters[teller]].owner_tid == 0)
        teller++;
    const diagnosed_thread *waiter = &threads[waiters[teller]];
    return (diagnosed_lock){.class_name = waiter->lock_class,
                            .class_length = waiter->lock_class_length,
                            .id = waiter->lock_id,
                            .holder = diagnose_holder(threads, count, waiters[teller]),
                            .holder_tid = waiter->owner_tid,
                            .waiters = waiters,
                            .waiter_count = n};
}

static void group(diagnosed_locks *out, const diagnosed_thread *threads, size_t count,
                  const diagnosed_thread *const *waiting, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out->waiters[i] = (uint32_t)(waiting[i] - threads);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && compare_locks(waiting[first], waiting[end]) == 0;)
            end++;
        out->items[out->count++] = describe(threads, count, out->waiters + first, end - first);
    }
}

int diagnose_locks(diagnosed_locks *out, const diagnosed_thread *threads, size_t count)
{
    const diagnosed_thread **waiting = malloc((count + 1) * sizeof(*waiting));
    size_t n = 0;

    *out = (diagnosed_locks){.items = calloc(count + 1, sizeof(*out->items)),
                             .waiters = calloc(count + 1, sizeof(*out->waiters))};
    if (waiting == NULL || out->items == NULL || out->waiters == NULL) {
        free(waiting);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (threads[i].lock_class_length > 0 && wait_is_slow(diagnose_wait(&threads[i])))
            waiting[n++] = &threads[i];
    }
    qsort(waiting, n, sizeof(*waiting), by_lock);
    group(out, threads, count, waiting, n);
    qsort(out->items, out->count, sizeof(*out->items), by_waiters);
    free(waiting);
    return 0;
}

void diagnosed_locks_free(diagnosed_locks *locks)
{
    free(locks->items);
    free(locks->waiters);
    *locks = (diagnosed_locks){.items = NULL};
}
