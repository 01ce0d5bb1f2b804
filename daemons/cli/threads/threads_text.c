/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots for people. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/threads/threads.h"

#define CHAIN_MAX      32
#define NAME_MAX_SHOWN 60

static void print_lock(const attach_thread_lock *lock)
{
    (void)printf("%s@%x", lock->class_name, lock->identity_hash);
}

static void print_head(const threads_view *view)
{
    const attach_threads_meta *meta = attach_threads_meta_of(view->now);
    char missing[64];
    (void)printf("%s (pid %d): %" PRIu32 " threads, %zu busy, %zu blocked, %zu waiting",
                 view->jvm->main_class, view->jvm->identity.pid, meta->threads_total, view->n_busy,
                 view->n_blocked, view->n_waiting);
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

/* Where the thread has locked what another one waits for: the frame, or NULL. */
static const attach_thread_frame *
locking_frame(const threads_view *view, const attach_thread *thread, const attach_thread_lock *lock)
{
    for (size_t i = 0; lock != NULL && i < thread->n_held; i++)
        if (thread->held[i].lock->identity_hash == lock->identity_hash &&
            !thread->held[i].synchronizer && thread->held[i].depth < thread->n_frames)
            return attach_threads_frame(view->now, thread->frames[thread->held[i].depth]);
    return NULL;
}

static void print_frame(const attach_thread_frame *frame)
{
    (void)printf("%s.%s", frame->class_name, frame->method);
    if (frame->native)
        (void)printf(" (native)");
    else if (frame->file[0] != '\0' && frame->line > 0)
        (void)printf(" (%s:%" PRIu32 ")", frame->file, frame->line);
}

/* The first frame that is not the lock's own machinery: where the thread stands. */
static const attach_thread_frame *telling_frame(const threads_view *view,
                                                const attach_thread *thread)
{
    for (size_t i = 0; i < thread->n_frames; i++) {
        const attach_thread_frame *frame = attach_threads_frame(view->now, thread->frames[i]);
        if (strncmp(frame->class_name, "java.util.concurrent.locks.", 27) != 0 &&
            strcmp(frame->class_name, "jdk.internal.misc.Unsafe") != 0)
            return frame;
    }
    return NULL;
}

static void print_cycle(const threads_view *view, const attach_deadlock *cycle, size_t number)
{
    (void)printf("\nDEADLOCK %zu: a cycle of %zu threads\n", number, cycle->n);
    for (size_t i = 0; i < cycle->n; i++) {
        const attach_thread *thread = cycle->threads[i];
        const attach_thread *next = cycle->threads[(i + 1) % cycle->n];
        const attach_thread_lock *lock = threads_cycle_lock(cycle, i);
        const attach_thread_frame *at = telling_frame(view, thread);
        const attach_thread_frame *where = locking_frame(view, next, lock);
        (void)printf("  %s \"%s\"", i == 0 ? "+->" : "|  ", thread->name);
        if (at != NULL) {
            (void)printf(" in ");
            print_frame(at);
        }
        (void)printf("\n  |     waits for ");
        if (lock != NULL)
            print_lock(lock);
        (void)printf(", held by \"%s\"", next->name);
        if (where != NULL) {
            (void)printf(" since ");
            print_frame(where);
        }
        (void)printf("\n");
    }
    (void)printf("  +<- back to \"%s\"\n", cycle->threads[0]->name);
}

/* ---- threads ---- */

static void print_stack(const threads_view *view, const attach_thread *thread)
{
    for (size_t i = 0; i < thread->n_frames; i++) {
        (void)printf("      at ");
        print_frame(attach_threads_frame(view->now, thread->frames[i]));
        (void)printf("\n");
        for (size_t j = 0; j < thread->n_held; j++)
            if (!thread->held[j].synchronizer && thread->held[j].depth == i) {
                (void)printf("         - locked ");
                print_lock(thread->held[j].lock);
                (void)printf("\n");
            }
    }
    if (thread->flags & ATTACH_THREAD_STACK_CUT)
        (void)printf("      ...\n");
    for (size_t j = 0; j < thread->n_held; j++)
        if (thread->held[j].synchronizer) {
            (void)printf("      - owns ");
            print_lock(thread->held[j].lock);
            (void)printf("\n");
        }
}

static void print_owner(const threads_view *view, const attach_thread *owner,
                        const attach_thread_lock *lock, int indent)
{
    const attach_thread_frame *locked = locking_frame(view, owner, lock);
    const attach_thread_frame *at = telling_frame(view, owner);
    (void)printf("      %*sheld by \"%s\" (%s)", indent, "", owner->name,
                 attach_thread_state_name(owner->state));
    if (locked != NULL) {
        (void)printf(", locked in ");
        print_frame(locked);
    }
    if (at != NULL) {
        (void)printf(", now in ");
        print_frame(at);
    }
    (void)printf("\n");
}

static void print_chain(const threads_view *view, const attach_thread *thread)
{
    const attach_thread *chain[CHAIN_MAX];
    bool cycle = false;
    size_t n = threads_chain(chain, CHAIN_MAX, thread, &cycle);
    if (thread->lock != NULL) {
        (void)printf("      waits for ");
        print_lock(thread->lock);
        (void)printf("\n");
    }
    for (size_t i = 0; i < n; i++)
        print_owner(view, chain[i], i == 0 ? thread->lock : chain[i - 1]->lock, (int)(i * 2));
    if (cycle)
        (void)printf("      %*sheld by one of these: a deadlock\n", (int)(n * 2), "");
    if (n == 0 && thread->owner_tid != 0)
        (void)printf("      held by thread %" PRIu64 "\n", thread->owner_tid);
}

static void print_row(const threads_row *row, const threads_view *view)
{
    const attach_thread *thread = row->thread;
    if (view->seconds > 0)
        (void)printf("  %5.1f %%", row->share * 100);
    else if (row->cpu_ns != ATTACH_THREADS_UNKNOWN)
        (void)printf("  %8.3f s", (double)row->cpu_ns / 1e9);
    (void)printf("  \"%.*s\"  %s", NAME_MAX_SHOWN, thread->name,
                 attach_thread_state_name(thread->state));
    if (thread->flags & ATTACH_THREAD_CARRIER)
        (void)printf(", carrier of virtual threads");
    if (row->allocated_bytes != ATTACH_THREADS_UNKNOWN && view->seconds > 0 &&
        (double)row->allocated_bytes / 1e6 / view->seconds >= 0.05)
        (void)printf(", %.1f MB/s", (double)row->allocated_bytes / 1e6 / view->seconds);
    (void)printf("  [java %" PRIu64, thread->java_tid);
    if (thread->os_tid != 0)
        (void)printf(", os %" PRIu32, thread->os_tid);
    (void)printf("]\n");
}

static void print_rows(const char *title, const threads_row *rows, size_t n,
                       const threads_view *view, uint32_t top, bool chains)
{
    if (n == 0)
        return;
    (void)printf("\n%s\n", title);
    for (size_t i = 0; i < n && i < top; i++) {
        print_row(&rows[i], view);
        if (chains)
            print_chain(view, rows[i].thread);
        print_stack(view, rows[i].thread);
    }
    if (n > top)
        (void)printf("  ... and %zu more: --top, or --json for all\n", n - top);
}

/* ---- waiting threads, by pool ---- */

typedef struct pool {
    char name[64];
    attach_thread_state state;
    size_t n;
} pool;

/* "http-8080-exec-12" -> "http-#-exec-#": threads of a pool differ in digits only. */
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
        n--; /* not within a character */
    out[n] = '\0';
}

static int by_name(const void *a, const void *b)
{
    const pool *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (int)left->state - (int)right->state;
}

static int by_size(const void *a, const void *b)
{
    const pool *left = a, *right = b;
    return left->n != right->n ? (left->n > right->n ? -1 : 1) : by_name(a, b);
}

static void print_waiting(const threads_view *view, uint32_t top)
{
    size_t pools = 0;
    pool *list = view->n_waiting == 0 ? NULL : calloc(view->n_waiting, sizeof(*list));
    if (list == NULL)
        return;
    for (size_t i = 0; i < view->n_waiting; i++) {
        fold(list[i].name, view->waiting[i].thread->name);
        list[i].state = view->waiting[i].thread->state;
        list[i].n = 1;
    }
    qsort(list, view->n_waiting, sizeof(*list), by_name);
    for (size_t i = 0; i < view->n_waiting; i++) {
        if (pools > 0 && by_name(&list[pools - 1], &list[i]) == 0)
            list[pools - 1].n++;
        else
            list[pools++] = list[i];
    }
    qsort(list, pools, sizeof(*list), by_size);
    (void)printf("\nWAITING, by pool\n");
    for (size_t i = 0; i < pools && i < top; i++)
        (void)printf("  %6zu  \"%s\"  %s\n", list[i].n, list[i].name,
                     attach_thread_state_name(list[i].state));
    if (pools > top)
        (void)printf("  ... and %zu more pools\n", pools - top);
    free(list);
}

bool threads_print_text(const threads_view *view, uint32_t top)
{
    print_head(view);
    for (size_t i = 0; i < attach_threads_deadlock_count(view->now); i++)
        print_cycle(view, attach_threads_deadlock_at(view->now, i), i + 1);
    print_rows("BUSY", view->busy, view->n_busy, view, top, false);
    print_rows("BLOCKED", view->blocked, view->n_blocked, view, top, true);
    print_waiting(view, top);
    return fflush(stdout) == 0;
}
