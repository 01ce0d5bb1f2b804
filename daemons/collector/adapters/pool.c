/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct task {
    struct task *next;
    void (*job)(void *argument);
    void *argument;
} task;

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    task *first;
    task *last;
    bool ending;
    unsigned count;
    pthread_t threads[];
};

static task *next_task(pool *self)
{
    pthread_mutex_lock(&self->lock);
    while (self->first == NULL && !self->ending)
        pthread_cond_wait(&self->wake, &self->lock);
    task *one = self->first;
    if (one != NULL) {
        self->first = one->next;
        if (self->first == NULL)
            self->last = NULL;
    }
    pthread_mutex_unlock(&self->lock);
    return one;
}

static void *work(void *argument)
{
    for (task *one = next_task(argument); one != NULL; one = next_task(argument)) {
        one->job(one->argument);
        free(one);
    }
    return NULL;
}

pool *pool_new(unsigned threads)
{
    pool *self = calloc(1, sizeof(*self) + threads * sizeof(pthread_t));
    if (self == NULL)
        return NULL;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->wake, NULL);
    while (self->count < threads &&
           pthread_create(&self->threads[self->count], NULL, work, self) == 0)
        self->count++;
    if (self->count > 0)
        return self;
    pool_free(self);
    return NULL;
}

void pool_free(pool *self)
{
    if (self == NULL)
        return;
    pthread_mutex_lock(&self->lock);
    self->ending = true;
    pthread_cond_broadcast(&self->wake);
    pthread_mutex_unlock(&self->lock);
    for (unsigned i = 0; i < self->count; i++)
        pthread_join(self->threads[i], NULL);
    pthread_cond_destroy(&self->wake);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void pool_submit(pool *self, void (*job)(void *argument), void *argument)
{
    task *one = calloc(1, sizeof(*one));
    if (one == NULL) {
        job(argument);
        return;
    }
    one->job = job;
    one->argument = argument;
    pthread_mutex_lock(&self->lock);
    if (self->last != NULL)
        self->last->next = one;
    else
        self->first = one;
    self->last = one;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
}
