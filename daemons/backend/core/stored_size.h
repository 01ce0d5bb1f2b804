/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on the rows that a batch adds to the store, where a stack is stored once for each workload
 * that uses it. Both functions return 0, or -1 with the verdict filled. */
#ifndef BACKEND_STORED_SIZE_H
#define BACKEND_STORED_SIZE_H

#include "store.h"
#include <contract/verdict.h>

/* The block of a batch's stacks must stay below libchsink's limit of 256 MiB. */
enum { STORED_FRAMES_MAX = 10000000, SERVICES_MAX = 500 };

/* uses: the stacks of the dictionary to be stored. */
int check_stored_frames(const stack_dictionary *d, const stack_use *uses, size_t count, verdict *v);

/* count: the distinct (namespace, workload) of a batch. The store is queried for the stacks of
 * each. */
int check_services(size_t count, verdict *v);

#endif
