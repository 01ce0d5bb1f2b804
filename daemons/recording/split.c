/* SPDX-License-Identifier: Apache-2.0 */
/* Many chunks by several threads: each reads a chunk at a time, and they add theirs to the
 * aggregate in the order of the chunks. */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

/* What the threads share. */
typedef struct reading {
    recording *rec;
    jfr_file *file;
    jfr_place *places;
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t passed; /* one of the counters below has moved */
    size_t taken;          /* chunks that a thread has begun with */
    size_t settled;        /* those whose settings are known */
    size_t added;          /* those that are in the aggregate */
    int rc;                /* of the first chunk that failed; later ones are not added */
    recording_error error;
} reading;

typedef struct worker {
    reading *crew;
    jfr_file *reader;
    jfr_sums *sums;
    pthread_t thread;
} worker;

/* ---- turns ---- */

/* The next chunk that nobody has; crew->count = there is none to be read. */
static size_t take(reading *crew)
{
    (void)pthread_mutex_lock(&crew->lock);
    size_t number = crew->rc == 0 && crew->taken < crew->count ? crew->taken++ : crew->count;
    (void)pthread_mutex_unlock(&crew->lock);
    return number;
}

/* Waits until all chunks before `number` have passed. Chunks are taken in order, and who has one
 * waits for earlier ones only. */
static void await_turn(reading *crew, const size_t *counter, size_t number)
{
    (void)pthread_mutex_lock(&crew->lock);
    while (*counter != number)
        (void)pthread_cond_wait(&crew->passed, &crew->lock);
    (void)pthread_mutex_unlock(&crew->lock);
}

static void pass_turn(reading *crew, size_t *counter)
{
    (void)pthread_mutex_lock(&crew->lock);
    (*counter)++;
    (void)pthread_cond_broadcast(&crew->passed);
    (void)pthread_mutex_unlock(&crew->lock);
}

/* Only who has the turn asks and answers. */
static void fail(reading *crew, int rc, const recording_error *error)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->rc = rc;
    crew->error = *error;
    (void)pthread_mutex_unlock(&crew->lock);
}

/* ---- chunks ---- */

/* Returns as jfr_next_chunk. */
static int open_chunk(const worker *w, size_t number, jfr_chunk **chunk, jfr_error *cause)
{
    int rc = jfr_split_go(w->reader, &w->crew->places[number], cause);
    return rc == 0 ? jfr_next_chunk(w->reader, chunk, cause) : rc;
}

/* `opened`: what open_chunk returned. */
static void add(const worker *w, int opened, jfr_chunk *chunk, int filled, const jfr_error *cause)
{
    reading *crew = w->crew;
    recording_error error;
    jfr_error ignored;
    int rc = 0;
    if (crew->rc != 0)
        return;
    if (opened < 0)
        rc = recording__from_jfr(&error, cause);
    if (opened == 1) {
        recording_filled sums = {&w->sums, 1, filled};
        rc = recording__add_chunk(crew->rec, chunk, &sums, &error);
        (void)(jfr_next_chunk(w->reader, &chunk, &ignored) == 0); /* counts its losses */
    }
    recording__take_loss(crew->rec, w->reader);
    if (rc != 0)
        fail(crew, rc, &error);
}

static void read_chunk(const worker *w, size_t number)
{
    reading *crew = w->crew;
    jfr_chunk *chunk = NULL;
    jfr_error cause;
    int opened = open_chunk(w, number, &chunk, &cause);
    await_turn(crew, &crew->settled, number);
    if (opened == 1) {
        int rc = jfr_split_settle(crew->file, chunk, &cause);
        opened = rc < 0 ? rc : 1;
    }
    pass_turn(crew, &crew->settled);
    int filled = opened == 1 ? jfr_sums_fill(w->sums, chunk, NULL) : 0;
    await_turn(crew, &crew->added, number);
    add(w, opened, chunk, filled, &cause);
    pass_turn(crew, &crew->added);
}

static void *work(void *context)
{
    const worker *w = context;
    for (;;) {
        size_t number = take(w->crew);
        if (number == w->crew->count)
            return NULL;
        read_chunk(w, number);
    }
}

/* ---- the crew ---- */

/* The calling thread is one of them. */
static void run(worker *workers, uint32_t count)
{
    uint32_t started = 1;
    while (started < count &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    (void)work(&workers[0]);
    for (uint32_t i = 1; i < started; i++)
        (void)pthread_join(workers[i].thread, NULL);
}

static int read_all(reading *crew, uint32_t threads, recording_error *err)
{
    worker workers[RECORDING_MAX_THREADS];
    uint32_t count = 0;
    jfr_error cause;
    for (; count < threads; count++) {
        workers[count] = (worker){.crew = crew, .sums = crew->rec->sums[count]};
        if (jfr_split_reader(&workers[count].reader, crew->file, &cause) < 0)
            break;
    }
    if (count == 0)
        return recording__from_jfr(err, &cause);
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->passed, NULL);
    run(workers, count);
    (void)pthread_cond_destroy(&crew->passed);
    (void)pthread_mutex_destroy(&crew->lock);
    for (uint32_t i = 0; i < count; i++)
        jfr_close(workers[i].reader);
    if (crew->rc != 0 && err != NULL)
        *err = crew->error;
    return crew->rc;
}

/* Whether a chunk a thread keeps all threads busy: none is larger than a thread's share. */
static bool is_worth_it(const jfr_place *places, size_t count, uint32_t threads)
{
    uint64_t total = 0;
    uint64_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        total += places[i].size;
        largest = places[i].size > largest ? places[i].size : largest;
    }
    return count >= threads && largest <= total / threads;
}

bool recording__split(recording *rec, jfr_file *file, int *rc, recording_error *err)
{
    const recording_tap *tap = &rec->options.tap;
    bool tapped = tap->keep != NULL || tap->added != NULL || tap->progress != NULL;
    if (rec->sums_count < 2 || tapped || rec->options.seconds != 0)
        return false;
    size_t count = jfr_split_places(file, NULL, 0);
    reading crew = {.rec = rec, .file = file, .count = count};
    crew.places = count > 1 ? calloc(count, sizeof(*crew.places)) : NULL;
    if (crew.places == NULL)
        return false;
    (void)jfr_split_places(file, crew.places, count);
    bool split = is_worth_it(crew.places, count, rec->sums_count);
    if (split)
        *rc = read_all(&crew, rec->sums_count, err);
    free(crew.places);
    return split;
}
