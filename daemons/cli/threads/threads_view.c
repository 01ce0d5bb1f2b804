/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/threads/threads.h"
#include <diagnosis/busy.h>
#include <diagnosis/from_snapshot.h>

static uint64_t since(uint64_t now, uint64_t then)
{
    if (now == ATTACH_THREADS_UNKNOWN || then == ATTACH_THREADS_UNKNOWN)
        return ATTACH_THREADS_UNKNOWN;
    return now > then ? now - then : 0;
}

static threads_row make_row(const threads_view *view, size_t index)
{
    static const attach_thread none; /* a new thread has used all its CPU time in the window */
    const attach_thread *thread = attach_threads_at(view->now, index);
    const attach_thread *then =
        view->before == NULL ? NULL : attach_threads_find(view->before, thread->java_tid);
    then = then != NULL ? then : &none;
    threads_row row = {.thread = thread,
                       .index = index,
                       .wait = diagnose_wait(&view->threads[index]),
                       .cpu_ns = since(thread->cpu_ns, then->cpu_ns),
                       .user_ns = since(thread->user_ns, then->user_ns),
                       .allocated_bytes = since(thread->allocated_bytes, then->allocated_bytes)};
    if (row.cpu_ns != ATTACH_THREADS_UNKNOWN && view->seconds > 0)
        row.share = (double)row.cpu_ns / 1e9 / view->seconds;
    return row;
}

/* Whether a thread is busy. Without a window a busy thread is runnable and not in native code, or
 * carries a virtual thread. */
static bool is_busy(const threads_row *row, const threads_view *view)
{
    const attach_thread *thread = row->thread;
    bool runs = thread->carries_tid != 0 || (thread->state == ATTACH_THREAD_RUNNABLE &&
                                             !(thread->flags & ATTACH_THREAD_NATIVE));
    diagnosed_use use = {.snapshots = 1, .runnable = runs};
    if (row->cpu_ns == ATTACH_THREADS_UNKNOWN || row->cpu_ns == 0)
        return false;
    if (view->seconds > 0)
        use = (diagnosed_use){.window_ns = (uint64_t)(view->seconds * 1e9), .cpu_ns = row->cpu_ns};
    return diagnose_busy(&use, view->busy_percent);
}

static threads_list list_of(wait_kind wait, bool busy)
{
    switch (wait) {
    case WAIT_BLOCKED:
    case WAIT_LOCK:
    case WAIT_DEADLOCKED:
        return THREADS_LIST_BLOCKED;
    case WAIT_UNKNOWN_HOLDER:
        return THREADS_LIST_UNKNOWN_HOLDER;
    case WAIT_CLASS:
        return THREADS_LIST_CLASS;
    default:
        return busy ? THREADS_LISTS : THREADS_LIST_WAITING;
    }
}

static int by_cpu(const void *a, const void *b)
{
    const threads_row *left = a, *right = b;
    if (left->cpu_ns != right->cpu_ns)
        return left->cpu_ns > right->cpu_ns ? -1 : 1;
    return left->thread->java_tid < right->thread->java_tid ? -1 : 1;
}

static void sort_rows(threads_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        threads_row row = make_row(view, i);
        bool busy = is_busy(&row, view);
        threads_list list = list_of(row.wait, busy);
        if (busy)
            view->rows[THREADS_LIST_BUSY][view->n[THREADS_LIST_BUSY]++] = row;
        if (list != THREADS_LISTS)
            view->rows[list][view->n[list]++] = row;
    }
    qsort(view->rows[THREADS_LIST_BUSY], view->n[THREADS_LIST_BUSY], sizeof(threads_row), by_cpu);
}

bool threads_view_make(threads_view *out, const attach_jvm *jvm, const attach_threads *now,
                       const attach_threads *before, double busy_percent)
{
    *out = (threads_view){.jvm = jvm,
                          .now = now,
                          .before = before,
                          .busy_percent = busy_percent,
                          .threads = diagnosis_from_snapshot(now, before),
                          .count = attach_threads_count(now)};
    bool made = out->threads != NULL;
    if (before != NULL)
        out->seconds = (double)since(attach_threads_meta_of(now)->cpu_read_ns,
                                     attach_threads_meta_of(before)->cpu_read_ns) /
                       1e9;
    for (int i = 0; i < THREADS_LISTS; i++) {
        out->rows[i] = calloc(out->count + 1, sizeof(threads_row));
        made = made && out->rows[i] != NULL;
    }
    made = made && diagnose_locks(&out->locks, out->threads, out->count) == 0 &&
           diagnose_deadlocks(&out->deadlocks, out->threads, out->count) == 0;
    if (made)
        sort_rows(out);
    else
        threads_view_free(out);
    return made;
}

void threads_view_free(threads_view *view)
{
    for (int i = 0; i < THREADS_LISTS; i++)
        free(view->rows[i]);
    diagnosed_locks_free(&view->locks);
    diagnosed_deadlocks_free(&view->deadlocks);
    free(view->threads);
    *view = (threads_view){.jvm = NULL};
}

threads_holder threads_holder_of(const threads_view *view, size_t index)
{
    const attach_thread *waiter = attach_threads_at(view->now, index);
    return (threads_holder){.kind = diagnose_holder(view->threads, view->count, index),
                            .java_tid = waiter->owner_tid,
                            .name =
                                waiter->owner != NULL ? waiter->owner->name : waiter->owner_name,
                            .thread = waiter->owner};
}

const attach_thread *threads_initialiser(const threads_view *view, size_t index,
                                         const char **class_name)
{
    size_t next = view->count;
    if (diagnose_wait(&view->threads[index]) == WAIT_CLASS)
        next = diagnose_next(view->threads, view->count, index);
    *class_name = next < view->count ? view->threads[next].initialises : "";
    return next < view->count ? attach_threads_at(view->now, next) : NULL;
}

size_t threads_stacks(const attach_threads *threads)
{
    size_t n = 0;
    for (size_t i = 0; i < attach_threads_count(threads); i++)
        n += attach_threads_at(threads, i)->has_stack;
    return n;
}

bool threads_same_stack(const attach_thread *a, const attach_thread *b)
{
    return a->has_stack && b->has_stack && a->n_frames == b->n_frames &&
           (a->n_frames == 0 ||
            memcmp(a->frames, b->frames, a->n_frames * sizeof(*a->frames)) == 0);
}

void threads_missing(char *out, size_t cap, const attach_threads_meta *meta)
{
    static const struct {
        uint32_t bit;
        const char *word;
    } words[] = {{ATTACH_CUT_THREADS, "threads"}, {ATTACH_CUT_STACKS, "stacks"},
                 {ATTACH_CUT_DEPTH, "depth"},     {ATTACH_CUT_BYTES, "bytes"},
                 {ATTACH_CUT_TIME, "time"},       {ATTACH_CUT_PAUSE, "pause"}};
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && n < cap; i++)
        if (meta->cut & words[i].bit)
            n += (size_t)snprintf(out + n, cap - n, "%s%s", n == 0 ? "" : ", ", words[i].word);
}
