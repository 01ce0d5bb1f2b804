/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/ingest_plan.h: finds the services of a batch, the stacks that each of them uses, and which
 * of these stacks the batch contains.
 */
#ifndef BACKEND_INGEST_PLAN_H
#define BACKEND_INGEST_PLAN_H

#include "store.h"

typedef struct ingest_plan {
    service_key *services;
    size_t service_count;
    uint32_t *service_of_target;
    stack_use *brought; /* stack: index into the dictionary; sorted by first use */
    size_t brought_count;
    stack_use *missing; /* stack: index into the body's stack_ids; not in the dictionary */
    size_t missing_count;
} ingest_plan;

/* Returns 0, or -1 when there is no memory. Free with ingest_plan_free in both cases. */
int ingest_plan_make(ingest_plan *plan, const profile_batch *batch);
void ingest_plan_free(ingest_plan *plan);

#endif
