/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/httpapi/pacing.h: computes when refused callers should try again: after the time that it
 * takes to serve all callers refused so far, at the rate of the last seconds. With a fixed time,
 * many callers would come and be refused several times for each one that is served. Any thread.
 */
#ifndef BACKEND_PACING_H
#define BACKEND_PACING_H

#include <pthread.h>
#include <stdint.h>

enum { PACING_LEAST_MS = 1000, PACING_MOST_MS = 15000 };

/* The calls of one second. */
typedef struct pacing_second {
    uint64_t admitted, refused;
} pacing_second;

typedef struct pacing {
    pthread_mutex_t lock;
    uint64_t second; /* number of the current second since 1970 */
    pacing_second now, before;
} pacing;

#define PACING_INIT                                                                                \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Counts a caller that is served, at a time in Unix ms. */
void pacing_admit(pacing *p, uint64_t now_ms);

/* Counts a caller that is refused; returns for how many ms. */
uint32_t pacing_refuse(pacing *p, uint64_t now_ms);

#endif
