/* SPDX-License-Identifier: Apache-2.0 */
#include "periodic.h"

#include <base/thread.h>

#include <stdbool.h>
#include <stdlib.h>

struct periodic {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ends;
    void (*job)(void *context);
    void *context;
    uint64_t every_ms;
};

/* Waits until the next job is due. Returns false when the thread must end. */
static bool wait_for_turn(periodic *p)
{
    struct timespec until = thread_deadline(p->every_ms);

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

    if (p == NULL)
        return NULL;
    p->job = job;
    p->context = context;
    p->every_ms = every_ms;
    pthread_mutex_init(&p->lock, NULL);
    thread_condition_init(&p->changed);
    if (thread_start(&p->thread, periodic_main, p) == 0)
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
