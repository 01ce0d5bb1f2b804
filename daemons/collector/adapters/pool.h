/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that run jobs. */
#ifndef COLLECTOR_ADAPTERS_POOL_H
#define COLLECTOR_ADAPTERS_POOL_H

typedef struct pool pool;

/* NULL where threads or memory are short. */
pool *pool_new(unsigned threads);
/* Runs what was submitted, then ends the threads. */
void pool_free(pool *self);
/* Queues a job; runs it at once, on the caller's thread, where there is no memory to queue it. */
void pool_submit(pool *self, void (*job)(void *argument), void *argument);

#endif
