/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs, each on a small thread of its own: one that hangs keeps no other waiting. */
#ifndef COLLECTOR_ADAPTERS_JOBS_H
#define COLLECTOR_ADAPTERS_JOBS_H

#include <stdbool.h>

typedef struct jobs jobs;

/* NULL where memory ran out. */
jobs *jobs_new(void);
/* Waits for the jobs that run. NULL is taken. */
void jobs_free(jobs *self);
/* Begins a job. False where no thread can be made: it does not run. */
bool jobs_submit(jobs *self, void (*job)(void *argument), void *argument);

#endif
