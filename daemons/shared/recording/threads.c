/* SPDX-License-Identifier: Apache-2.0 */
/* Runs work items on several threads. */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

typedef struct task {
    jfr_work *work;
    void *ctx;
    uint32_t index;
} task;

static void *do_task(void *context)
{
    const task *t = context;
    t->work(t->ctx, t->index);
    return NULL;
}

void recording__parallel_for(void *ctx, uint32_t count, jfr_work *work, void *work_ctx)
{
    pthread_t threads[RECORDING_MAX_THREADS];
    task tasks[RECORDING_MAX_THREADS];
    bool started[RECORDING_MAX_THREADS] = {false};
    (void)ctx;
    for (uint32_t i = 0; i < count; i++)
        tasks[i] = (task){work, work_ctx, i};
    for (uint32_t i = 1; i < count; i++)
        started[i] = pthread_create(&threads[i], NULL, do_task, &tasks[i]) == 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!started[i])
            work(work_ctx, i);
    }
    for (uint32_t i = 1; i < count; i++) {
        if (started[i])
            (void)pthread_join(threads[i], NULL);
    }
}

struct recording_lock {
    pthread_mutex_t mutex;
};

recording_lock *recording__lock_new(void)
{
    recording_lock *lock = malloc(sizeof(*lock));
    if (lock != NULL)
        (void)pthread_mutex_init(&lock->mutex, NULL);
    return lock;
}

void recording__lock_free(recording_lock *lock)
{
    if (lock == NULL)
        return;
    (void)pthread_mutex_destroy(&lock->mutex);
    free(lock);
}

void recording__lock_take(recording_lock *lock)
{
    if (lock != NULL)
        (void)pthread_mutex_lock(&lock->mutex);
}

void recording__lock_give(recording_lock *lock)
{
    if (lock != NULL)
        (void)pthread_mutex_unlock(&lock->mutex);
}
