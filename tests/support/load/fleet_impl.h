/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files building a fleet's batch share. */
#ifndef LOAD_FLEET_IMPL_H
#define LOAD_FLEET_IMPL_H

#include "fleet.h"

/* A batch under construction. */
typedef struct making {
    const fleet *f;
    batch_name name;
    batch *to;
    uint32_t *stacks; /* the batch's index of each stack of the recording, plus 1; 0 = not there */
    uint64_t dice;
} making;

/* Returns the next number of a batch's own sequence. */
uint64_t making_roll(making *m);

/* Add a text or a stack unless it is there, and get its index. Return 0 or -1 (no memory). */
int making_text(making *m, const char *text, uint32_t *index);
int making_stack(making *m, uint32_t recorded, uint32_t *index);

/* Add the windows of a JVM, and its thread snapshot. Return 0 or -1. */
int making_windows(making *m, uint32_t jvm);
int making_snapshot(making *m, uint32_t jvm);

#endif
