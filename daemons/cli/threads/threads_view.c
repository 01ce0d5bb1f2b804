/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/threads/threads.h"

#define BUSY_SHARE 0.001 /* of a core; what is below is the noise of waking up */

static uint64_t since(uint64_t now, uint64_t then)
{
    if (now == ATTACH_THREADS_UNKNOWN || then == ATTACH_THREADS_UNKNOWN)
        return ATTACH_THREADS_UNKNOWN;
    return now > then ? now - then : 0;
}

static void fill_row(threads_row *row, const threads_view *view, const attach_thread *thread)
{
    const attach_thread *then =
        view->before == NULL ? NULL : attach_threads_find(view->before, thread->java_tid);
    *row = (threads_row){.thread = thread,
                         .cpu_ns = since(thread->cpu_ns, then == NULL ? 0 : then->cpu_ns),
                         .user_ns = since(thread->user_ns, then == NULL ? 0 : then->user_ns),
                         .allocated_bytes = since(thread->allocated_bytes,
                                                  then == NULL ? 0 : then->allocated_bytes)};
    if (row->cpu_ns != ATTACH_THREADS_UNKNOWN && view->seconds > 0)
        row->share = (double)row->cpu_ns / 1e9 / view->seconds;
}

static bool is_blocked(const attach_thread *thread)
{
    return thread->state == ATTACH_THREAD_BLOCKED || thread->owner_tid != 0;
}

static bool is_busy(const threads_row *row, const threads_view *view)
{
    if (row->cpu_ns == ATTACH_THREADS_UNKNOWN || row->cpu_ns == 0)
        return false;
    if (view->seconds > 0)
        return row->share >= BUSY_SHARE;
    return row->thread->state == ATTACH_THREAD_RUNNABLE &&
           !(row->thread->flags & ATTACH_THREAD_NATIVE);
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
    for (size_t i = 0; i < attach_threads_count(view->now); i++) {
        const attach_thread *thread = attach_threads_at(view->now, i);
        threads_row row;
        fill_row(&row, view, thread);
        bool busy = is_busy(&row, view), blocked = is_blocked(thread);
        if (busy)
            view->busy[view->n_busy++] = row;
        if (blocked)
            view->blocked[view->n_blocked++] = row;
        if (!busy && !blocked)
            view->waiting[view->n_waiting++] = row;
    }
    if (view->n_busy > 0)
        qsort(view->busy, view->n_busy, sizeof(*view->busy), by_cpu);
}

bool threads_view_make(threads_view *out, const attach_jvm *jvm, const attach_threads *now,
                       const attach_threads *before)
{
    size_t n = attach_threads_count(now) + 1;
    *out = (threads_view){.jvm = jvm, .now = now, .before = before};
    if (before != NULL)
        out->seconds = (double)since(attach_threads_meta_of(now)->cpu_read_ns,
                                     attach_threads_meta_of(before)->cpu_read_ns) /
                       1e9;
    out->busy = calloc(n, sizeof(*out->busy));
    out->blocked = calloc(n, sizeof(*out->blocked));
    out->waiting = calloc(n, sizeof(*out->waiting));
    bool made = out->busy != NULL && out->blocked != NULL && out->waiting != NULL;
    if (made)
        sort_rows(out);
    else
        threads_view_free(out);
    return made;
}

void threads_view_free(threads_view *view)
{
    free(view->busy);
    free(view->blocked);
    free(view->waiting);
    view->busy = view->blocked = view->waiting = NULL;
}

static bool is_among(const attach_thread *const *list, size_t n, const attach_thread *thread)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == thread)
            return true;
    return false;
}

size_t threads_chain(const attach_thread **chain, size_t max, const attach_thread *thread,
                     bool *cycle)
{
    size_t n = 0;
    *cycle = false;
    for (const attach_thread *at = thread->owner; at != NULL && n < max; at = at->owner) {
        if (at == thread || is_among(chain, n, at)) {
            *cycle = true;
            break;
        }
        chain[n++] = at;
    }
    return n;
}

size_t threads_stacks(const attach_threads *threads)
{
    size_t n = 0;
    for (size_t i = 0; i < attach_threads_count(threads); i++)
        n += attach_threads_at(threads, i)->has_stack;
    return n;
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

const attach_thread_lock *threads_cycle_lock(const attach_deadlock *cycle, size_t i)
{
    return cycle->threads[i]->lock;
}
