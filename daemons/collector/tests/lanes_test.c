/* SPDX-License-Identifier: Apache-2.0 */
/* Tests lanes on real threads: JVMs that hang delay neither other JVMs nor the look at the host. */
#include "../adapters/jobs.h"
#include "../adapters/queue/file_queue.h"
#include "collector_tests.h"

#include <base/clock.h>
#include <catalogue/state.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JVMS = 3, LENGTH = 1000 };

/* The host: the operation on which one JVM hangs, and how often each JVM was asked. */
static struct {
    atomic_uint_fast64_t now;
    atomic_int hanging_op; /* the local_op on which JVM 1 hangs; 0 = none */
    atomic_uint lists, starts[JVMS + 1], windows[JVMS + 1], snapshots[JVMS + 1];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    jobs *threads;
    queue *queued;
    rule_set *rules;
    collector *core;
} side = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static uint64_t now_ms(void *context)
{
    (void)context;
    return atomic_load(&side.now);
}

static uint64_t random_number(void *context)
{
    static atomic_uint_fast64_t last = 1;
    (void)context;
    return atomic_fetch_add(&last, UINT64_C(0x9E3779B97F4A7C15));
}

static void ignore_line(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static void ignore(void *context)
{
    (void)context;
}

static bool submit(void *context, void (*job)(void *argument), void *argument)
{
    (void)context;
    return jobs_submit(side.threads, job, argument);
}

static void hang(void)
{
    pthread_mutex_lock(&side.lock);
    while (!side.open)
        pthread_cond_wait(&side.changed, &side.lock);
    pthread_mutex_unlock(&side.lock);
}

static void let_go(void)
{
    pthread_mutex_lock(&side.lock);
    side.open = true;
    pthread_cond_broadcast(&side.changed);
    pthread_mutex_unlock(&side.lock);
}

static int call(void *context, const local_request *request, local_answer *answer, char *message,
                size_t size)
{
    (void)context;
    (void)message;
    (void)size;
    uint32_t pid = request->jvm.host_pid;
    answer->session = SESSION_STATE_OWNED;
    if (request->op == LOCAL_LIST) {
        answer->jvms = calloc(JVMS, sizeof(*answer->jvms));
        for (uint32_t i = 0; i < JVMS; i++)
            answer->jvms[answer->jvm_count++] = sample_jvm(i + 1);
        atomic_fetch_add(&side.lists, 1);
    } else {
        ck_assert_uint_le(pid, JVMS);
        atomic_uint *counts[] = {[LOCAL_START] = side.starts,
                                 [LOCAL_WINDOW] = side.windows,
                                 [LOCAL_THREADS] = side.snapshots};
        if (request->op == LOCAL_STOP)
            return CALL_DONE;
        atomic_fetch_add(&counts[request->op][pid], 1);
        if (pid == 1 && (int)request->op == atomic_load(&side.hanging_op))
            hang();
    }
    return CALL_DONE;
}

static void user_name(void *context, uint32_t uid, char *out, size_t size)
{
    (void)context;
    (void)uid;
    (void)snprintf(out, size, "nobody");
}

static int encode(void *context, const batch *one, uint8_t **out, size_t *length)
{
    (void)context;
    (void)one;
    *out = calloc(1, 1);
    *length = 1;
    return 0;
}

static void set_up(void)
{
    char message[256] = "";
    const rule_text all = {.main_class = "",
                           .command_line = "",
                           .user = "",
                           .namespace_name = "",
                           .workload = "",
                           .events = "cpu=10ms",
                           .threads_ms = LENGTH};
    atomic_store(&side.now, NOON);
    side.threads = jobs_new();
    side.rules = rule_set_new();
    ck_assert_int_eq(rule_set_add(side.rules, &all, message, sizeof(message)), 0);
    ck_assert_int_eq(
        file_queue_open(&side.queued, make_directory(), 100000, 100, message, sizeof(message)), 0);
}

static void begin(uint32_t max_lanes, local_op hanging_op)
{
    const collector_ports ports = {.now_ms = now_ms,
                                   .steady_ms = now_ms,
                                   .thread_cpu_ns = clock_thread_cpu_ns,
                                   .random = random_number,
                                   .log = ignore_line,
                                   .submit = submit,
                                   .wake = ignore,
                                   .call = call,
                                   .user_name = user_name,
                                   .encode = encode,
                                   .queued = ignore,
                                   .status_changed = ignore};
    const collector_options options = {.window_ms = LENGTH,
                                       .discovery_ms = LENGTH,
                                       .flush_ms = LENGTH,
                                       .cooldown_min_ms = LENGTH,
                                       .cooldown_max_ms = LENGTH,
                                       .call_ms = LENGTH,
                                       .max_targets = JVMS,
                                       .max_lanes = max_lanes,
                                       .max_rows_per_part = 1000,
                                       .limits = {.rows = 100000}};
    atomic_store(&side.hanging_op, (int)hanging_op);
    side.core = collector_new(&ports, &options, side.rules, side.queued);
}

static void tear_down(void)
{
    let_go();
    jobs_free(side.threads);
    collector_free(side.core);
    file_queue_close(side.queued);
    rule_set_free(side.rules);
    remove_directory();
}

/* Advances the time and performs the jobs that are due. */
static void go_on(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    atomic_fetch_add(&side.now, LENGTH / 10);
    (void)collector_tick(side.core);
    (void)nanosleep(&moment, NULL);
}

static void wait_for(atomic_uint *count, unsigned least)
{
    while (atomic_load(count) < least)
        go_on();
}

/* Asserts that windows of all JVMs from `first` on, and looks at the host, continue. */
static void assert_all_go_on(uint32_t first)
{
    unsigned lists = atomic_load(&side.lists);
    for (uint32_t pid = first; pid <= JVMS; pid++)
        wait_for(&side.windows[pid], atomic_load(&side.windows[pid]) + 3);
    wait_for(&side.lists, lists + 3);
}

START_TEST(a_jvm_that_hangs_delays_no_other)
{
    static const local_op ops[] = {LOCAL_START, LOCAL_WINDOW};
    begin(64, ops[_i]);
    wait_for(_i == 0 ? &side.starts[1] : &side.windows[1], 1);
    assert_all_go_on(2);
    ck_assert_uint_eq(atomic_load(_i == 0 ? &side.starts[1] : &side.windows[1]), 1);
    let_go();
    assert_all_go_on(1);
}
END_TEST

START_TEST(a_snapshot_that_hangs_delays_no_window)
{
    begin(64, LOCAL_THREADS);
    wait_for(&side.snapshots[1], 1);
    assert_all_go_on(1);
    ck_assert_uint_eq(atomic_load(&side.snapshots[1]), 1);
}
END_TEST

START_TEST(past_the_cap_lanes_wait_their_turn_and_the_host_is_looked_at)
{
    begin(1, LOCAL_START);
    wait_for(&side.starts[1], 1);
    wait_for(&side.lists, atomic_load(&side.lists) + 3);
    collector_stats stats = collector_get_stats(side.core);
    ck_assert_uint_eq(stats.lanes_running, 1);
    ck_assert_uint_ge(stats.lanes_waiting, JVMS - 1);
    let_go();
    assert_all_go_on(1); /* only one lane runs at a time, and none is forgotten */
    for (uint32_t pid = 1; pid <= JVMS; pid++)
        wait_for(&side.snapshots[pid], 2);
}
END_TEST

TCase *lanes_tests(void)
{
    TCase *tests = tcase_create("lanes");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, a_jvm_that_hangs_delays_no_other, 0, 2);
    tcase_add_test(tests, a_snapshot_that_hangs_delays_no_window);
    tcase_add_test(tests, past_the_cap_lanes_wait_their_turn_and_the_host_is_looked_at);
    return tests;
}
