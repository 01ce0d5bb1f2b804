/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of a chunk into an aggregate without frames. Threads work out the ids of its stacks,
 * block by block; blocks are added in order, most of them by the first thread. It sorts the chunk's
 * rows meanwhile: until it has, the others take all stacks for those of rows. The aggregate is the
 * same for any number of threads.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"

enum {
    BLOCK = 4 * RECORDING_STACKS, /* stacks */
    RING = 32,                    /* blocks that wait to be added, or are worked on */
    NAMED = 8192,                 /* methods that a reader knows by their names */
    MOST_FRAMES = 1 << 20         /* that a reader knows; all are forgotten then */
};

/* Stacks of the chunk whose ids are known. */
typedef struct block {
    uint32_t stacks[BLOCK];
    sagg_stack_id ids[BLOCK];
    bool damaged[BLOCK];
    uint32_t count;
    int rc;   /* not 0: of a stack that is not there */
    bool all; /* stacks that no row is of are among them */
    bool ready;
} block;

/* The hash of a method, once a reader knew it. */
typedef struct method_hash {
    uint64_t hash;
    atomic_uint_least8_t state; /* NOT_KNOWN, BEING_WRITTEN, or the reference's kind */
} method_hash;

#define NOT_KNOWN     UINT8_MAX /* what all_ones leaves */
#define BEING_WRITTEN (UINT8_MAX - 1)

/* A method by its names: the next chunk has the same ones, under other numbers. */
typedef struct named_method {
    uint64_t given; /* hash of its names as they were given */
    uint64_t hash;  /* and as they are normalised; NO_HASH = there is none here */
} named_method;

#define NO_HASH UINT64_MAX /* what all_ones leaves */

/* What the threads share. */
typedef struct crew {
    recording_cache *c;
    recording_rows *rows;
    method_hash *methods; /* the last is for frames whose method is unknown */
    block *ring;
    uint32_t count;        /* of blocks */
    pthread_mutex_t names; /* recording_cache.lock */
    pthread_mutex_t lock;
    pthread_cond_t moved;  /* `added`, or `rc` */
    uint32_t taken, added; /* blocks */
    bool sorted;           /* the rows are */
    bool adding;
    int rc; /* why the block behind those that were added was not; no other is then */
} crew;

struct recording_reader {
    crew *crew;
    recording_frames frames; /* numbers are indices of ids */
    uint64_t *ids;           /* of frames of this chunk and of those before it */
    size_t id_count, id_room;
    named_method *named; /* by `given`, in turns */
    bool is_first;       /* it sorts the rows */
};

/*
 * A table that is written before it is read. What calloc gives is read first here, which maps the
 * kernel's page of zeros; the first write then takes a second fault for each page, and stops the
 * other threads until they have forgotten the page of zeros.
 */
static void *all_ones(size_t count, size_t size)
{
    void *table = malloc(count * size);
    if (table != NULL)
        memset(table, 0xff, count * size);
    return table;
}

/* ---- ids ---- */

/* The hash of a method that has these names once they are normalised. Returns 0 or SAGG_ERR_NOMEM.
 */
static int hash_names(const recording_reader *r, const sagg_frame *given, uint64_t *hash)
{
    sagg_frame frame;
    char *names;
    uint64_t as_given;
    sagg_frame_hash(&as_given, NULL, given);
    named_method *known = &r->named[as_given % NAMED];
    if (known->hash == NO_HASH || known->given != as_given) {
        int rc =
            sagg_frame_normalise(&frame, &names, given, r->crew->c->rec->options.normaliser, NULL);
        if (rc != 0)
            return rc;
        known->given = as_given;
        sagg_frame_hash(&known->hash, NULL, &frame);
        free(names);
    }
    *hash = known->hash;
    return 0;
}

/* Returns 0, SAGG_ERR_LIMIT (the name is too large) or SAGG_ERR_NOMEM. */
static int learn_method(const recording_reader *r, const jfr_frame_ref *ref, method_hash *known,
                        uint64_t *hash)
{
    sagg_frame given;
    uint8_t none = NOT_KNOWN;
    int rc = recording__name_frame(r->crew->c, ref, &given);
    if (rc == 0)
        rc = hash_names(r, &given, hash);
    if (rc == 0 && atomic_compare_exchange_strong(&known->state, &none, BEING_WRITTEN)) {
        known->hash = *hash;
        atomic_store(&known->state, (uint8_t)ref->kind);
    }
    return rc;
}

static int put_id(recording_reader *r, uint64_t id, uint32_t *number)
{
    if (r->id_count == r->id_room) {
        size_t room = r->id_room != 0 ? r->id_room * 2 : 4096;
        uint64_t *ids = realloc(r->ids, room * sizeof(*ids));
        if (ids == NULL)
            return SAGG_ERR_NOMEM;
        r->ids = ids;
        r->id_room = room;
    }
    *number = (uint32_t)r->id_count;
    r->ids[r->id_count++] = id;
    return 0;
}

/* recording_learn */
static int learn_id(void *ctx, const jfr_frame_ref *ref, uint32_t *number)
{
    recording_reader *r = ctx;
    const crew *w = r->crew;
    uint32_t count = w->c->method_count;
    method_hash *known = &w->methods[ref->method < count ? ref->method : count];
    uint64_t hash = 0;
    int rc = 0;
    if (atomic_load(&known->state) == ref->kind)
        hash = known->hash;
    else
        rc = learn_method(r, ref, known, &hash);
    if (rc == 0)
        rc = put_id(r, sagg_frame_id(hash, recording__line(ref)), number);
    r->frames.learn_rc = rc;
    return rc;
}

/* A stack that the aggregate would have to cut is SAGG_ERR_LIMIT. */
static int read_stack(recording_reader *r, uint32_t stack, block *b)
{
    recording_cache *c = r->crew->c;
    jfr_stack_ref from = {0};
    bool damaged = false;
    int rc = 0;
    if (stack < c->stack_count)
        rc = recording__frames_read(&r->frames, stack, 0, &from, &damaged);
    if (rc == 0 && from.frame_count > recording__max_frames(c->rec))
        rc = SAGG_ERR_LIMIT;
    if (rc != 0)
        return rc;
    c->cut[stack] = from.truncated;
    b->damaged[b->count] = damaged;
    b->stacks[b->count] = stack;
    return sagg_stack_id_of_numbers(&b->ids[b->count++], r->ids, r->frames.numbers,
                                    from.frame_count, c->rec->options.normaliser, NULL);
}

static bool has_rows(const crew *w, uint32_t stack)
{
    return w->rows->begins[stack + 1] > w->rows->begins[stack];
}

/* The stacks of a block that rows are of, or all: then nobody knows yet which those are. */
static void read_block(recording_reader *r, uint32_t number, bool all, block *b)
{
    const crew *w = r->crew;
    uint32_t first = number * BLOCK;
    b->count = 0;
    b->rc = 0;
    b->all = all;
    if (r->id_count > MOST_FRAMES) {
        jfr_frame_memo_clear(r->frames.memo);
        r->id_count = 0;
    }
    for (uint32_t i = first; b->rc == 0 && i <= w->c->stack_count && i - first < BLOCK; i++) {
        if (all || has_rows(w, i))
            b->rc = read_stack(r, i, b);
    }
}

static void drop_unused(const crew *w, block *b)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        if (!has_rows(w, b->stacks[i]))
            continue;
        b->stacks[kept] = b->stacks[i];
        b->ids[kept] = b->ids[i];
        b->damaged[kept++] = b->damaged[i];
    }
    b->count = kept;
    b->all = false;
}

/* Leaves the stacks that rows are of: what was wrong with another does not matter. */
static void settle_block(recording_reader *r, uint32_t number, block *b)
{
    if (b->all && b->rc != 0)
        read_block(r, number, false, b);
    else if (b->all)
        drop_unused(r->crew, b);
}

/* ---- adding ---- */

/* Whether no cap is near. */
static bool has_room(const recording_cache *c, const block *b)
{
    uint64_t stacks = (uint64_t)sagg_stack_count(c->agg) + b->count;
    return !sagg_full(c->agg) && stacks < recording__max_stacks(c->rec) &&
           sagg_bytes(c->agg) < recording__max_bytes(c->rec) / 2;
}

/* Returns 0, SAGG_ERR_LIMIT (nothing of it is added) or SAGG_ERR_NOMEM. */
static int add_block(const crew *w, uint32_t number, const block *b)
{
    recording_cache *c = w->c;
    uint32_t numbers[BLOCK];
    if (b->rc != 0)
        return b->rc;
    if (!has_room(c, b))
        return SAGG_ERR_LIMIT;
    int rc = sagg_add_ids(c->agg, numbers, b->ids, b->count, NULL);
    for (uint32_t i = 0; rc == 0 && i < b->count; i++) {
        c->stacks[b->stacks[i]] = numbers[i] != SAGG_DROPPED ? numbers[i] + 1 : 0;
        c->bad_stacks += b->damaged[i];
    }
    uint32_t first = number * BLOCK;
    uint32_t left = c->stack_count + 1 - first;
    return rc == 0 ? recording__add_rows(c, w->rows, first, first + (left < BLOCK ? left : BLOCK))
                   : rc;
}

/* Where the caps are at work, what is left is added one row after the other. */
static int add_rest(const crew *w)
{
    if (w->rc != SAGG_ERR_LIMIT)
        return w->rc;
    return recording__add_range(w->c, w->rows, w->added * BLOCK, w->c->stack_count + 1);
}

/* ---- the crew ---- */

/* `most`: blocks that the ring has, where there are as many. Returns false without memory; free it
 * in any case. */
static bool crew_init(crew *w, recording_cache *c, recording_rows *rows, uint32_t most)
{
    *w = (crew){.c = c, .rows = rows, .count = c->stack_count / BLOCK + 1};
    uint32_t ring = w->count < most ? w->count : most;
    w->methods = all_ones((size_t)c->method_count + 1, sizeof(*w->methods));
    w->ring = malloc(ring * sizeof(*w->ring));
    for (uint32_t i = 0; i < ring && w->ring != NULL; i++)
        w->ring[i].ready = false;
    return w->methods != NULL && w->ring != NULL;
}

static void crew_free(crew *w)
{
    free(w->methods);
    free(w->ring);
}

/* The next block that nobody has, and whether all of its stacks are to be read; false = there is
 * none. */
static bool take(crew *w, uint32_t *number, bool *all)
{
    (void)pthread_mutex_lock(&w->lock);
    while (w->rc == 0 && w->taken < w->count && w->taken - w->added == RING)
        (void)pthread_cond_wait(&w->moved, &w->lock);
    bool some = w->rc == 0 && w->taken < w->count;
    *number = some ? w->taken++ : 0;
    *all = !w->sorted;
    (void)pthread_mutex_unlock(&w->lock);
    return some;
}

/* Adds blocks as long as the next one is there, unless another thread does; with the lock held. */
static void add_ready(recording_reader *r)
{
    crew *w = r->crew;
    while (w->sorted && !w->adding && w->rc == 0 && w->added < w->count &&
           w->ring[w->added % RING].ready) {
        block *next = &w->ring[w->added % RING];
        w->adding = true;
        (void)pthread_mutex_unlock(&w->lock);
        settle_block(r, w->added, next);
        int rc = add_block(w, w->added, next);
        (void)pthread_mutex_lock(&w->lock);
        w->adding = false;
        next->ready = false;
        w->rc = rc;
        w->added += rc == 0;
        (void)pthread_cond_broadcast(&w->moved);
    }
}

/* What is added to stays in the caches of the first thread, unless it falls behind, or nothing else
 * is left to do. */
static void hand_in(recording_reader *r, block *done)
{
    crew *w = r->crew;
    (void)pthread_mutex_lock(&w->lock);
    done->ready = true;
    if (r->is_first || w->taken - w->added >= RING / 2 || w->taken == w->count)
        add_ready(r);
    (void)pthread_mutex_unlock(&w->lock);
}

/* What others have read meanwhile is added. */
static void sort_rows(recording_reader *r)
{
    crew *w = r->crew;
    const bool sorted = recording__rows_sort(w->rows, w->c);
    if (sorted)
        recording__expect(w->c, w->rows);
    (void)pthread_mutex_lock(&w->lock);
    w->sorted = sorted;
    w->rc = sorted ? 0 : SAGG_ERR_NOMEM;
    (void)pthread_cond_broadcast(&w->moved);
    add_ready(r);
    (void)pthread_mutex_unlock(&w->lock);
}

/* With the chunk of r->crew. */
static void reader_begin(recording_reader *r)
{
    if (!recording__frames_begin(&r->frames, r->crew->c->chunk))
        r->id_count = 0;
}

static void *work(void *context)
{
    recording_reader *r = *(recording_reader *const *)context;
    uint32_t number;
    bool all;
    reader_begin(r);
    if (r->is_first)
        sort_rows(r);
    while (take(r->crew, &number, &all)) {
        block *b = &r->crew->ring[number % RING];
        read_block(r, number, all, b);
        hand_in(r, b);
    }
    return NULL;
}

recording_reader *recording__reader_new(const recording *rec)
{
    recording_reader *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return NULL;
    r->named = all_ones(NAMED, sizeof(*r->named));
    if (recording__frames_init(&r->frames, rec, NULL, learn_id, r) && r->named != NULL)
        return r;
    recording__reader_free(r);
    return NULL;
}

void recording__reader_free(recording_reader *r)
{
    if (r == NULL)
        return;
    recording__frames_free(&r->frames);
    free(r->ids);
    free(r->named);
    free(r);
}

/* The readers of who has the rows: where sums stand, readers do. */
static void readers_of(const crew *w, recording_reader **out, uint32_t count)
{
    const recording *rec = w->c->rec;
    memcpy(out, rec->readers + (w->rows->filled->sums - rec->sums), count * sizeof(*out));
}

static void run(crew *w, uint32_t count)
{
    recording_reader *readers[RECORDING_MAX_THREADS];
    readers_of(w, readers, count);
    w->c->lock = count > 1 ? &w->names : NULL;
    for (uint32_t i = 0; i < count; i++) {
        readers[i]->crew = w;
        readers[i]->is_first = i == 0;
    }
    recording__at_once(work, readers, sizeof(readers[0]), count);
    w->c->lock = NULL;
}

int recording__add_by_ids(recording_cache *c, const recording_filled *filled, uint32_t threads)
{
    crew w;
    recording_rows rows = {.filled = filled};
    int rc = SAGG_ERR_NOMEM;
    if (crew_init(&w, c, &rows, RING)) {
        (void)pthread_mutex_init(&w.names, NULL);
        (void)pthread_mutex_init(&w.lock, NULL);
        (void)pthread_cond_init(&w.moved, NULL);
        run(&w, threads);
        rc = add_rest(&w);
        (void)pthread_cond_destroy(&w.moved);
        (void)pthread_mutex_destroy(&w.lock);
        (void)pthread_mutex_destroy(&w.names);
    }
    crew_free(&w);
    recording__rows_free(&rows);
    return rc;
}

/* ---- ahead: by one thread, for another ---- */

struct recording_ahead {
    recording_cache c;
    recording_rows rows;
    crew ids; /* whose ring has room for all blocks */
};

static bool read_all(recording_ahead *a)
{
    crew *w = &a->ids;
    if (!crew_init(w, &a->c, &a->rows, UINT32_MAX))
        return false;
    recording_reader *r;
    readers_of(w, &r, 1);
    r->crew = w;
    reader_begin(r);
    for (uint32_t i = 0; i < w->count && (i == 0 || w->ring[i - 1].rc == 0); i++)
        read_block(r, i, false, &w->ring[i]);
    return true;
}

recording_ahead *recording__read_ahead(const recording *rec, jfr_chunk *chunk,
                                       const recording_filled *filled)
{
    recording_ahead *a = rec->options.no_frames ? calloc(1, sizeof(*a)) : NULL;
    if (a == NULL)
        return NULL;
    a->rows.filled = filled;
    bool done = recording__cache_init(&a->c, rec, rec->agg, chunk) &&
                recording__rows_sort(&a->rows, &a->c) && read_all(a);
    if (!done) {
        recording__ahead_free(a);
        return NULL;
    }
    return a;
}

int recording__add_ahead(recording_ahead *ahead)
{
    crew *w = &ahead->ids;
    recording__expect(&ahead->c, &ahead->rows);
    while (w->added < w->count && (w->rc = add_block(w, w->added, &w->ring[w->added])) == 0)
        w->added++;
    return add_rest(w);
}

const recording_cache *recording__ahead_cache(const recording_ahead *ahead)
{
    return &ahead->c;
}

void recording__ahead_free(recording_ahead *ahead)
{
    if (ahead == NULL)
        return;
    recording__cache_free(&ahead->c);
    recording__rows_free(&ahead->rows);
    crew_free(&ahead->ids);
    free(ahead);
}
