/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/periodic/periodic.h: a thread that calls a job at intervals. */
#ifndef BACKEND_PERIODIC_H
#define BACKEND_PERIODIC_H

#include <stdint.h>

typedef struct periodic periodic;

/* Calls job(context) at once, and then `every_ms` after each end. NULL: no memory or no thread. */
periodic *periodic_start(void (*job)(void *context), void *context, uint64_t every_ms);

/* Waits for the running job and ends the thread; NULL is allowed. */
void periodic_stop(periodic *p);

#endif
