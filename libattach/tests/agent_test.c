/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the thread agent's Java calls with a fake JVM: what they read, and that no failing JNI call
 * or allocation makes them break JNI's rules, leak memory, or return wrong data. */
#include "run_suite.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_jvm.h"
#include "snapshot/snapshot.h"
#include <attach/threads.h>

enum { RUNNABLE = 1, BLOCKED, WAITING };

/*
 * 2 and 3 wait for each other, 4 for 2; 5 carries virtual thread 50; 6 ends during the snapshot; 7
 * waits for a lock of 60, which is no platform thread; 8 for a lock whose owner the JVM does not
 * know.
 */
static const fake_thread threads[] = {
    {.tid = 1, .name = "main", .state = RUNNABLE, .depth = 3},
    {.tid = 2,
     .name = "left",
     .state = BLOCKED,
     .depth = 2,
     .lock_class = "a.L",
     .owner = 3,
     .holds = true},
    {.tid = 3,
     .name = "right",
     .state = BLOCKED,
     .depth = 2,
     .lock_class = "a.R",
     .owner = 2,
     .holds = true},
    {.tid = 4,
     .name = "",
     .state = WAITING,
     .depth = 1,
     .lock_class = "a.L",
     .owner = 2,
     .daemon = true},
    {.tid = 5,
     .name = "ForkJoinPool-1-worker-1",
     .state = WAITING,
     .lock_class = "java.lang.VirtualThread",
     .owner = 50,
     .owner_name = "vt",
     .daemon = true,
     .carrier = true},
    {.tid = 6, .name = "gone", .state = RUNNABLE, .ended = true},
    {.tid = 7,
     .name = "orphan",
     .state = WAITING,
     .depth = 1,
     .lock_class = "java.util.concurrent.locks.ReentrantLock$NonfairSync",
     .owner = 60,
     .owner_name = "died"},
    {.tid = 8,
     .name = "stamped",
     .state = WAITING,
     .depth = 1,
     .lock_class = "java.util.concurrent.locks.StampedLock"},
};

static const threads_ask default_ask = {.max_threads = 100,
                                        .max_stacks = 64,
                                        .max_depth = 64,
                                        .max_bytes = 1 << 20,
                                        .time_limit_ms = 600000,
                                        .flags = THREADS_MONITORS};

/* ---- allocations of the agent, which is compiled to call these ---- */

void *agent_malloc(size_t n);
void *agent_calloc(size_t n, size_t size);
void *agent_realloc(void *p, size_t n);

static unsigned long allocations, deny_at; /* 0 = none fails */

void *agent_malloc(size_t n)
{
    return ++allocations == deny_at ? NULL : malloc(n);
}

void *agent_calloc(size_t n, size_t size)
{
    return ++allocations == deny_at ? NULL : calloc(n, size);
}

void *agent_realloc(void *p, size_t n)
{
    return ++allocations == deny_at ? NULL : realloc(p, n);
}

/* ---- the agent's clock: the fake JVM's, where a test has one ---- */

int agent_clock_gettime(clockid_t id, struct timespec *out);

static const fake_jvm *clock_of;

int agent_clock_gettime(clockid_t id, struct timespec *out)
{
    if (clock_of == NULL)
        return clock_gettime(id, out);
    uint64_t now_ns = UINT64_C(1000000000) + clock_of->stopped_ns;
    *out = (struct timespec){(time_t)(now_ns / 1000000000u), (long)(now_ns % 1000000000u)};
    return 0;
}

/* ---- one run of the agent ---- */

typedef struct outcome {
    bool opened;
    int status;
    uint8_t *bytes;
    size_t n;
    char error[sizeof(((jvm *)NULL)->error)];
} outcome;

/* Looks up all classes, takes a snapshot and closes, as the agent's thread does. */
static outcome live(fake_jvm *made, const threads_ask *ask)
{
    static jvm j;
    history h = {0};
    outcome o = {.status = THREADS_JAVA_ERROR};
    o.opened = jvm_open(&j, fake_jvm_env(made));
    if (o.opened)
        o.status = snapshot_take(&o.bytes, &o.n, &j, ask, &h);
    memcpy(o.error, j.error, sizeof(o.error));
    jvm_close(&j);
    history_free(&h);
    return o;
}

/* Checks that the outcome is a known status with its message, or a snapshot that can be decoded;
 * frees it. */
static void check_outcome(outcome *o)
{
    attach_threads *t = NULL;
    if (o->opened && o->status == THREADS_DONE) {
        attach_error err = {0};
        ck_assert_msg(attach_threads_decode(&t, o->bytes, o->n, &err) == ATTACH_OK, "%s",
                      err.message);
        attach_threads_free(t);
    } else {
        ck_assert_ptr_null(o->bytes);
        ck_assert(!o->opened || o->status == THREADS_JAVA_ERROR || o->status == THREADS_NO_MEMORY ||
                  o->status == THREADS_NO_HEADROOM);
        if (!o->opened || o->status != THREADS_NO_MEMORY)
            ck_assert_str_ne(o->error, "");
    }
    free(o->bytes);
}

static attach_threads *snapshot(fake_jvm *made, const threads_ask *ask)
{
    attach_threads *t = NULL;
    attach_error err = {0};
    outcome o = live(made, ask);
    ck_assert_msg(o.opened && o.status == THREADS_DONE, "%d: %s", o.status, o.error);
    ck_assert_msg(attach_threads_decode(&t, o.bytes, o.n, &err) == ATTACH_OK, "%s", err.message);
    free(o.bytes);
    return t;
}

/*
 * Takes the snapshot after another one. The fake's CPU times do not change, so no thread is busy.
 */
static attach_threads *next_snapshot(jvm *j, history *h, const threads_ask *ask)
{
    attach_threads *t = NULL;
    uint8_t *bytes = NULL;
    size_t n = 0;
    ck_assert_int_eq(snapshot_take(&bytes, &n, j, ask, h), THREADS_DONE);
    ck_assert_int_eq(attach_threads_decode(&t, bytes, n, NULL), ATTACH_OK);
    free(bytes);
    return t;
}

static threads_ask full_ask(void)
{
    threads_ask ask = default_ask;
    ask.flags = THREADS_FULL | THREADS_MONITORS | THREADS_SYNCHRONIZERS;
    return ask;
}

/* ---- what it reads ---- */

START_TEST(reads_what_there_is)
{
    fake_jvm made;
    fake_jvm_make(&made, threads, ROWS(threads));
    threads_ask ask = _i == 0 ? default_ask : full_ask();
    attach_threads *t = snapshot(&made, &ask);
    ck_assert_uint_eq(attach_threads_count(t), 7); /* not the ended one or the agent's own */
    ck_assert_uint_eq(attach_threads_meta_of(t)->cut, 0);
    /* a full dump ends with a request for one stack */
    ck_assert_uint_eq(attach_threads_meta_of(t)->pauses, _i == 0 ? 2 : 3);
    const attach_thread *left = attach_threads_find(t, 2);
    ck_assert_str_eq(left->name, "left");
    ck_assert_int_eq(left->state, ATTACH_THREAD_BLOCKED);
    ck_assert_uint_eq(left->cpu_ns, 2000);
    ck_assert_str_eq(left->lock->class_name, "a.L");
    ck_assert_ptr_eq(left->owner, attach_threads_find(t, 3));
    ck_assert_uint_eq(left->n_frames, 2);
    ck_assert(attach_threads_frame(t, left->frames[0])->native);
    ck_assert_uint_eq(attach_threads_frame(t, left->frames[1])->line, 1);
    ck_assert_uint_eq(left->n_held, 2); /* the monitor of native code belongs to no frame */
    const attach_thread *carrier = attach_threads_find(t, 5);
    ck_assert(carrier->flags & ATTACH_THREAD_CARRIER);
    ck_assert_int_eq(carrier->state, ATTACH_THREAD_WAITING);
    ck_assert_uint_eq(carrier->carries_tid, 50);
    ck_assert_str_eq(carrier->carries_name, "vt");
    ck_assert_ptr_null(carrier->lock);
    ck_assert_uint_eq(carrier->owner_tid, 0);
    const attach_thread *orphan = attach_threads_find(t, 7);
    ck_assert_uint_eq(orphan->owner_tid, 60);
    ck_assert_str_eq(orphan->owner_name, "died");
    ck_assert(orphan->flags & ATTACH_THREAD_OWNER_GONE); /* this JVM has virtual threads */
    ck_assert(!(orphan->flags & ATTACH_THREAD_OWNER_ENDED));
    ck_assert_int_eq((attach_threads_find(t, 8)->why & ATTACH_STACK_BLOCKED) != 0, _i == 0);
    ck_assert(attach_threads_find(t, 4)->flags & ATTACH_THREAD_DAEMON);
    ck_assert_uint_eq(attach_threads_deadlock_count(t), 1);
    attach_threads_free(t);
    fake_jvm_end(&made);
}
END_TEST

/* Without virtual threads an owner that is missing has ended. An owner that is younger than the
 * list is not missing. */
START_TEST(ended_owner_is_marked)
{
    static const fake_thread list[] = {
        {.tid = 1, .name = "of-ended", .state = BLOCKED, .lock_class = "a.L", .owner = 60},
        {.tid = 2, .name = "of-agent", .state = BLOCKED, .lock_class = "a.L", .owner = 3},
        {.tid = 3, .name = "owner", .state = RUNNABLE},
    };
    fake_jvm made;
    fake_jvm_make(&made, list, ROWS(list));
    threads_ask ask = default_ask;
    ask.max_threads = _i == 0 ? 100 : 2; /* 2: the owner is cut from the list */
    attach_threads *t = snapshot(&made, &ask);
    for (size_t i = 0; i < attach_threads_count(t); i++) {
        const attach_thread *thread = attach_threads_at(t, i);
        ck_assert_int_eq((thread->flags & ATTACH_THREAD_OWNER_ENDED) != 0, thread->java_tid == 1);
        ck_assert(!(thread->flags & ATTACH_THREAD_OWNER_GONE));
    }
    attach_threads_free(t);
    fake_jvm_end(&made);
}
END_TEST

/* The fake JVM gives each thread more CPU time than the previous one. */
START_TEST(deadlocked_threads_are_not_cut_off)
{
    fake_jvm made;
    fake_jvm_make(&made, threads, ROWS(threads));
    threads_ask ask = default_ask;
    ask.max_threads = 2;
    attach_threads *t = snapshot(&made, &ask);
    ck_assert_uint_eq(attach_threads_count(t), 2);
    ck_assert_ptr_nonnull(attach_threads_find(t, 2));
    ck_assert_ptr_nonnull(attach_threads_find(t, 3));
    ck_assert_uint_eq(attach_threads_deadlock_count(t), 1);
    ck_assert_uint_eq(attach_threads_meta_of(t)->cut, ATTACH_CUT_THREADS);
    attach_threads_free(t);
    fake_jvm_end(&made);
}
END_TEST

/*
 * The fake's CPU times do not change, so a runnable thread is stalled from the second snapshot on.
 */
START_TEST(stalled_threads_have_stacks)
{
    fake_jvm made;
    static jvm j;
    history h = {0};
    fake_jvm_make(&made, threads, ROWS(threads));
    ck_assert(jvm_open(&j, fake_jvm_env(&made)));
    for (int look = 0; look < 2; look++) {
        attach_threads *t = next_snapshot(&j, &h, &default_ask);
        const attach_thread *runnable = attach_threads_find(t, 1);
        ck_assert_int_eq((runnable->why & ATTACH_STACK_STALLED) != 0, look == 1);
        ck_assert(runnable->has_stack);
        ck_assert(!(attach_threads_find(t, 4)->why & ATTACH_STACK_STALLED)); /* it waits */
        attach_threads_free(t);
    }
    jvm_close(&j);
    history_free(&h);
    fake_jvm_end(&made);
}
END_TEST

START_TEST(reads_java_8)
{
    fake_jvm made;
    fake_jvm_make(&made, threads, ROWS(threads));
    made.odd = FAKE_ODD_JAVA_8;
    attach_threads *t = snapshot(&made, &default_ask);
    ck_assert_uint_eq(attach_threads_count(t), 7);
    ck_assert_uint_eq(attach_threads_find(t, 3)->cpu_ns, 3000); /* one call per thread */
    ck_assert_uint_eq(attach_threads_find(t, 3)->n_frames, 2);
    ck_assert(!attach_threads_meta_of(t)->allocated);
    attach_threads_free(t);
    fake_jvm_end(&made);
}
END_TEST

START_TEST(odd_jvms_do_no_harm)
{
    fake_jvm made;
    for (int full = 0; full < 2; full++) {
        fake_jvm_make(&made, threads, ROWS(threads));
        made.odd = (fake_odd)_i;
        threads_ask ask = full ? full_ask() : default_ask;
        outcome o = live(&made, &ask);
        if (full && _i == FAKE_ODD_FULL_HEAP)
            ck_assert_int_eq(o.status, THREADS_NO_HEADROOM);
        check_outcome(&o);
        fake_jvm_end(&made);
    }
}
END_TEST

START_TEST(crowd_is_bounded)
{
    enum { CROWD = 2000 };
    fake_jvm made;
    fake_thread *crowd = calloc(CROWD, sizeof(*crowd));
    ck_assert_ptr_nonnull(crowd);
    for (int i = 0; i < CROWD; i++)
        crowd[i] = (fake_thread){.tid = 100 + i, .name = "idle", .state = WAITING, .depth = 8};
    threads_ask ask = full_ask();
    fake_jvm_make(&made, crowd, CROWD);
    ask.max_threads = 100000;
    ask.max_bytes = 1 << 16;
    outcome o = live(&made, &ask);
    ck_assert_int_eq(o.status, THREADS_DONE);
    ck_assert_uint_lt(o.n, ask.max_bytes + THREADS_BYTES_SPARE);
    check_outcome(&o);
    fake_jvm_end(&made);
    fake_jvm_make(&made, crowd, CROWD);
    ask.max_bytes = 64 << 20;
    ask.max_threads = 1000;
    attach_threads *t = snapshot(&made, &ask);
    ck_assert_uint_eq(attach_threads_count(t), 1000);
    ck_assert_uint_eq(attach_threads_meta_of(t)->threads_total, CROWD);
    ck_assert_uint_eq(attach_threads_meta_of(t)->cut, ATTACH_CUT_THREADS);
    attach_threads_free(t);
    fake_jvm_end(&made);
    free(crowd);
}
END_TEST

/* ---- pauses ---- */

enum { IDLE = 90, FIRST_IDLE = 1000 };

/* Fills idle threads, and after them two that wait for each other. */
static void fill_idle(fake_thread list[IDLE + 2])
{
    for (int i = 0; i < IDLE; i++)
        list[i] =
            (fake_thread){.tid = FIRST_IDLE + i, .name = "idle", .state = WAITING, .depth = 2};
    list[IDLE] = threads[1];
    list[IDLE].tid = 2;
    list[IDLE + 1] = threads[2];
}

static size_t stacks_in(const attach_threads *t)
{
    size_t n = 0;
    for (size_t i = 0; i < attach_threads_count(t); i++)
        n += attach_threads_at(t, i)->has_stack;
    return n;
}

START_TEST(stacks_end_with_the_pauses)
{
    fake_jvm made;
    static jvm j;
    fake_thread list[IDLE + 2];
    history h = {0};
    bool seen[IDLE] = {false};
    size_t left = IDLE;
    fill_idle(list);
    fake_jvm_make(&made, list, ROWS(list));
    made.odd = FAKE_ODD_UNCOUNTED;
    made.stack_ns = 1000000;
    clock_of = &made;
    ck_assert(jvm_open(&j, fake_jvm_env(&made)));
    threads_ask ask = default_ask;
    attach_threads *t = next_snapshot(&j, &h, &ask); /* in a first snapshot all count as busy */
    const attach_threads_meta *meta = attach_threads_meta_of(t);
    ck_assert_uint_eq(meta->cut, ATTACH_CUT_PAUSE | ATTACH_CUT_STACKS);
    ck_assert_uint_eq(meta->stacks_wanted, 64);
    ck_assert_uint_eq(stacks_in(t), 10); /* 10 ms, by default */
    ck_assert_uint_eq(meta->paused_ns, 10000000);
    ck_assert_uint_eq(meta->longest_pause_ns, 8000000); /* before it knew what a stack takes */
    attach_threads_free(t);
    ask.pause_ms = 12;
    for (int round = 0; round < IDLE && left > 0; round++) {
        t = next_snapshot(&j, &h, &ask);
        ck_assert_uint_eq(attach_threads_meta_of(t)->cut, ATTACH_CUT_PAUSE);
        ck_assert_uint_eq(stacks_in(t), 12);
        ck_assert(attach_threads_find(t, 2)->has_stack); /* deadlocked threads come first */
        ck_assert(attach_threads_find(t, 3)->has_stack);
        for (uint64_t i = 0; i < IDLE; i++) {
            const attach_thread *idle = attach_threads_find(t, FIRST_IDLE + i);
            ck_assert_int_eq(idle->has_stack, idle->why == ATTACH_STACK_SAMPLED);
            left -= idle->has_stack && !seen[i];
            ck_assert(!idle->has_stack || !seen[i]); /* in turn: no thread twice */
            seen[i] = seen[i] || idle->has_stack;
        }
        attach_threads_free(t);
    }
    ck_assert_uint_eq(left, 0);
    ck_assert_uint_eq(made.most_stacks, 8);
    jvm_close(&j);
    history_free(&h);
    clock_of = NULL;
    fake_jvm_end(&made);
}
END_TEST

/* The calls take long because the thread waits for a CPU; the JVM counts no pause. */
START_TEST(what_the_jvm_counts_bounds_the_pauses)
{
    fake_jvm made;
    fake_thread list[IDLE + 2];
    fill_idle(list);
    fake_jvm_make(&made, list, ROWS(list));
    made.stack_ns = 1000000000;
    clock_of = &made;
    attach_threads *t = snapshot(&made, &default_ask);
    const attach_threads_meta *meta = attach_threads_meta_of(t);
    ck_assert_uint_eq(meta->cut, 0);
    ck_assert_uint_eq(stacks_in(t), 64);
    ck_assert_uint_eq(meta->stacks_took_ns, UINT64_C(64000000000));
    ck_assert_uint_le(meta->paused_ns, 2000000);
    ck_assert_uint_le(meta->longest_pause_ns, 2000000);
    attach_threads_free(t);
    clock_of = NULL;
    fake_jvm_end(&made);
}
END_TEST

/* ---- failures ---- */

/* 0: a default snapshot, 1: a full one, 2: the default one of Java 8. */
static threads_ask ask_of(int i)
{
    return i == 1 ? full_ask() : default_ask;
}

START_TEST(every_call_may_throw)
{
    threads_ask ask = ask_of(_i);
    unsigned long at = 0, failures = 0;
    bool reached = true;
    while (reached) {
        fake_jvm made;
        fake_jvm_make(&made, threads, ROWS(threads));
        made.odd = _i == 2 ? FAKE_ODD_JAVA_8 : FAKE_ODD_NONE;
        made.fail_at = ++at;
        outcome o = live(&made, &ask);
        failures += !o.opened || o.status != THREADS_DONE;
        check_outcome(&o);
        reached = made.calls >= at;
        fake_jvm_end(&made);
    }
    ck_assert_uint_gt(failures, at / 2); /* else too few calls failed to prove anything */
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    threads_ask ask = ask_of(_i);
    unsigned long failures = 0;
    bool reached = true;
    deny_at = 0;
    while (reached) {
        fake_jvm made;
        allocations = 0;
        deny_at++;
        fake_jvm_make(&made, threads, ROWS(threads));
        outcome o = live(&made, &ask);
        failures += o.status != THREADS_DONE;
        check_outcome(&o);
        reached = allocations >= deny_at;
        fake_jvm_end(&made);
    }
    ck_assert_uint_gt(failures, deny_at / 2);
    deny_at = 0;
}
END_TEST

START_TEST(contention_is_switched)
{
    fake_jvm made;
    static jvm j;
    fake_jvm_make(&made, threads, ROWS(threads));
    ck_assert(jvm_open(&j, fake_jvm_env(&made)));
    ck_assert(!snapshot_contention_is_on(&j));
    ck_assert(snapshot_contention(&j, true));
    ck_assert(snapshot_contention_is_on(&j));
    ck_assert(made.contention);
    made.fail_at = made.calls + 2; /* the switch itself throws */
    ck_assert(!snapshot_contention(&j, false));
    ck_assert(!jvm_failed(&j));
    jvm_close(&j);
    fake_jvm_end(&made);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("agent");
    tcase_add_loop_test(tc, reads_what_there_is, 0, 2);
    tcase_add_loop_test(tc, ended_owner_is_marked, 0, 2);
    tcase_add_test(tc, deadlocked_threads_are_not_cut_off);
    tcase_add_test(tc, stalled_threads_have_stacks);
    tcase_add_test(tc, reads_java_8);
    tcase_add_loop_test(tc, odd_jvms_do_no_harm, FAKE_ODD_SHORT_ARRAYS, FAKE_ODD_END);
    tcase_add_test(tc, crowd_is_bounded);
    tcase_add_test(tc, stacks_end_with_the_pauses);
    tcase_add_test(tc, what_the_jvm_counts_bounds_the_pauses);
    tcase_add_loop_test(tc, every_call_may_throw, 0, 3);
    tcase_add_loop_test(tc, every_allocation_may_fail, 0, 2);
    tcase_add_test(tc, contention_is_switched);
    Suite *suite = suite_create("agent");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
