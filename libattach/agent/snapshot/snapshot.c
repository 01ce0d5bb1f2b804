/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "snapshot/carriers.h"
#include "snapshot/convert.h"
#include "snapshot/owners.h"
#include "snapshot/pause.h"
#include "snapshot/select.h"

#define CHUNK          512 /* threads per call of step one, which does not stop the JVM */
#define LOCALS         16
#define ROW_BYTES      136 /* the most bytes that the columns of one row take */
#define DEPTH_GUESS    128 /* frames of a stack that a full dump is expected to have */
#define FRAME_BYTES    100 /* Java heap of a StackTraceElement and its array element */
#define INFO_BYTES     1000
#define DEADLOCKED_MAX 4096

typedef struct work {
    jvm *j;
    const threads_ask *ask;
    history *h;
    reading r;
    wire_out o;
    size_t rows; /* rows with `present` */
    uint64_t deadline_ns;
    pauses p;
    int64_t deepest_tid; /* the thread whose stack takes the most bytes */
    size_t deepest_bytes;
} work;

static bool is_late(work *w)
{
    if (monotonic_ns() < w->deadline_ns)
        return false;
    w->o.meta.cut |= THREADS_CUT_TIME;
    return true;
}

/* Returns whether the columns have reached `limit`, together with the columns of the rows that are
 * still to be written. */
static bool is_full(work *w, size_t limit)
{
    if (!w->o.failed && w->o.bytes + w->rows * ROW_BYTES < limit)
        return false;
    w->o.meta.cut |= THREADS_CUT_BYTES;
    return true;
}

/* Records the end of a call that stopped the JVM; returns how long it took. */
static uint64_t note_pause(work *w, size_t stacks, uint64_t begin_ns)
{
    uint64_t took_ns = monotonic_ns() - begin_ns;
    pauses_add(&w->p, stacks, took_ns, jvm_paused_ms(w->j));
    return took_ns;
}

/* ---- step one ---- */

/* Reads one chunk of rows. The caller's local frame frees its objects. */
static bool read_chunk(work *w, size_t begin, size_t n)
{
    int64_t ids[CHUNK];
    for (size_t i = 0; i < n; i++)
        ids[i] = w->r.rows[begin + i].tid;
    jlongArray array = jvm_longs(w->j, ids, n);
    jobject infos = jvm_object(w->j, w->j->bean, GET_INFOS, array, (jint)0);
    if (jvm_length(w->j, infos) < n)
        return false;
    for (size_t i = 0; i < n && !is_full(w, w->o.limit / 4 * 3); i++) { /* the rest: stacks */
        jobject info = jvm_element(w->j, infos, i);
        if (info != NULL) /* NULL: the thread has ended */
            convert_info(&w->r.rows[begin + i], &w->o, w->j, info);
        w->rows += info != NULL;
        jvm_drop(w->j, info);
    }
    return !jvm_failed(w->j);
}

static bool read_infos(work *w)
{
    uint64_t begin_ns = monotonic_ns();
    bool good = true;
    for (size_t at = 0; good && at < w->r.n && !(w->o.meta.cut & THREADS_CUT_BYTES) && !is_late(w);
         at += CHUNK) {
        size_t n = w->r.n - at < CHUNK ? w->r.n - at : CHUNK;
        good = jvm_push(w->j, LOCALS);
        if (!good)
            break;
        good = read_chunk(w, at, n);
        jvm_pop(w->j);
    }
    w->o.meta.info_took_ns = monotonic_ns() - begin_ns;
    return good;
}

/* Removes threads that have ended and threads for which time or room did not suffice. */
static void drop_absent(work *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->r.n; i++)
        if (w->r.rows[i].present)
            w->r.rows[kept++] = w->r.rows[i];
    w->r.n = kept;
}

static bool find_deadlocked(work *w)
{
    int64_t ids[DEADLOCKED_MAX];
    uint64_t begin_ns = monotonic_ns();
    jobject array = jvm_object(w->j, w->j->bean, FIND_DEADLOCKED);
    size_t n = jvm_length(w->j, array);
    w->o.meta.deadlock_took_ns = note_pause(w, 0, begin_ns);
    n = n > DEADLOCKED_MAX ? DEADLOCKED_MAX : n;
    bool good = n == 0 || jvm_read_longs(w->j, ids, array, n);
    for (size_t i = 0; good && i < n; i++) {
        thread_row *row = reading_find(&w->r, ids[i]);
        out_number(&w->o, COL_DEADLOCKED, (uint64_t)ids[i]);
        if (row != NULL)
            row->deadlocked = 1;
    }
    jvm_drop(w->j, array);
    return good && !jvm_failed(w->j);
}

/* ---- step two ---- */

#define STATE_RUNNABLE 2
#define STATE_BLOCKED  3

typedef struct choice {
    int64_t tid;
    uint32_t rank;
} choice;

static int by_rank(const void *a, const void *b)
{
    const choice *left = a, *right = b;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

static bool is_stalled(const thread_row *row)
{
    return row->state == STATE_RUNNABLE && !(row->flags & THREADS_NATIVE) && row->seen &&
           row->cpu_ns >= 0 && row->cpu_delta == 0;
}

/* Chooses threads and marks their rows. Returns their list, those that matter most first, which the
 * caller frees; NULL when there are none. */
static choice *choose(work *w, size_t *n)
{
    candidate *list = w->r.n == 0 ? NULL : calloc(w->r.n, sizeof(*list));
    choice *chosen = list == NULL ? NULL : malloc(w->r.n * sizeof(*chosen));
    *n = 0;
    for (size_t i = 0; chosen != NULL && i < w->r.n; i++) {
        const thread_row *row = &w->r.rows[i];
        list[i] = (candidate){.tid = row->tid,
                              .owner = row->owner,
                              .cpu_delta = row->cpu_delta,
                              .blocked = row->state == STATE_BLOCKED || row->wants_lock,
                              .stalled = is_stalled(row),
                              .deadlocked = row->deadlocked};
    }
    if (chosen != NULL)
        (void)select_threads(list, w->r.n, w->ask->max_stacks, &w->h->cursor);
    for (size_t i = 0; chosen != NULL && i < w->r.n; i++) {
        w->r.rows[i].why = list[i].why;
        if (list[i].why != 0)
            chosen[(*n)++] = (choice){list[i].tid, list[i].rank};
    }
    free(list);
    if (chosen != NULL)
        qsort(chosen, *n, sizeof(*chosen), by_rank);
    return chosen;
}

static void convert_one(work *w, jobject info, size_t *stacks)
{
    thread_row *row = reading_find(&w->r, jvm_long(w->j, info, INFO_ID));
    size_t before = w->o.columns[COL_STACK_FRAME].n;
    if (row == NULL) /* the thread is younger than step one */
        return;
    convert_info(row, &w->o, w->j, info);
    *stacks +=
        convert_stack(row, &w->o, w->j, info, (uint32_t)(row - w->r.rows), w->ask->max_depth);
    if (row->flags & THREADS_DEPTH_CUT)
        w->o.meta.cut |= THREADS_CUT_DEPTH;
    size_t bytes = w->o.columns[COL_STACK_FRAME].n - before;
    if (bytes > w->deepest_bytes) {
        w->deepest_bytes = bytes;
        w->deepest_tid = row->tid;
    }
}

/* Converts the stacks of an array of ThreadInfo. Returns how many, or SIZE_MAX after a failure. */
static size_t convert_all(work *w, jobject infos)
{
    size_t n = jvm_length(w->j, infos), stacks = 0;
    for (size_t i = 0; i < n && !jvm_failed(w->j); i++) {
        if (is_full(w, w->o.limit) || is_late(w))
            break;
        jobject info = jvm_element(w->j, infos, i);
        if (info != NULL)
            convert_one(w, info, &stacks);
        jvm_drop(w->j, info);
    }
    return jvm_failed(w->j) ? SIZE_MAX : stacks;
}

/* Sets THREADS_CUT_STACKS when bytes or time did not suffice for all stacks. */
static void tell_missing(work *w, size_t stacks, size_t wanted)
{
    if (stacks < wanted && (w->o.meta.cut & (THREADS_CUT_BYTES | THREADS_CUT_TIME)))
        w->o.meta.cut |= THREADS_CUT_STACKS;
}

static jobject stacks_of(work *w, const int64_t *ids, size_t n, bool synchronizers)
{
    bool monitors = w->ask->flags & THREADS_MONITORS;
    if (w->j->methods[GET_INFOS_BOUNDED] == NULL) /* Java 9 and before: no monitors with a bound */
        return jvm_object(w->j, w->j->bean, GET_INFOS, jvm_longs(w->j, ids, n),
                          (jint)w->ask->max_depth);
    return jvm_object(w->j, w->j->bean, GET_INFOS_BOUNDED, jvm_longs(w->j, ids, n),
                      (jboolean)monitors, (jboolean)synchronizers, (jint)w->ask->max_depth);
}

static jobject all_stacks(work *w)
{
    int64_t *ids = NULL;
    bool monitors = w->ask->flags & THREADS_MONITORS;
    bool synchronizers = w->ask->flags & THREADS_SYNCHRONIZERS;
    if (w->r.n == w->r.total && w->j->methods[DUMP_ALL] != NULL)
        return jvm_object(w->j, w->j->bean, DUMP_ALL, (jboolean)monitors, (jboolean)synchronizers,
                          (jint)w->ask->max_depth);
    if (w->r.n > 0)
        ids = malloc(w->r.n * sizeof(*ids));
    if (ids == NULL && w->r.n > 0)
        w->o.failed = true;
    for (size_t i = 0; ids != NULL && i < w->r.n; i++)
        ids[i] = w->r.rows[i].tid;
    jobject infos = ids == NULL ? NULL : stacks_of(w, ids, w->r.n, synchronizers);
    free(ids);
    return infos;
}

/* Takes the next n stacks in one pause. Returns the same as convert_all. */
static size_t take_part(work *w, const choice *chosen, size_t n)
{
    int64_t ids[THREADS_STACKS_LIMIT];
    for (size_t i = 0; i < n; i++)
        ids[i] = chosen[i].tid;
    if (!jvm_push(w->j, LOCALS))
        return SIZE_MAX;
    uint64_t begin_ns = monotonic_ns();
    jobject infos = stacks_of(w, ids, n, false);
    w->o.meta.stacks_took_ns += note_pause(w, n, begin_ns);
    size_t stacks = convert_all(w, infos);
    jvm_pop(w->j);
    return stacks;
}

/* Handles stacks that are left when the budget is spent. Threads of the sample keep their turn for
 * the next snapshot; any other stack is reported as missing. */
static void leave_rest(work *w, const choice *chosen, size_t taken, size_t n, int64_t cursor)
{
    w->o.meta.cut |= THREADS_CUT_PAUSE;
    w->h->cursor = cursor;
    for (size_t i = 0; i < n; i++) {
        thread_row *row = reading_find(&w->r, chosen[i].tid);
        bool sampled = row->why == THREADS_WHY_SAMPLED;
        if (sampled && i < taken)
            w->h->cursor = row->tid;
        else if (sampled)
            row->why = 0;
        else if (i >= taken)
            w->o.meta.cut |= THREADS_CUT_STACKS;
    }
}

static bool take_chosen(work *w)
{
    size_t n = 0, taken = 0, stacks = 0, part = 0;
    int64_t cursor = w->h->cursor;
    if (w->ask->max_stacks == 0 || is_late(w))
        return true;
    choice *chosen = choose(w, &n);
    if (chosen == NULL && w->r.n > 0)
        w->o.failed = true;
    w->o.meta.stacks_wanted = (uint32_t)n;
    while (taken < n && stacks != SIZE_MAX && !is_full(w, w->o.limit) && !is_late(w)) {
        part = pauses_next(&w->p, n - taken);
        if (part == 0) {
            leave_rest(w, chosen, taken, n, cursor);
            break;
        }
        size_t converted = take_part(w, &chosen[taken], part);
        stacks = converted == SIZE_MAX ? SIZE_MAX : stacks + converted;
        taken += part;
    }
    tell_missing(w, stacks, n);
    free(chosen);
    return stacks != SIZE_MAX;
}

/* Returns whether the Java heap has room for a full dump, which creates an object per frame. */
static bool has_headroom(work *w)
{
    jvm *j = w->j;
    uint64_t depth = w->ask->max_depth < DEPTH_GUESS ? w->ask->max_depth : DEPTH_GUESS;
    uint64_t needed = (uint64_t)w->r.n * (depth * FRAME_BYTES + INFO_BYTES);
    if (!jvm_push(j, LOCALS))
        return false;
    jobject runtime = jvm_static_object(j, CLASS_RUNTIME, RUNTIME_GET);
    jlong used = jvm_long(j, runtime, RUNTIME_TOTAL) - jvm_long(j, runtime, RUNTIME_FREE);
    jlong room = jvm_long(j, runtime, RUNTIME_MAX) - used;
    jvm_pop(j);
    if (jvm_failed(j) || (room > 0 && needed <= (uint64_t)room / 2))
        return !jvm_failed(j);
    (void)snprintf(j->error, sizeof(j->error),
                   "a full dump of %zu threads needs about %llu MB of Java heap and %lld MB are "
                   "free: ask for fewer frames or threads",
                   w->r.n, (unsigned long long)(needed >> 20), (long long)(room >> 20));
    return false;
}

/*
 * HotSpot frees the memory of a full dump in small pieces. glibc merges them at the next larger
 * allocation, which adds 5 ms to the pause of the next request for a stack. This request makes that
 * happen here, where the caller has asked for a long pause.
 */
static void settle(work *w)
{
    if (w->deepest_bytes == 0)
        return;
    uint64_t begin_ns = monotonic_ns();
    jobject infos = stacks_of(w, &w->deepest_tid, 1, false);
    w->o.meta.stacks_took_ns += note_pause(w, 1, begin_ns);
    jvm_drop(w->j, infos);
}

static bool take_full(work *w)
{
    for (size_t i = 0; i < w->r.n; i++)
        w->r.rows[i].why = THREADS_WHY_FULL;
    w->o.meta.stacks_wanted = (uint32_t)w->r.n;
    if (is_late(w) || !jvm_push(w->j, LOCALS))
        return true;
    uint64_t begin_ns = monotonic_ns();
    jobject infos = all_stacks(w);
    w->o.meta.stacks_took_ns = note_pause(w, w->r.n, begin_ns);
    size_t stacks = convert_all(w, infos);
    if (stacks != SIZE_MAX)
        settle(w);
    jvm_pop(w->j);
    tell_missing(w, stacks, w->r.n);
    return stacks != SIZE_MAX;
}

/* ---- the whole ---- */

static int take(work *w)
{
    jvm *j = w->j;
    bool full = w->ask->flags & THREADS_FULL;
    uint64_t before_ns = w->h->at_ns;
    if (!reading_take(&w->r, j, w->h))
        return jvm_failed(j) ? THREADS_JAVA_ERROR : THREADS_NO_MEMORY;
    w->o.meta.interval_ns = before_ns == 0 ? 0 : w->r.at_ns - before_ns;
    if (!find_deadlocked(w)) /* before reading_cut, which keeps deadlocked threads */
        return THREADS_JAVA_ERROR;
    reading_cut(&w->r, w->ask->max_threads);
    if (w->r.n < w->r.total)
        w->o.meta.cut |= THREADS_CUT_THREADS;
    if (full && !has_headroom(w))
        return THREADS_NO_HEADROOM;
    bool has_virtual = carriers_mark(j, &w->r);
    if (!read_infos(w))
        return THREADS_JAVA_ERROR;
    size_t before = w->r.n;
    drop_absent(w);
    if (w->r.n < before && (w->o.meta.cut & (THREADS_CUT_BYTES | THREADS_CUT_TIME)))
        w->o.meta.cut |= THREADS_CUT_THREADS;
    bool good = owners_mark(j, &w->r, &w->o, has_virtual) && (full ? take_full(w) : take_chosen(w));
    for (size_t i = 0; i < w->r.n; i++)
        convert_row(&w->o, &w->r.rows[i]);
    return good ? THREADS_DONE : THREADS_JAVA_ERROR;
}

static void describe(work *w, uint64_t begin_ns, const struct timespec *wall)
{
    out_meta *m = &w->o.meta;
    m->wall_ms = (uint64_t)wall->tv_sec * 1000 + (uint64_t)wall->tv_nsec / 1000000;
    m->cpu_read_ns = w->r.at_ns;
    m->cpu_read_took_ns = w->r.took_ns;
    m->threads_total = w->r.total;
    m->offers = w->r.offers | (snapshot_contention_is_on(w->j) ? THREADS_OFFER_CONTENTION : 0);
    m->full = w->ask->flags & THREADS_FULL;
    m->total_took_ns = monotonic_ns() - begin_ns;
    m->pauses = w->p.n;
    m->paused_ns = w->p.spent_ns;
    m->longest_pause_ns = w->p.longest_ns;
}

int snapshot_take(uint8_t **bytes, size_t *n, jvm *j, const threads_ask *ask, history *h)
{
    struct timespec wall;
    uint64_t begin_ns = monotonic_ns();
    work w = {.j = j, .ask = ask, .h = h};
    *bytes = NULL;
    *n = 0;
    jvm_clear(j);
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    w.deadline_ns = begin_ns + (uint64_t)ask->time_limit_ms * 1000000u;
    uint32_t pause_ms = ask->pause_ms == 0 ? THREADS_PAUSE_DEFAULT : ask->pause_ms;
    pauses_begin(&w.p, (uint64_t)pause_ms * 1000000u, jvm_paused_ms(j));
    out_init(&w.o, ask->max_bytes);
    int status = take(&w);
    if (status == THREADS_DONE) {
        describe(&w, begin_ns, &wall);
        *bytes = out_finish(&w.o, n);
        if (*bytes == NULL)
            status = THREADS_NO_MEMORY;
    }
    if (status == THREADS_JAVA_ERROR && !jvm_failed(j))
        (void)snprintf(j->error, sizeof(j->error), "the JVM's answer is incomplete");
    out_free(&w.o);
    reading_free(&w.r);
    return status;
}

bool snapshot_contention_is_on(jvm *j)
{
    bool on = jvm_bool(j, j->bean, IS_CONTENTION_ON);
    jvm_clear(j);
    return on;
}

bool snapshot_contention(jvm *j, bool on)
{
    bool offered = jvm_bool(j, j->bean, IS_CONTENTION_OFFERED);
    if (offered)
        jvm_void(j, j->bean, SET_CONTENTION, (jboolean)on);
    bool switched = offered && !jvm_failed(j);
    jvm_clear(j);
    return switched;
}
