/* SPDX-License-Identifier: Apache-2.0 */
/* The locks that threads waited for, with the threads that waited and those that held them. */
#include <stdlib.h>
#include <string.h>

#include <contract/intern.h>

#include "threads.h"

enum { ROWS_MAX = 20000 };

typedef struct lock_reader {
    thread_report *report;
    size_t cursor; /* the lock of the last holder's row: rows and locks have one order */
} lock_reader;

static bool is_of(const lock_entry *lock, const thread_row *row)
{
    return lock->target == row->target && lock->lock_id == row->lock_id &&
           text_equal(lock->lock_class, row->lock_class);
}

/* Whether the wait slows the thread down. An idle thread that waits for work is not slow. */
static bool hurts(const thread_report *r, const thread_row *row)
{
    const diagnosed_thread thread = report_diagnosed(r, row);

    return wait_is_slow(diagnose_wait(&thread));
}

/* Takes a wait; the rows are sorted by target and lock. */
static int on_wait(void *context, const thread_row *row)
{
    thread_report *r = ((lock_reader *)context)->report;

    if (!hurts(r, row))
        return 0;
    lock_entry *lock = r->lock_count > 0 ? &r->locks[r->lock_count - 1] : NULL;
    if (lock == NULL || !is_of(lock, row)) {
        if (array_reserve((void **)&r->locks, &r->lock_room, r->lock_count, sizeof(*lock)) != 0)
            return -1;
        lock = &r->locks[r->lock_count];
        *lock = (lock_entry){.target = row->target,
                             .lock_id = row->lock_id,
                             .lock_class = row->lock_class,
                             .first_ms = row->first_ms};
        if (copies_keep(&r->copies, &lock->lock_class) != 0)
            return -1;
        r->lock_count++;
        lock->kind = diagnose_lock_kind((uint32_t)row->state, lock->lock_class.data,
                                        lock->lock_class.length);
    }
    lock->first_ms = row->first_ms < lock->first_ms ? row->first_ms : lock->first_ms;
    lock->last_ms = row->last_ms > lock->last_ms ? row->last_ms : lock->last_ms;
    lock->waits += row->snapshots;
    lock->waiters++;
    return report_add(r, &lock->waiting, row) != NULL ? 0 : -1;
}

static int on_holder(void *context, const thread_row *row)
{
    lock_reader *in = context;
    thread_report *r = in->report;

    for (size_t i = 0; i < r->lock_count; i++) {
        size_t at = (in->cursor + i) % r->lock_count;
        if (!is_of(&r->locks[at], row))
            continue;
        in->cursor = at;
        if (row->held_kind == 1)
            r->locks[at].kind = "monitor";
        else if (row->held_kind == 2)
            r->locks[at].kind = "juc";
        thread_entry *holder = report_add(r, &r->locks[at].holders, row);
        if (holder == NULL)
            return -1;
        holder->holder_kind = HOLDER_JAVA;
        return 0;
    }
    return 0;
}

/* Takes a thread whose stack is needed if only waiters name it as a holder. */
static int on_owner(void *context, const thread_row *row)
{
    thread_report *r = context;

    return report_add(r, &r->snapshots, row) != NULL ? 0 : -1;
}

static const thread_row *find_owner(const thread_report *r, uint64_t target, uint64_t java_tid)
{
    for (size_t i = 0; i < r->snapshots.count; i++) {
        const thread_row *row = &r->snapshots.items[i].row;
        if (row->target == target && row->java_tid == java_tid)
            return row;
    }
    return NULL;
}

static bool is_carried(const thread_report *r, uint64_t target, uint64_t java_tid)
{
    for (size_t i = 0; i < r->snapshots.count; i++) {
        const thread_row *row = &r->snapshots.items[i].row;
        if (row->target == target && row->carries_tid == java_tid)
            return true;
    }
    return false;
}

/* Whether waiters alone can name the holder of a lock. */
static bool lacks_holder(const thread_report *r)
{
    for (size_t i = 0; i < r->lock_count; i++) {
        if (r->locks[i].holders.count == 0)
            return true;
    }
    return false;
}

/*
 * Adds a holder that the waiters name. For locks of java.util.concurrent there is no other source:
 * a snapshot lists held monitors only, as finding other locks would walk the heap.
 */
static int add_named_holder(thread_report *r, lock_entry *lock)
{
    for (size_t i = 0; i < lock->waiting.count && lock->holders.count == 0; i++) {
        const thread_row *waiter = &lock->waiting.items[i].row;
        if (waiter->owner_tid == 0)
            continue;
        const thread_row *owner = find_owner(r, lock->target, waiter->owner_tid);
        thread_row holder = owner != NULL ? *owner
                                          : (thread_row){.target = lock->target,
                                                         .java_tid = waiter->owner_tid,
                                                         .name = waiter->owner};
        const diagnosed_thread judged = report_diagnosed(r, waiter);
        holder.snapshots = waiter->snapshots;
        holder.held_kind = 0;
        thread_entry *entry = report_add(r, &lock->holders, &holder);
        if (entry == NULL)
            return -1;
        entry->holder_kind =
            judge_holder(&judged, owner != NULL, is_carried(r, lock->target, waiter->owner_tid));
    }
    return 0;
}

/* Takes a row of THREADS_DELAY. */
static int on_delay(void *context, const thread_row *row)
{
    thread_report *r = context;

    for (size_t i = 0; i < r->lock_count; i++) {
        if (text_equal(r->locks[i].lock_class, row->lock_class))
            r->locks[i].delay_ns = row->cpu_ns;
    }
    return 0;
}

static int by_waits(const void *a, const void *b)
{
    const lock_entry *left = a, *right = b;

    if (left->waits != right->waits)
        return left->waits > right->waits ? -1 : 1;
    return left->lock_id < right->lock_id ? -1 : left->lock_id > right->lock_id;
}

/* Keeps the locks with the most waits, at most `limit`. */
static int keep_worst(thread_report *r, size_t limit, query_meta *meta)
{
    if (r->lock_count > 0)
        qsort(r->locks, r->lock_count, sizeof(*r->locks), by_waits);
    for (size_t i = limit; i < r->lock_count; i++) {
        free(r->locks[i].waiting.items);
        free(r->locks[i].holders.items);
    }
    if (r->lock_count > limit) {
        meta->nodes_omitted += r->lock_count - limit;
        meta->truncated = true;
        r->lock_count = limit;
    }
    for (size_t i = 0; i < r->lock_count; i++) {
        if (add_named_holder(r, &r->locks[i]) != 0)
            return -1;
    }
    return 0;
}

static query_code read_stacks(const query *q, const store_filter *filter, thread_report *out,
                              store_error *err)
{
    const thread_entries **lists = malloc((2 * out->lock_count + 1) * sizeof(*lists));
    query_code code = QUERY_UNAVAILABLE;

    if (lists != NULL) {
        for (size_t i = 0; i < out->lock_count; i++) {
            lists[2 * i] = &out->locks[i].waiting;
            lists[2 * i + 1] = &out->locks[i].holders;
        }
        code = report_read_stacks(q, filter, out, lists, 2 * out->lock_count, err);
    }
    free(lists);
    return code;
}

query_code query_locks(const query *q, const store_filter *filter, thread_report *out,
                       query_meta *meta, store_error *err)
{
    lock_reader reader = {out, 0};
    store_filter wide = *filter, all_pools;
    const thread_port *threads = q->store.threads;

    wide.limit = ROWS_MAX;
    all_pools = wide;
    all_pools.pool = NULL; /* a thread may wait for one of another pool */
    query_code code = query_sources(q, filter, out, meta, err);
    if (code == QUERY_OK)
        code = query_code_of(
            threads->read_threads(q->store.self, THREADS_WAITS, &wide, on_wait, &reader, err));
    if (code == QUERY_OK && out->lock_count > 0)
        code = query_code_of(threads->read_threads(q->store.self, THREADS_HOLDERS, &all_pools,
                                                   on_holder, &reader, err));
    if (code == QUERY_OK && lacks_holder(out))
        code = query_code_of(
            threads->read_threads(q->store.self, THREADS_OWNERS, &all_pools, on_owner, out, err));
    if (code == QUERY_OK && out->lock_count > 0)
        code = query_code_of(
            threads->read_threads(q->store.self, THREADS_DELAY, &wide, on_delay, out, err));
    if (code == QUERY_OK && keep_worst(out, (size_t)filter->limit, meta) != 0)
        code = QUERY_UNAVAILABLE;
    return code == QUERY_OK ? read_stacks(q, filter, out, err) : code;
}
