/* SPDX-License-Identifier: Apache-2.0 */
#include <base/thread.h>

#include <malloc.h>
#include <signal.h>

int thread_start(pthread_t *out, void *(*run)(void *context), void *context)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(out, NULL, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

void thread_share_heaps(void)
{
#ifdef __GLIBC__
    enum { HEAPS = 2 };
    (void)mallopt(M_ARENA_MAX, HEAPS);
#endif
}

void thread_condition_init(pthread_cond_t *out)
{
    pthread_condattr_t clock;

    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(out, &clock);
    (void)pthread_condattr_destroy(&clock);
}

struct timespec thread_deadline(uint64_t ms)
{
    enum { NS_PER_S = 1000000000 };
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += (time_t)(ms / 1000 + ns / NS_PER_S);
    until.tv_nsec = (long)(ns % NS_PER_S);
    return until;
}
