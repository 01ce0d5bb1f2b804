/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <base/thread.h>

#include <stdlib.h>

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    void (*run)(void *job);
    void **ring;
    uint32_t capacity;
    uint32_t first;
    uint32_t used;
    bool stopping;
    uint32_t thread_count;
    pthread_t threads[];
};

/* Waits for a job; returns NULL when the pool stops and the queue is empty. */
static void *take(pool *p)
{
    void *job = NULL;

    pthread_mutex_lock(&p->lock);
    while (p->used == 0 && !p->stopping)
        pthread_cond_wait(&p->work, &p->lock);
    if (p->used > 0) {
        job = p->ring[p->first];
        p->first = (p->first + 1) % p->capacity;
        p->used--;
    }
    pthread_mutex_unlock(&p->lock);
    return job;
}

static void *worker(void *context)
{
    pool *p = context;

    for (void *job; (job = take(p)) != NULL;)
        p->run(job);
    return NULL;
}

pool *http__pool_start(uint32_t threads, uint32_t queue, void (*run)(void *job))
{
    pool *p = calloc(1, sizeof(*p) + threads * sizeof(p->threads[0]));

    if (p == NULL || (p->ring = calloc(queue, sizeof(*p->ring))) == NULL) {
        free(p);
        return NULL;
    }
    p->run = run;
    p->capacity = queue;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    while (p->thread_count < threads && thread_start(&p->threads[p->thread_count], worker, p) == 0)
        p->thread_count++;
    if (p->thread_count < threads) {
        http__pool_free(p);
        return NULL;
    }
    return p;
}

bool http__pool_push(pool *p, void *job)
{
    pthread_mutex_lock(&p->lock);
    bool fits = p->used < p->capacity && !p->stopping;
    if (fits) {
        p->ring[(p->first + p->used) % p->capacity] = job;
        p->used++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return fits;
}

void http__pool_stop(pool *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->thread_count; i++)
        pthread_join(p->threads[i], NULL);
    p->thread_count = 0;
}

void http__pool_free(pool *p)
{
    http__pool_stop(p);
    if (p == NULL)
        return;
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p->ring);
    free(p);
}
