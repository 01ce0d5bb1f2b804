/* SPDX-License-Identifier: Apache-2.0 */
/* Private: a fixed number of threads that take jobs from one bounded queue. */
#ifndef HTTP_POOL_H
#define HTTP_POOL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pool pool;

/* Starts the threads, which call run for every job. Returns NULL when that fails. */
pool *http__pool_start(uint32_t threads, uint32_t queue, void (*run)(void *job));

/* Returns false when the queue is full or the pool is stopping: the caller then still owns the
 * job. */
bool http__pool_push(pool *p, void *job);

/* Refuses new jobs, runs the queued ones and joins the threads. NULL is allowed. */
void http__pool_stop(pool *p);

/* Stops the pool, unless that is done, and frees it; nobody may push any more. NULL is allowed. */
void http__pool_free(pool *p);

#endif
