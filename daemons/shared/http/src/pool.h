/* SPDX-License-Identifier: Apache-2.0 */
/* Private: a fixed number of threads that take jobs from one bounded queue. */
#ifndef HTTP_POOL_H
#define HTTP_POOL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pool pool;

/* Starts the threads; NULL when that fails. run is called for every job, on any of them. */
pool *http__pool_start(uint32_t threads, uint32_t queue, void (*run)(void *job));

/* False when the queue is full or the pool is stopping: the job is then still the caller's. */
bool http__pool_push(pool *p, void *job);

/* Takes no more, runs what is queued and joins the threads. Takes NULL. */
void http__pool_stop(pool *p);

/* Stops, if that is not done, and frees; nobody may push any more. Takes NULL. */
void http__pool_free(pool *p);

#endif
