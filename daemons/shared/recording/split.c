/* SPDX-License-Identifier: Apache-2.0 */
/* Many chunks by several threads. Each takes what can be done next: it adds a chunk to the
 * aggregate, in the order of the chunks and one at a time, or it reads one for that. */
#include <pthread.h>
#include <stdlib.h>

#include "cache.h"

/* How far a chunk is. It is settled, and added, when all before it are. */
typedef enum slot_state {
    SLOT_FREE,
    SLOT_OPEN,    /* or it cannot be opened: see slot.opened */
    SLOT_SETTLED, /* its settings are known */
    SLOT_FILLED,  /* and its sums */
    SLOT_BUSY     /* with a thread */
} slot_state;

/* A chunk that is being read. */
typedef struct slot {
    slot_state state;
    jfr_file *reader;
    jfr_sums **sums; /* of the recording */
    jfr_chunk *chunk;
    int opened; /* as jfr_next_chunk returns */
    recording_filled filled;
    jfr_error cause;
} slot;

/* What the threads share. */
typedef struct reading {
    recording *rec;
    jfr_file *file;
    jfr_place *places;
    size_t count;
    slot slots[RECORDING_MAX_SUMS]; /* chunk i is in slot i % slot_count */
    size_t slot_count;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* there may be something to do */
    size_t taken;         /* chunks that a thread has begun with */
    size_t settled;
    size_t added;
    int rc; /* of the first chunk that failed; later ones are not added */
    recording_error error;
} reading;

/* ---- steps: each is called with the lock, and leaves it while it works ---- */

static void begin(reading *crew, slot *s)
{
    s->state = SLOT_BUSY;
    (void)pthread_mutex_unlock(&crew->lock);
}

static void end(reading *crew, slot *s, slot_state state)
{
    (void)pthread_mutex_lock(&crew->lock);
    s->state = state;
}

static slot *slot_of(reading *crew, size_t number)
{
    return &crew->slots[number % crew->slot_count];
}

/* Settles what is open, as far as all chunks before it are settled. */
static void settle(reading *crew)
{
    for (slot *s; (s = slot_of(crew, crew->settled))->state == SLOT_OPEN; crew->settled++) {
        int rc = s->opened == 1 ? jfr_split_settle(crew->file, s->chunk, &s->cause) : 0;
        s->opened = rc < 0 ? rc : s->opened;
        s->state = s->opened == 1 ? SLOT_SETTLED : SLOT_FILLED;
    }
    (void)pthread_cond_broadcast(&crew->moved);
}

static void open_chunk(reading *crew, slot *s)
{
    const jfr_place *place = &crew->places[crew->taken++];
    begin(crew, s);
    s->opened = jfr_split_go(s->reader, place, &s->cause);
    if (s->opened == 0)
        s->opened = jfr_next_chunk(s->reader, &s->chunk, &s->cause);
    end(crew, s, SLOT_OPEN);
    settle(crew);
}

static void fill(reading *crew, slot *s)
{
    begin(crew, s);
    s->filled = (recording_filled){s->sums, 1, jfr_sums_fill(*s->sums, s->chunk, NULL)};
    end(crew, s, SLOT_FILLED);
}

static int add_slot(recording *rec, slot *s, recording_error *err)
{
    jfr_error ignored;
    int rc = s->opened < 0 ? recording__from_jfr(err, &s->cause) : 0;
    if (s->opened == 1) {
        rc = recording__add_chunk(rec, s->chunk, &s->filled, err);
        (void)(jfr_next_chunk(s->reader, &s->chunk, &ignored) == 0); /* counts its losses */
    }
    recording__take_loss(rec, s->reader);
    return rc;
}

static void add(reading *crew, slot *s)
{
    recording_error error;
    begin(crew, s);
    int rc = add_slot(crew->rec, s, &error);
    end(crew, s, SLOT_FREE);
    crew->added++;
    crew->rc = rc;
    if (rc != 0)
        crew->error = error;
    (void)pthread_cond_broadcast(&crew->moved);
}

/* ---- the crew ---- */

static slot *find(reading *crew, slot_state state)
{
    for (size_t i = crew->added; i < crew->taken; i++)
        if (slot_of(crew, i)->state == state)
            return slot_of(crew, i);
    return NULL;
}

/* Adding comes first: it is what all chunks must go through one by one. */
static bool take_step(reading *crew)
{
    slot *s = slot_of(crew, crew->added);
    if (s->state == SLOT_FILLED) {
        add(crew, s);
        return true;
    }
    s = find(crew, SLOT_SETTLED);
    if (s != NULL) {
        fill(crew, s);
        return true;
    }
    s = slot_of(crew, crew->taken);
    if (crew->taken < crew->count && s->state == SLOT_FREE) {
        open_chunk(crew, s);
        return true;
    }
    return false;
}

static void *work(void *context)
{
    reading *crew = context;
    (void)pthread_mutex_lock(&crew->lock);
    while (crew->rc == 0 && crew->added < crew->count)
        if (!take_step(crew))
            (void)pthread_cond_wait(&crew->moved, &crew->lock);
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* As many as there is memory for. Returns as jfr_split_reader. */
static int open_slots(reading *crew, size_t count, jfr_error *cause)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        crew->slots[i].sums = &crew->rec->sums[i];
        rc = jfr_split_reader(&crew->slots[i].reader, crew->file, cause);
        crew->slot_count += rc == 0;
    }
    return crew->slot_count > 0 ? 0 : rc;
}

static void close_slots(reading *crew)
{
    for (size_t i = 0; i < crew->slot_count; i++)
        jfr_close(crew->slots[i].reader);
}

static int read_all(reading *crew, size_t slots, recording_error *err)
{
    jfr_error cause;
    if (open_slots(crew, slots, &cause) < 0)
        return recording__from_jfr(err, &cause);
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->moved, NULL);
    recording__at_once(work, crew, 0, crew->rec->sums_count);
    (void)pthread_cond_destroy(&crew->moved);
    (void)pthread_mutex_destroy(&crew->lock);
    close_slots(crew);
    if (crew->rc != 0 && err != NULL)
        *err = crew->error;
    return crew->rc;
}

static uint64_t largest(const reading *crew)
{
    uint64_t size = 0;
    for (size_t i = 0; i < crew->count; i++)
        size = crew->places[i].size > size ? crew->places[i].size : size;
    return size;
}

/* Whether a chunk a thread keeps all threads busy, most of the time: none is larger than half of a
 * thread's share. */
static bool is_worth_it(const reading *crew, uint32_t threads)
{
    uint64_t total = 0;
    for (size_t i = 0; i < crew->count; i++)
        total += crew->places[i].size;
    return largest(crew) <= total / threads / 2;
}

/* One slot more than there are threads, so that a reader never waits for the adder. Only for chunks
 * that take little memory. */
#define SMALL (UINT64_C(16) << 20)

bool recording__split(recording *rec, jfr_file *file, int *rc, recording_error *err)
{
    const recording_tap *tap = &rec->options.tap;
    bool tapped = tap->keep != NULL || tap->added != NULL || tap->progress != NULL;
    if (rec->sums_count < 2 || tapped || rec->options.seconds != 0 || rec->options.max_samples != 0)
        return false;
    size_t count = jfr_split_places(file, NULL, 0);
    if (count < 2)
        return false;
    reading crew = {.rec = rec, .file = file, .count = count};
    crew.places = calloc(count, sizeof(*crew.places));
    if (crew.places == NULL)
        return false;
    (void)jfr_split_places(file, crew.places, count);
    bool split = is_worth_it(&crew, rec->sums_count);
    if (split)
        *rc = read_all(&crew, rec->sums_count + (largest(&crew) <= SMALL), err);
    free(crew.places);
    return split;
}
