/* SPDX-License-Identifier: Apache-2.0 */
#include "reaper.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include <attachclient/attachclient.h>

#define NAP_NS 1000000L
#define NAPS   200 /* a killed process ends within a few of them */

/* Killed workers that have not ended. The kernel keeps their pids until they are waited for. */
static struct {
    pthread_mutex_t lock;
    pid_t *pids;
    size_t n;
    size_t cap;
} left = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_ended(pid_t pid)
{
    pid_t got;
    do
        got = waitpid(pid, NULL, WNOHANG);
    while (got < 0 && errno == EINTR);
    return got != 0; /* -1: somebody else has waited for it */
}

/* Without memory the worker is not remembered, and remains a zombie after its end. */
static void remember(pid_t pid)
{
    (void)pthread_mutex_lock(&left.lock);
    if (left.n == left.cap) {
        size_t cap = left.cap == 0 ? ATTACHCLIENT_UNREAPED_MAX : left.cap * 2;
        pid_t *bigger = realloc(left.pids, cap * sizeof(*bigger));
        left.pids = bigger != NULL ? bigger : left.pids;
        left.cap = bigger != NULL ? cap : left.cap;
    }
    if (left.n < left.cap)
        left.pids[left.n++] = pid;
    (void)pthread_mutex_unlock(&left.lock);
}

void attachclient__reap(pid_t pid)
{
    for (int i = 0; i < NAPS; i++) {
        if (has_ended(pid))
            return;
        (void)nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    }
    remember(pid);
}

size_t attachclient_unreaped(void)
{
    (void)pthread_mutex_lock(&left.lock);
    for (size_t i = 0; i < left.n;) {
        if (has_ended(left.pids[i]))
            left.pids[i] = left.pids[--left.n];
        else
            i++;
    }
    size_t n = left.n;
    (void)pthread_mutex_unlock(&left.lock);
    return n;
}
