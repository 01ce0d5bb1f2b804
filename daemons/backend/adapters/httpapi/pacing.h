/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/httpapi/pacing.h: how long callers that are put off should stay away: as long as it
 * takes to serve those who are put off with them, at the pace of the last seconds. With a fixed
 * time many callers come, and are put off, several times as often as one is served. Any thread.
 */
#ifndef BACKEND_PACING_H
#define BACKEND_PACING_H

#include <pthread.h>
#include <stdint.h>

enum { PACING_LEAST_MS = 1000, PACING_MOST_MS = 15000 };

/* What happened in a second. */
typedef struct pacing_second {
    uint64_t admitted, refused;
} pacing_second;

typedef struct pacing {
    pthread_mutex_t lock;
    uint64_t second; /* the current one, since the epoch */
    pacing_second now, before;
} pacing;

#define PACING_INIT                                                                                \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* A caller is served, at a time in Unix ms. */
void pacing_admit(pacing *p, uint64_t now_ms);

/* A caller is put off: returns for how many ms. */
uint32_t pacing_refuse(pacing *p, uint64_t now_ms);

#endif
