/* SPDX-License-Identifier: Apache-2.0 */
/* Runs each job on a small thread of its own, so that a job that hangs delays no other. */
#ifndef COLLECTOR_ADAPTERS_JOBS_H
#define COLLECTOR_ADAPTERS_JOBS_H

#include <stdbool.h>

typedef struct jobs jobs;

/* Returns NULL without memory. */
jobs *jobs_new(void);
/* Waits for the jobs that run, and frees. NULL is allowed. */
void jobs_free(jobs *self);
/* Starts a job. Returns false when no thread can be started; the job then does not run. */
bool jobs_submit(jobs *self, void (*job)(void *argument), void *argument);

#endif
