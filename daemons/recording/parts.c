/* SPDX-License-Identifier: Apache-2.0 */
/* The events of one chunk, added up by several threads: a part each. */
#include <pthread.h>

#include "internal.h"

/* A part smaller than this costs more to hand out than to read. */
#define LEAST_PART (UINT64_C(1) << 19)

typedef struct part {
    jfr_sums *sums;
    const jfr_chunk *chunk;
    uint32_t number;
    uint32_t count;
    pthread_t thread;
    bool started;
} part;

static void *read_part(void *context)
{
    part *p = context;
    /* jfr_sums_join returns what went wrong. */
    int rc = jfr_sums_part(p->sums, p->chunk, p->number, p->count, NULL);
    (void)rc;
    return NULL;
}

static uint32_t part_count(const recording *rec, const jfr_chunk *chunk)
{
    uint64_t most = jfr_chunk_get_info(chunk)->size / LEAST_PART;
    return most < 1 ? 1 : most < rec->sums_count ? (uint32_t)most : rec->sums_count;
}

void recording__fill_sums(recording *rec, jfr_chunk *chunk, recording_filled *filled)
{
    part all[RECORDING_MAX_THREADS];
    uint32_t parts = part_count(rec, chunk);
    for (uint32_t i = 0; i < parts; i++) {
        all[i] = (part){.sums = rec->sums[i], .chunk = chunk, .number = i, .count = parts};
        /* The last part is this thread's own; so are those that no thread can be had for. */
        all[i].started =
            i + 1 < parts && pthread_create(&all[i].thread, NULL, read_part, &all[i]) == 0;
    }
    for (uint32_t i = 0; i < parts; i++)
        if (!all[i].started)
            (void)read_part(&all[i]);
    for (uint32_t i = 0; i < parts; i++)
        if (all[i].started)
            (void)pthread_join(all[i].thread, NULL);
    *filled = (recording_filled){.sums = rec->sums, .parts = parts};
    filled->rc = jfr_sums_join(rec->sums, parts, chunk, NULL);
}
