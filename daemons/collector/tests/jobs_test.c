/* SPDX-License-Identifier: Apache-2.0 */
/* Tests jobs that run at the same time. */
#include "../adapters/jobs.h"
#include "collector_tests.h"

#include <pthread.h>
#include <stdatomic.h>

enum { HANGING = 40 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    atomic_int ended;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void hang(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&gate.lock);
    while (!gate.open)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    atomic_fetch_add(&gate.ended, 1);
}

static void open_gate(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

/* With a fixed number of threads, the job that releases the others would never run. */
START_TEST(jobs_that_hang_keep_no_other_waiting)
{
    jobs *all = jobs_new();
    for (int i = 0; i < HANGING; i++)
        ck_assert(jobs_submit(all, hang, NULL));
    ck_assert(jobs_submit(all, open_gate, NULL));
    jobs_free(all);
    ck_assert_int_eq(atomic_load(&gate.ended), HANGING);
}
END_TEST

TCase *jobs_tests(void)
{
    TCase *tcase = tcase_create("jobs");
    tcase_add_test(tcase, jobs_that_hang_keep_no_other_waiting);
    return tcase;
}
