/* SPDX-License-Identifier: Apache-2.0 */
/* The data that a lease keeps from one snapshot to the next. */
#ifndef HOTSTACK_THREADS_HISTORY_H
#define HOTSTACK_THREADS_HISTORY_H

#include <stddef.h>
#include <stdint.h>

typedef struct history {
    int64_t *tids; /* sorted */
    int64_t *cpu_ns;
    size_t n;
    uint64_t at_ns; /* 0 = no snapshot yet */
    int64_t cursor; /* for select_threads */
} history;

void history_free(history *h);

#endif
