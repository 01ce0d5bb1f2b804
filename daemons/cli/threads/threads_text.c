/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots for people. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/threads/threads_stack.h"

#define CHAIN_MAX      32
#define NAME_MAX_SHOWN 60

static void print_head(const threads_view *view)
{
    const attach_threads_meta *meta = attach_threads_meta_of(view->now);
    const size_t *n = view->n;
    char missing[64];
    (void)printf("%s (pid %d): %" PRIu32 " threads, %zu busy, %zu blocked", view->jvm->main_class,
                 view->jvm->identity.pid, meta->threads_total, n[THREADS_LIST_BUSY],
                 n[THREADS_LIST_BLOCKED]);
    if (n[THREADS_LIST_UNKNOWN_HOLDER] > 0)
        (void)printf(", %zu waiting for locks of unknown holders", n[THREADS_LIST_UNKNOWN_HOLDER]);
    if (n[THREADS_LIST_CLASS] > 0)
        (void)printf(", %zu probably waiting for classes", n[THREADS_LIST_CLASS]);
    (void)printf(", %zu waiting", n[THREADS_LIST_WAITING]);
    if (view->seconds > 0)
        (void)printf("; CPU over %.1f s", view->seconds);
    (void)printf("; stacks of %zu; stopped for at most %.1f ms in all, %.1f ms at a time\n",
                 threads_stacks(view->now), (double)meta->paused_ns / 1e6,
                 (double)meta->longest_pause_ns / 1e6);
    threads_missing(missing, sizeof(missing), meta);
    if (missing[0] != '\0')
        (void)printf("cut short: %s\n", missing);
}

/* ---- deadlocks ---- */

static void print_member(const threads_view *view, size_t index, const attach_thread *next,
                         bool first)
{
    const attach_thread *thread = attach_threads_at(view->now, index);
    const attach_thread_frame *at = threads_telling_frame(view, thread);
    const attach_thread_frame *where = threads_locking_frame(view, next, thread->lock);
    (void)printf("  %s \"%s\"", first ? "+->" : "|  ", thread->name);
    if (at != NULL) {
        (void)printf(" in ");
        threads_print_frame(at);
    }
    (void)printf("\n  |     ");
    if (thread->lock == NULL) {
        threads_print_awaited_class(view, index);
    } else {
        (void)printf("waits for ");
        threads_print_lock(thread->lock);
        (void)printf(", held by \"%s\"", next->name);
    }
    if (where != NULL) {
        (void)printf(" since ");
        threads_print_frame(where);
    }
    (void)printf("\n");
}

static void print_cycle(const threads_view *view, const diagnosed_cycle *cycle, size_t number)
{
    if (cycle->inferred)
        (void)printf("\nPROBABLE DEADLOCK %zu (inferred, not found by the JVM): a cycle of %zu "
                     "threads\n",
                     number, cycle->count);
    else
        (void)printf("\nDEADLOCK %zu: a cycle of %zu threads\n", number, cycle->count);
    for (size_t i = 0; i < cycle->count; i++)
        print_member(view, cycle->threads[i],
                     attach_threads_at(view->now, cycle->threads[(i + 1) % cycle->count]), i == 0);
    (void)printf("  +<- back to \"%s\"\n", attach_threads_at(view->now, cycle->threads[0])->name);
}

/* ---- threads ---- */

/* Prints a thread's state. The state of a carrier says nothing about its virtual thread. */
static void print_state(const attach_thread *thread)
{
    if (thread->carries_tid == 0)
        (void)printf("%s", attach_thread_state_name(thread->state));
    else if (thread->carries_name[0] == '\0')
        (void)printf("carries virtual thread #%" PRIu64, thread->carries_tid);
    else
        (void)printf("carries virtual thread #%" PRIu64 " (%s)", thread->carries_tid,
                     thread->carries_name);
    if (thread->carries_tid == 0 && (thread->flags & ATTACH_THREAD_CARRIER))
        (void)printf(", carrier of virtual threads");
}

static void print_row(const threads_row *row, const threads_view *view)
{
    const attach_thread *thread = row->thread;
    if (view->seconds > 0)
        (void)printf("  %5.1f %%", row->share * 100);
    else if (row->cpu_ns != ATTACH_THREADS_UNKNOWN)
        (void)printf("  %8.3f s", (double)row->cpu_ns / 1e9);
    (void)printf("  \"%.*s\"  ", NAME_MAX_SHOWN, thread->name);
    print_state(thread);
    if (row->allocated_bytes != ATTACH_THREADS_UNKNOWN && view->seconds > 0 &&
        (double)row->allocated_bytes / 1e6 / view->seconds >= 0.05)
        (void)printf(", %.1f MB/s", (double)row->allocated_bytes / 1e6 / view->seconds);
    (void)printf("  [java %" PRIu64, thread->java_tid);
    if (thread->os_tid != 0)
        (void)printf(", os %" PRIu32, thread->os_tid);
    (void)printf("]\n");
}

static void print_rest(size_t n, uint32_t top, const char *what)
{
    if (n > top)
        (void)printf("  ... and %zu more%s: --top, or --json for all\n", n - top, what);
}

static void print_busy(const threads_view *view, uint32_t top)
{
    const threads_row *rows = view->rows[THREADS_LIST_BUSY];
    size_t n = view->n[THREADS_LIST_BUSY];
    if (n == 0)
        return;
    if (view->seconds > 0)
        (void)printf("\nBUSY: %g %% of a core or more\n", view->busy_percent);
    else
        (void)printf("\nBUSY: runnable\n");
    for (size_t i = 0; i < n && i < top; i++) {
        size_t alike = 0;
        while (alike < i && !threads_same_stack(rows[alike].thread, rows[i].thread))
            alike++;
        print_row(&rows[i], view);
        if (alike < i)
            (void)printf("      the same stack as \"%s\"\n", rows[alike].thread->name);
        else
            threads_print_stack(view, rows[i].thread);
    }
    print_rest(n, top, "");
}

static void print_classes(const threads_view *view, uint32_t top)
{
    const threads_row *rows = view->rows[THREADS_LIST_CLASS];
    size_t n = view->n[THREADS_LIST_CLASS];
    if (n > 0)
        (void)printf("\nWAITING FOR CLASSES, probably: they run a static initialiser, are runnable "
                     "and used no CPU\n");
    for (size_t i = 0; i < n && i < top; i++) {
        print_row(&rows[i], view);
        (void)printf("      ");
        threads_print_awaited_class(view, rows[i].index);
        (void)printf("\n");
        threads_print_stack(view, rows[i].thread);
    }
    print_rest(n, top, "");
}

/* ---- groups ---- */

/* Makes "http-#-exec-#" of "http-8080-exec-12": threads of a pool differ in digits only. */
static void fold(char out[64], const char *name)
{
    size_t n = 0;
    for (size_t i = 0; name[i] != '\0' && n + 1 < 64; i++) {
        bool digit = isdigit((unsigned char)name[i]) != 0;
        if (digit && n > 0 && out[n - 1] == '#')
            continue;
        out[n++] = digit ? '#' : name[i];
    }
    while (n > 0 && ((unsigned char)out[n - 1] & 0xC0) == 0x80 && name[n] != '\0')
        n--; /* do not cut a character */
    out[n] = '\0';
}

static bool is_of_pool(const char *name, const char *pool)
{
    char folded[64];
    fold(folded, name);
    return strcmp(folded, pool) == 0;
}

/* Whether both threads are of one pool and in one state, with the same stack or both without
 * one. */
static bool is_alike(const attach_thread *a, const attach_thread *b)
{
    char pool[64];
    if (a->state != b->state || !(threads_same_stack(a, b) || (!a->has_stack && !b->has_stack)))
        return false;
    fold(pool, a->name);
    return is_of_pool(b->name, pool);
}

static const threads_row *find_row(const threads_view *view, threads_list list, size_t index)
{
    for (size_t i = 0; i < view->n[list]; i++)
        if (view->rows[list][i].index == index)
            return &view->rows[list][i];
    return NULL;
}

/* Prints the waiters of a lock, and threads that are alike only once. */
static void print_waiters(const threads_view *view, const diagnosed_lock *lock, threads_list list,
                          uint32_t top)
{
    size_t groups = 0;
    for (size_t i = 0; i < lock->waiter_count; i++) {
        const attach_thread *thread = attach_threads_at(view->now, lock->waiters[i]);
        size_t first = 0, alike = 0;
        while (!is_alike(attach_threads_at(view->now, lock->waiters[first]), thread))
            first++;
        if (first < i || groups++ >= top)
            continue;
        for (size_t j = i; j < lock->waiter_count; j++)
            alike += is_alike(thread, attach_threads_at(view->now, lock->waiters[j]));
        const threads_row *row = find_row(view, list, lock->waiters[i]);
        char pool[64];
        fold(pool, thread->name);
        if (alike == 1 && row != NULL)
            print_row(row, view);
        else
            (void)printf("  %5zu %s  \"%s\"  %s, %s\n", alike, alike == 1 ? "thread" : "threads",
                         pool, attach_thread_state_name(thread->state),
                         thread->has_stack ? "with this stack" : "stacks not taken");
        threads_print_stack(view, thread);
    }
    print_rest(groups, top, " groups");
}

/* ---- locks ---- */

/* Prints a holder that is in the snapshot: what it does, and its stack. */
static void print_holding(const threads_view *view, const attach_thread *holder,
                          const attach_thread_lock *lock, int indent)
{
    const attach_thread_frame *locked = threads_locking_frame(view, holder, lock);
    const attach_thread_frame *at = threads_telling_frame(view, holder);
    (void)printf("      %*sheld by \"%s\" (", indent, "", holder->name);
    print_state(holder);
    (void)printf(")");
    if (locked != NULL) {
        (void)printf(", locked in ");
        threads_print_frame(locked);
    }
    if (at != NULL) {
        (void)printf(", now in ");
        threads_print_frame(at);
    }
    (void)printf("\n");
}

/* Prints the threads from the holder of the lock that thread `index` waits for to the one that
 * runs. */
static void print_chain(const threads_view *view, size_t index)
{
    uint32_t chain[CHAIN_MAX];
    const attach_thread *before = attach_threads_at(view->now, index);
    size_t n = diagnose_chain(view->threads, view->count, index, chain, CHAIN_MAX);
    for (size_t i = 0; i < n; i++) {
        const attach_thread *holder = attach_threads_at(view->now, chain[i]);
        print_holding(view, holder, before->lock, (int)(i * 2));
        if (i == 0 && !wait_is_slow(diagnose_wait(&view->threads[chain[i]])))
            /* The stacks of the others are printed where they wait. */
            threads_print_stack(view, holder);
        before = holder;
    }
    if (n > 0 && diagnose_next(view->threads, view->count, chain[n - 1]) < view->count)
        (void)printf("      %*swhich waits for one of these\n", (int)(n * 2), "");
}

static void print_lock_group(const threads_view *view, const diagnosed_lock *lock,
                             threads_list list, uint32_t top)
{
    size_t teller = lock->waiters[0];
    for (size_t i = 0; i < lock->waiter_count; i++)
        if (view->threads[lock->waiters[i]].owner_tid == lock->holder_tid)
            teller = lock->waiters[i];
    const threads_holder holder = threads_holder_of(view, teller);
    (void)printf("  %zu %s for ", lock->waiter_count,
                 lock->waiter_count == 1 ? "thread waits" : "threads wait");
    threads_print_lock(attach_threads_at(view->now, teller)->lock);
    (void)printf(", ");
    threads_print_holder(&holder);
    (void)printf("\n");
    print_chain(view, teller);
    print_waiters(view, lock, list, top);
}

/* Prints the locks whose holder has a name, or those whose holder has none. */
static void print_locks(const threads_view *view, threads_list list, const char *title,
                        uint32_t top)
{
    size_t n = 0;
    for (size_t i = 0; i < view->locks.count; i++) {
        const diagnosed_lock *lock = &view->locks.items[i];
        if ((lock->holder_tid != 0) != (list == THREADS_LIST_BLOCKED))
            continue;
        if (n == 0)
            (void)printf("\n%s\n", title);
        if (n++ < top)
            print_lock_group(view, lock, list, top);
    }
    print_rest(n, top, " locks");
}

/* ---- waiting threads, by pool ---- */

typedef struct pool {
    char name[64];
    const attach_thread *first;
    size_t n;
} pool;

static bool is_in_pool(const pool *one, const attach_thread *thread)
{
    return one->first->state == thread->state &&
           (one->first->carries_tid != 0) == (thread->carries_tid != 0) &&
           is_of_pool(thread->name, one->name);
}

static int by_size(const void *a, const void *b)
{
    const pool *left = a, *right = b;
    if (left->n != right->n)
        return left->n > right->n ? -1 : 1;
    return strcmp(left->name, right->name);
}

static int by_name(const void *a, const void *b)
{
    const pool *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (int)left->first->state - (int)right->first->state;
}

/* Joins neighbours of the sorted list; returns how many pools are left. */
static size_t join_pools(pool *list, size_t n)
{
    size_t pools = 0;
    for (size_t i = 0; i < n; i++) {
        if (pools > 0 && is_in_pool(&list[pools - 1], list[i].first))
            list[pools - 1].n++;
        else
            list[pools++] = list[i];
    }
    return pools;
}

static void print_waiting(const threads_view *view, uint32_t top)
{
    size_t n = view->n[THREADS_LIST_WAITING];
    pool *list = n == 0 ? NULL : calloc(n, sizeof(*list));
    if (list == NULL)
        return;
    for (size_t i = 0; i < n; i++) {
        list[i].first = view->rows[THREADS_LIST_WAITING][i].thread;
        list[i].n = 1;
        fold(list[i].name, list[i].first->name);
    }
    qsort(list, n, sizeof(*list), by_name);
    size_t pools = join_pools(list, n);
    qsort(list, pools, sizeof(*list), by_size);
    (void)printf("\nWAITING, by pool\n");
    for (size_t i = 0; i < pools && i < top; i++) {
        (void)printf("  %6zu  \"%s\"  ", list[i].n, list[i].name);
        print_state(list[i].first);
        (void)printf("\n");
    }
    print_rest(pools, top, " pools");
    free(list);
}

bool threads_print_text(const threads_view *view, uint32_t top)
{
    print_head(view);
    for (size_t i = 0; i < view->deadlocks.count; i++)
        print_cycle(view, &view->deadlocks.items[i], i + 1);
    print_busy(view, top);
    print_locks(view, THREADS_LIST_BLOCKED, "BLOCKED", top);
    print_locks(view, THREADS_LIST_UNKNOWN_HOLDER,
                "HOLDER UNKNOWN: the JVM does not know who holds these locks", top);
    print_classes(view, top);
    print_waiting(view, top);
    return fflush(stdout) == 0;
}
