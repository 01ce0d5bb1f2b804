/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the threads that write: several at the same time, a bounded queue, the idle function. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "run_suite.h"
#include "writer.h"

enum { CALLERS = 4 };

static atomic_int running, most, ran, looked;
static atomic_bool open_gate;

static void job(void *arg)
{
    int now = atomic_fetch_add(&running, 1) + 1;

    (void)arg;
    if (now > atomic_load(&most))
        atomic_store(&most, now);
    while (!atomic_load(&open_gate))
        sched_yield();
    atomic_fetch_add(&ran, 1);
    atomic_fetch_sub(&running, 1);
}

static void *call(void *context)
{
    ck_assert_int_eq(writer_port.run(context, job, NULL), 0);
    return NULL;
}

static void look(void *context)
{
    (void)context;
    atomic_fetch_add(&looked, 1);
}

START_TEST(test_one_at_a_time_and_bounded)
{
    writer *w = writer_start(CALLERS, 1, look, NULL, 10);
    pthread_t callers[CALLERS];

    ck_assert_ptr_nonnull(w);
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&callers[i], NULL, call, w), 0);
    while (atomic_load(&running) == 0)
        sched_yield();
    atomic_store(&open_gate, true);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    ck_assert_int_eq(atomic_load(&most), 1);
    ck_assert_int_eq(atomic_load(&ran), CALLERS);
    writer_stop(w);
    ck_assert_int_ge(atomic_load(&looked), 1);
}
END_TEST

/* Each of two jobs waits until the other runs. */
static void meet(void *arg)
{
    (void)arg;
    atomic_fetch_add(&running, 1);
    while (atomic_load(&running) < 2)
        sched_yield();
}

static void *call_meet(void *context)
{
    ck_assert_int_eq(writer_port.run(context, meet, NULL), 0);
    return NULL;
}

START_TEST(test_a_slow_job_does_not_stop_another)
{
    writer *w = writer_start(2, 2, NULL, NULL, 10);
    pthread_t callers[2];

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&callers[i], NULL, call_meet, w), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(callers[i], NULL);
    writer_stop(w);
}
END_TEST

static void run_inside(void *arg)
{
    /* This job occupies the only place. */
    ck_assert_int_eq(writer_port.run(arg, job, NULL), -1);
    atomic_fetch_add(&ran, 1);
}

START_TEST(test_a_full_queue_turns_away)
{
    writer *w = writer_start(1, 1, NULL, NULL, 10);

    ck_assert_int_eq(writer_port.run(w, run_inside, w), 0);
    ck_assert_int_eq(atomic_load(&ran), 1);
    writer_stop(w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-writer");
    TCase *tcase = tcase_create("writer");

    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, test_one_at_a_time_and_bounded);
    tcase_add_test(tcase, test_a_slow_job_does_not_stop_another);
    tcase_add_test(tcase, test_a_full_queue_turns_away);
    return run_suite(suite);
}
