/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/reading.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOCALS 16

uint64_t monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void reading_free(reading *r)
{
    free(r->rows);
    memset(r, 0, sizeof(*r));
}

static int by_number(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

static int by_tid(const void *a, const void *b)
{
    const thread_row *left = a, *right = b;
    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static int by_weight(const void *a, const void *b)
{
    const thread_row *left = a, *right = b;
    if (left->deadlocked != right->deadlocked)
        return left->deadlocked ? -1 : 1;
    if (left->cpu_delta != right->cpu_delta)
        return left->cpu_delta > right->cpu_delta ? -1 : 1;
    return by_tid(a, b);
}

thread_row *reading_find(const reading *r, int64_t tid)
{
    thread_row key = {.tid = tid};
    return r->n == 0 ? NULL : bsearch(&key, r->rows, r->n, sizeof(key), by_tid);
}

/* Returns the sorted ids without the agent's own; the caller frees them. */
static int64_t *read_ids(size_t *n, jvm *j)
{
    jobject array = jvm_object(j, j->bean, GET_ALL_IDS);
    size_t all = jvm_length(j, array), kept = 0;
    int64_t *ids = all == 0 ? NULL : malloc(all * sizeof(*ids));
    *n = 0;
    if (ids == NULL)
        return NULL;
    if (!jvm_read_longs(j, ids, array, all)) {
        free(ids);
        return NULL;
    }
    for (size_t i = 0; i < all; i++)
        if (ids[i] != j->own_tid)
            ids[kept++] = ids[i];
    qsort(ids, kept, sizeof(*ids), by_number);
    *n = kept;
    return ids;
}

/* Reads one counter of all threads with a bulk call; all values are -1 where that fails. */
static bool read_bulk(jvm *j, int64_t *values, size_t n, jlongArray ids, enum java_method method)
{
    jobject result = jvm_object(j, j->bean, method, ids);
    bool read = jvm_read_longs(j, values, result, n);
    if (!read)
        for (size_t i = 0; i < n; i++)
            values[i] = -1;
    jvm_clear(j); /* a missing counter does not fail the snapshot */
    jvm_drop(j, result);
    return read;
}

static void read_singly(jvm *j, int64_t *values, size_t n, const int64_t *ids,
                        enum java_method method)
{
    for (size_t i = 0; i < n; i++) {
        values[i] = jvm_long(j, j->bean, method, (jlong)ids[i]);
        if (jvm_failed(j))
            values[i] = -1;
        jvm_clear(j);
    }
}

typedef struct times {
    int64_t *cpu, *user, *allocated;
} times;

static void read_times(reading *r, jvm *j, const times *t, const int64_t *ids, size_t n)
{
    jlongArray java_ids = j->bulk ? jvm_longs(j, ids, n) : NULL;
    bool cpu = jvm_bool(j, j->bean, IS_CPU_ON);
    jvm_clear(j);
    memset(t->cpu, 0xFF, n * sizeof(*t->cpu)); /* -1 each */
    memset(t->user, 0xFF, n * sizeof(*t->user));
    memset(t->allocated, 0xFF, n * sizeof(*t->allocated));
    r->at_ns = monotonic_ns();
    if (cpu && java_ids != NULL) {
        (void)read_bulk(j, t->cpu, n, java_ids, SUN_GET_CPU);
        r->took_ns = monotonic_ns() - r->at_ns;
        (void)read_bulk(j, t->user, n, java_ids, SUN_GET_USER);
        r->offers |= THREADS_OFFER_BULK;
    } else if (cpu) {
        read_singly(j, t->cpu, n, ids, GET_CPU);
        r->took_ns = monotonic_ns() - r->at_ns;
        read_singly(j, t->user, n, ids, GET_USER);
    }
    if (cpu)
        r->offers |= THREADS_OFFER_CPU;
    if (java_ids != NULL && jvm_bool(j, j->bean, SUN_IS_ALLOCATED_ON) &&
        read_bulk(j, t->allocated, n, java_ids, SUN_GET_ALLOCATED))
        r->offers |= THREADS_OFFER_ALLOCATED;
    jvm_clear(j);
}

/* Returns the thread's entry in the previous snapshot, or NULL. */
static const int64_t *find_before(const history *h, int64_t tid)
{
    return h->n == 0 ? NULL : bsearch(&tid, h->tids, h->n, sizeof(tid), by_number);
}

/* Returns the CPU time since the previous snapshot. All CPU time of a thread that is new since then
 * counts. */
static int64_t delta_of(const history *h, const int64_t *before, int64_t cpu_ns)
{
    int64_t base = before == NULL ? 0 : h->cpu_ns[before - h->tids];
    return cpu_ns < 0 || base < 0 || cpu_ns < base ? 0 : cpu_ns - base;
}

static bool fill_rows(reading *r, const int64_t *ids, const times *t, size_t n, const history *h)
{
    r->rows = calloc(n + 1, sizeof(*r->rows));
    if (r->rows == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const int64_t *before = find_before(h, ids[i]);
        r->rows[i] = (thread_row){.tid = ids[i],
                                  .cpu_ns = t->cpu[i],
                                  .user_ns = t->user[i],
                                  .allocated = t->allocated[i],
                                  .cpu_delta = delta_of(h, before, t->cpu[i]),
                                  .seen = before != NULL};
    }
    r->n = n;
    return true;
}

void reading_cut(reading *r, uint32_t max_threads)
{
    if (r->n <= max_threads)
        return;
    qsort(r->rows, r->n, sizeof(*r->rows), by_weight);
    r->n = max_threads;
    qsort(r->rows, r->n, sizeof(*r->rows), by_tid);
}

static bool take(reading *out, jvm *j, history *h)
{
    size_t n = 0;
    int64_t *ids = read_ids(&n, j);
    int64_t *numbers = ids == NULL ? NULL : malloc((3 * n + 1) * sizeof(*numbers));
    if (numbers == NULL) {
        free(ids);
        return false;
    }
    times t = {numbers, numbers + n, numbers + 2 * n};
    out->total = (uint32_t)n;
    read_times(out, j, &t, ids, n);
    bool filled = !jvm_failed(j) && fill_rows(out, ids, &t, n, h);
    if (filled) {
        int64_t cursor = h->cursor;
        history_free(h);
        /* `numbers` begins with the CPU times, so the history can own the whole block */
        *h = (history){
            .tids = ids, .cpu_ns = numbers, .n = n, .at_ns = out->at_ns, .cursor = cursor};
        return true;
    }
    free(ids);
    free(numbers);
    return false;
}

bool reading_take(reading *out, jvm *j, history *h)
{
    memset(out, 0, sizeof(*out));
    if (!jvm_push(j, LOCALS))
        return false;
    bool taken = take(out, j, h);
    jvm_pop(j);
    return taken;
}
