/* SPDX-License-Identifier: Apache-2.0 */
/* The events of one chunk, added up by several threads, which take a part after the other. */
#include <pthread.h>
#include <stdatomic.h>

#include "internal.h"

#define PART_BYTES (UINT64_C(1) << 21)

/* A chunk whose threads would have less than this each costs more to share out than to read. */
#define LEAST_SHARE (UINT64_C(1) << 19)

/*
 * What the threads share. Events that are near each other are of the same stacks: each thread has
 * parts of its own, one behind the other, but for the first, which may have begun with something
 * else. That one takes of the last parts, as do those that are done with their own.
 */
typedef struct parts {
    uint32_t count;
    atomic_uint_least32_t next; /* of those that are nobody's */
    atomic_bool off;            /* there is no chunk to read */
} parts;

/* A chunk that one thread opens while the others read its events. */
typedef struct opening {
    jfr_file *file;
    const jfr_chunk *peeked;
    jfr_chunk *chunk;
    jfr_error *cause;
    int rc;    /* of jfr_next_chunk */
    bool same; /* it is the one that was peeked */
    bool done;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* `done` */
} opening;

typedef struct reader {
    jfr_sums *sums;
    const jfr_chunk *chunk;
    parts *parts;
    opening *opening;   /* NULL = the chunk is open */
    uint32_t next, end; /* of its own parts */
    bool is_first;
} reader;

/* jfr_next_part */
static uint32_t next_part(void *ctx)
{
    reader *r = ctx;
    if (atomic_load(&r->parts->off))
        return r->parts->count;
    return r->next < r->end ? r->next++ : atomic_fetch_add(&r->parts->next, 1);
}

static void *read_parts(void *context)
{
    reader *r = context;
    /* jfr_sums_join returns what went wrong. */
    int rc = jfr_sums_parts(r->sums, r->chunk, r->parts->count, next_part, r, NULL);
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

/* Lets threads do `work`, each as a reader of `chunk`. Returns how many. */
static uint32_t share_out(recording *rec, const jfr_chunk *chunk, recording_work *work, opening *o)
{
    reader all[RECORDING_MAX_THREADS];
    uint32_t readers = reader_count(rec, chunk);
    parts shared = {.count = part_count(chunk, readers)};
    uint32_t own = shared.count / readers;
    shared.next = own * (readers - 1);
    all[0] = (reader){rec->sums[0], chunk, &shared, o, .is_first = true};
    for (uint32_t i = 1; i < readers; i++)
        all[i] = (reader){rec->sums[i], chunk, &shared, o, .next = own * (i - 1), .end = own * i};
    recording__at_once(work, all, sizeof(all[0]), readers);
    return readers;
}

void recording__fill_sums(recording *rec, jfr_chunk *chunk, recording_filled *filled)
{
    uint32_t readers = share_out(rec, chunk, read_parts, NULL);
    *filled = (recording_filled){.sums = rec->sums, .count = readers};
    filled->rc = jfr_sums_join(rec->sums, readers, chunk, NULL);
}

/* ---- a chunk that is being opened ---- */

static void open_chunk(opening *o)
{
    jfr_chunk *chunk = NULL;
    int rc = jfr_next_chunk(o->file, &chunk, o->cause);
    (void)pthread_mutex_lock(&o->lock);
    o->rc = rc;
    o->chunk = chunk;
    o->same = rc == 1 && jfr_chunk_get_info(chunk)->offset == jfr_chunk_get_info(o->peeked)->offset;
    o->done = true;
    (void)pthread_cond_broadcast(&o->moved);
    (void)pthread_mutex_unlock(&o->lock);
}

/* Returns false when another chunk was opened, or none. */
static bool wait_until_open(opening *o)
{
    (void)pthread_mutex_lock(&o->lock);
    while (!o->done)
        (void)pthread_cond_wait(&o->moved, &o->lock);
    (void)pthread_mutex_unlock(&o->lock);
    return o->same;
}

/* recording__at_once does the first's work before any other that no thread can be had for: those
 * that wait for an open chunk do not wait for ever. */
static void *open_or_read(void *context)
{
    reader *r = context;
    opening *o = r->opening;
    if (r->is_first) {
        open_chunk(o);
        atomic_store(&r->parts->off, !o->same);
        r->chunk = o->chunk;
    }
    if (!r->is_first || o->same)
        (void)read_parts(r);
    if (!r->is_first && wait_until_open(o)) {
        int rc = jfr_sums_settle(r->sums, o->chunk, NULL);
        (void)rc; /* jfr_sums_join returns it */
    }
    return NULL;
}

int recording__next_chunk(recording *rec, jfr_file *file, jfr_file *second, jfr_chunk **chunk,
                          recording_filled *filled, jfr_error *cause)
{
    jfr_chunk *peeked;
    *filled = (recording_filled){.count = 0};
    if (second == NULL || jfr_split_peek(second, &peeked, NULL) != 1 ||
        !recording__can_sum(rec, peeked) || reader_count(rec, peeked) < 2)
        return jfr_next_chunk(file, chunk, cause);
    opening o = {.file = file, .peeked = peeked, .cause = cause};
    (void)pthread_mutex_init(&o.lock, NULL);
    (void)pthread_cond_init(&o.moved, NULL);
    uint32_t readers = share_out(rec, peeked, open_or_read, &o);
    (void)pthread_cond_destroy(&o.moved);
    (void)pthread_mutex_destroy(&o.lock);
    *chunk = o.chunk;
    if (o.same)
        *filled = (recording_filled){.sums = rec->sums,
                                     .count = readers,
                                     .rc = jfr_sums_join(rec->sums, readers, o.chunk, NULL)};
    return o.rc;
}
