/* SPDX-License-Identifier: Apache-2.0 */
#include "periodic.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct periodic {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ends;
    void (*job)(void *context);
    void *context;
    uint64_t every_ms;
};

/* Waits until the next job is due. False: the thread is to end. */
static bool wait_for_turn(periodic *p)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t nanos = (uint64_t)until.tv_nsec + p->every_ms % 1000 * 1000000;
    until.tv_sec += (time_t)(p->every_ms / 1000 + nanos / 1000000000);
    until.tv_nsec = (long)(nanos % 1000000000);
    pthread_mutex_lock(&p->lock);
    for (int rc = 0; !p->ends && rc == 0;)
        rc = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    bool goes_on = !p->ends;
    pthread_mutex_unlock(&p->lock);
    return goes_on;
}

static void *periodic_main(void *context)
{
    periodic *p = context;

    do {
        p->job(p->context);
    } while (wait_for_turn(p));
    return NULL;
}

periodic *periodic_start(void (*job)(void *context), void *context, uint64_t every_ms)
{
    periodic *p = calloc(1, sizeof(*p));
    pthread_condattr_t clock;
    sigset_t all, before;

    if (p == NULL)
        return NULL;
    p->job = job;
    p->context = context;
    p->every_ms = every_ms;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&p->thread, NULL, periodic_main, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        return p;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

void periodic_stop(periodic *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
