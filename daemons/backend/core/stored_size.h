/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on the rows that one batch becomes in the store: a stack is stored once for each workload
 * that uses it. Both functions return 0, or -1 with the verdict filled. */
#ifndef BACKEND_STORED_SIZE_H
#define BACKEND_STORED_SIZE_H

#include "store.h"
#include <contract/verdict.h>

/* The block of a batch's stacks must stay below libchsink's 256 MiB. */
enum { STORED_FRAMES_MAX = 10000000, SERVICES_MAX = 500 };

/* uses: the stacks of the dictionary that are to be stored. */
int check_stored_frames(const stack_dictionary *d, const stack_use *uses, size_t count, verdict *v);

/* count: the distinct (namespace, workload) of a batch. The store is asked for each one's stacks.
 */
int check_services(size_t count, verdict *v);

#endif
