/* SPDX-License-Identifier: Apache-2.0 */
/* The events of one chunk, added up by several threads, which take a part after the other. */
#include <stdatomic.h>

#include "internal.h"

#define PART_BYTES (UINT64_C(1) << 21)

/* A chunk whose threads would have less than this each costs more to share out than to read. */
#define LEAST_SHARE (UINT64_C(1) << 19)

/*
 * What the threads share. Events that are near each other are of the same stacks: each thread has
 * parts of its own, one behind the other. The last ones are for who is done first.
 */
typedef struct parts {
    const jfr_chunk *chunk;
    uint32_t count;
    atomic_uint_least32_t next; /* of those that are nobody's */
} parts;

enum { ANYBODYS = 12 }; /* one part of so many is nobody's */

typedef struct reader {
    jfr_sums *sums;
    parts *parts;
    uint32_t next, end; /* of its own parts */
} reader;

/* jfr_next_part */
static uint32_t next_part(void *ctx)
{
    reader *r = ctx;
    return r->next < r->end ? r->next++ : atomic_fetch_add(&r->parts->next, 1);
}

static void *read_parts(void *context)
{
    reader *r = context;
    /* jfr_sums_join returns what went wrong. */
    int rc = jfr_sums_parts(r->sums, r->parts->chunk, r->parts->count, next_part, r, NULL);
    (void)rc;
    return NULL;
}

static uint32_t reader_count(const recording *rec, const jfr_chunk *chunk)
{
    uint64_t most = jfr_chunk_get_info(chunk)->size / LEAST_SHARE;
    return most < 1 ? 1 : most < rec->sums_count ? (uint32_t)most : rec->sums_count;
}

/* One thread reads all at once. */
static uint32_t part_count(const jfr_chunk *chunk, uint32_t readers)
{
    uint64_t count = jfr_chunk_get_info(chunk)->size / PART_BYTES;
    return readers == 1 ? 1 : count < readers ? readers : (uint32_t)count;
}

void recording__fill_sums(recording *rec, jfr_chunk *chunk, recording_filled *filled)
{
    reader all[RECORDING_MAX_THREADS];
    uint32_t readers = reader_count(rec, chunk);
    parts shared = {.chunk = chunk, .count = part_count(chunk, readers)};
    uint32_t own = (shared.count - shared.count / ANYBODYS) / readers;
    shared.next = own * readers;
    for (uint32_t i = 0; i < readers; i++)
        all[i] = (reader){rec->sums[i], &shared, .next = own * i, .end = own * (i + 1)};
    recording__at_once(read_parts, all, sizeof(all[0]), readers);
    *filled = (recording_filled){.sums = rec->sums, .count = readers};
    filled->rc = jfr_sums_join(rec->sums, readers, chunk, NULL);
}
