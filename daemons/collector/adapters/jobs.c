/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"

#include <pthread.h>
#include <stdlib.h>

/* The stack of a job's thread, which is address space only; the job's memory is on the heap. */
enum { STACK_BYTES = 1 << 20 };

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    pthread_attr_t small;
    unsigned running;
};

typedef struct task {
    jobs *owner;
    void (*job)(void *argument);
    void *argument;
} task;

jobs *jobs_new(void)
{
    jobs *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return NULL;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->idle, NULL);
    pthread_attr_init(&self->small);
    pthread_attr_setstacksize(&self->small, STACK_BYTES);
    pthread_attr_setdetachstate(&self->small, PTHREAD_CREATE_DETACHED);
    return self;
}

void jobs_free(jobs *self)
{
    if (self == NULL)
        return;
    pthread_mutex_lock(&self->lock);
    while (self->running > 0)
        pthread_cond_wait(&self->idle, &self->lock);
    pthread_mutex_unlock(&self->lock);
    pthread_attr_destroy(&self->small);
    pthread_cond_destroy(&self->idle);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static void count(jobs *self, int change)
{
    pthread_mutex_lock(&self->lock);
    self->running += (unsigned)change;
    if (self->running == 0)
        pthread_cond_broadcast(&self->idle);
    pthread_mutex_unlock(&self->lock);
}

static void *work(void *argument)
{
    task one = *(task *)argument;
    free(argument);
    one.job(one.argument);
    count(one.owner, -1);
    return NULL;
}

bool jobs_submit(jobs *self, void (*job)(void *argument), void *argument)
{
    pthread_t thread;
    task *one = malloc(sizeof(*one));
    count(self, 1);
    if (one != NULL) {
        *one = (task){self, job, argument};
        if (pthread_create(&thread, &self->small, work, one) == 0)
            return true;
        free(one);
    }
    count(self, -1);
    return false;
}
