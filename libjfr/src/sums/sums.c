/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of a recording, chunk by chunk. Several small chunks are read at the same time, or a
 * large chunk in parts.
 */
#include "error_impl.h"
#include "options_impl.h"
#include "read/split_impl.h"
#include "sums/sum_impl.h"

#include <stdatomic.h>
#include <string.h>

enum {
    FLAGS = JFR_SUMS_CLASSES | JFR_SUMS_NO_THREADS | JFR_SUMS_NO_ALLOC_OBJECTS,
    MAX_SECONDS = 86400
};

/* Larger chunks are not read at the same time as others, but in parts. */
#define SMALL_CHUNK (UINT64_C(16) << 20)
#define PART_BYTES  (UINT64_C(1) << 21)
/* Another thread for fewer bytes of a chunk costs more than it saves. */
#define LEAST_SHARE (UINT64_C(1) << 19)

/* A chunk that is read at the same time as others. */
typedef struct place {
    jfr__place where;
    jfr_file *reader;  /* NULL until the place is first used */
    jfr__tally *tally; /* NULL until the place is first used */
    jfr_chunk *chunk;
    int opened; /* result of jfr_next_chunk */
    int summed;
    jfr_error cause;
} place;

/* Successive chunks of the file. */
typedef struct window {
    place places[JFR_SUMS_MAX_THREADS];
    uint32_t count; /* chunks that were read */
    uint32_t next;
} window;

struct jfr_sums {
    jfr_file *file;
    jfr_sums_options options; /* defaults filled in */
    jfr__tally *tallies[JFR_SUMS_MAX_THREADS];

    window windows[2]; /* the chunks for jfr_sums_next, and the chunks read ahead */
    int front;
    place *at; /* the place of the current chunk; NULL = it has none */

    jfr__tally *const *current; /* the tallies with the current rows; NULL = no sums */
    uint32_t current_count;
    jfr_sums_info info;
    jfr_sums_lane *lanes;
    size_t lane_cap;
    uint32_t *begins;
    size_t begin_cap;
    uint32_t *order; /* numbers of the tallies' rows, sorted by stack */
    size_t order_cap;
};

static int resolve_options(jfr_sums_options *out, const jfr_sums_options *given, jfr_error *err)
{
    *out = (jfr_sums_options)JFR_SUMS_OPTIONS_INIT;
    int rc = given != NULL
                 ? jfr__options_copy(out, sizeof(*out), given, given->size, "jfr_sums_options", err)
                 : 0;
    if (rc < 0)
        return rc;
    if ((out->flags & ~(uint32_t)FLAGS) != 0)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "jfr_sums_options.flags has unknown bits.");
    if (out->threads > JFR_SUMS_MAX_THREADS)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "jfr_sums_options.threads is more than %d.",
                         JFR_SUMS_MAX_THREADS);
    if (out->seconds > MAX_SECONDS)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "jfr_sums_options.seconds is more than %d.",
                         MAX_SECONDS);
    if (out->threads == 0 || out->parallel_for == NULL)
        out->threads = 1;
    if (out->allocator == NULL)
        out->allocator = &jfr__malloc;
    const jfr_allocator *a = out->allocator;
    if (a->alloc == NULL || a->realloc == NULL || a->free == NULL)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "Set all functions of the allocator or none.");
    return 0;
}

int jfr_sums_open(jfr_sums **out, jfr_file *file, const jfr_sums_options *opts, jfr_error *err)
{
    jfr_sums_options options;
    int rc = resolve_options(&options, opts, err);
    if (rc < 0)
        return rc;
    const jfr_allocator *a = options.allocator;
    jfr_sums *sums = a->alloc(a->ctx, sizeof(*sums));
    if (sums == NULL)
        return jfr__fail_nomem(err);
    *sums = (jfr_sums){.file = file, .options = options};
    for (uint32_t i = 0; rc == 0 && i < options.threads; i++)
        rc = jfr__tally_new(&sums->tallies[i], &options, err);
    if (rc == 0) {
        sums->options.allocator =
            &sums->tallies[0]->allocator; /* the caller's may have been freed */
        *out = sums;
        return 0;
    }
    jfr_sums_close(sums);
    return rc;
}

static void release(const jfr_allocator *a, void *block)
{
    if (block != NULL)
        a->free(a->ctx, block);
}

void jfr_sums_close(jfr_sums *sums)
{
    if (sums == NULL)
        return;
    const jfr_allocator a = *sums->options.allocator;
    for (uint32_t i = 0; i < JFR_SUMS_MAX_THREADS; i++) {
        for (int k = 0; k < 2; k++) {
            jfr_close(sums->windows[k].places[i].reader);
            jfr__tally_free(sums->windows[k].places[i].tally);
        }
        jfr__tally_free(sums->tallies[i]);
    }
    release(&a, sums->lanes);
    release(&a, sums->begins);
    release(&a, sums->order);
    a.free(a.ctx, sums);
}

/* ---- the rows of a chunk ---- */

static int reserve(const jfr_sums *sums, uint32_t **list, size_t *cap, size_t count)
{
    void *data = *list;
    int rc = jfr__grow(sums->options.allocator, &data, cap, count, sizeof(**list));
    *list = data;
    return rc;
}

static int show_lanes(jfr_sums *sums)
{
    void *lanes = sums->lanes;
    jfr_sums_info *info = &sums->info;
    for (uint32_t i = 0; i < sums->current_count; i++)
        info->lane_count += sums->current[i]->lane_count;
    if (jfr__grow(sums->options.allocator, &lanes, &sums->lane_cap, (size_t)info->lane_count + 1,
                  sizeof(*sums->lanes)) < 0)
        return JFR_ERR_NOMEM;
    sums->lanes = lanes;
    info->lanes = lanes;
    jfr_sums_lane *to = lanes;
    for (uint32_t i = 0; i < sums->current_count; i++) {
        for (uint32_t lane = 0; lane < sums->current[i]->lane_count; lane++)
            jfr__tally_lane(sums->current[i], lane, to++);
    }
    return 0;
}

/* Makes the rows of these tallies of the chunk the current rows. */
static int show(jfr_sums *sums, jfr__tally *const *tallies, uint32_t count, const jfr_chunk *chunk)
{
    uint32_t stacks = chunk->pools[JFR__POOL_STACK].index.count;
    size_t rows = jfr__tally_count(tallies, count);
    sums->current = tallies;
    sums->current_count = count;
    sums->info = (jfr_sums_info){.thread_count = count};
    if (reserve(sums, &sums->begins, &sums->begin_cap, (size_t)stacks + 3) < 0 ||
        reserve(sums, &sums->order, &sums->order_cap, rows + 1) < 0 || show_lanes(sums) < 0) {
        sums->current = NULL;
        return JFR_ERR_NOMEM;
    }
    jfr__tally_sort(tallies, count, stacks, sums->begins, sums->order);
    sums->info.begins = sums->begins;
    sums->info.row_count = sums->begins[stacks + 1];
    sums->info.second_count = sums->begins[stacks + 2] - sums->info.row_count;
    return 0;
}

const jfr_sums_info *jfr_sums_get_info(const jfr_sums *sums)
{
    return sums->current != NULL ? &sums->info : NULL;
}

size_t jfr_sums_read(const jfr_sums *sums, uint32_t first, jfr_sums_row *rows, size_t room)
{
    size_t count =
        sums->current != NULL ? (size_t)sums->info.row_count + sums->info.second_count : 0;
    count = first < count ? count - first : 0;
    count = count < room ? count : room;
    if (count > 0)
        jfr__tally_pick(sums->current, sums->order + first, count, rows);
    return count;
}

/* ---- one chunk by several threads ---- */

/*
 * The parts of a chunk that the threads share. Events near each other mostly have the same stacks,
 * so each thread first reads successive parts of its own, and then takes from the remaining parts
 * at the end.
 */
typedef struct sharing {
    const jfr_sums *sums;
    const jfr_chunk *chunk;
    uint32_t parts;
    uint32_t own; /* parts of each thread */
    atomic_uint_least32_t next;
} sharing;

typedef struct share {
    sharing *all;
    uint32_t next, end; /* of its own parts */
} share;

/* jfr__next_part */
static uint32_t next_part(void *ctx)
{
    share *s = ctx;
    return s->next < s->end ? s->next++ : atomic_fetch_add(&s->all->next, 1);
}

/* jfr_work */
static void read_parts(void *ctx, uint32_t index)
{
    sharing *all = ctx;
    share own = {all, all->own * index, all->own * (index + 1)};
    jfr__tally_parts(all->sums->tallies[index], all->chunk, all->parts, next_part, &own);
}

static void run(const jfr_sums *sums, uint32_t count, jfr_work *work, void *ctx)
{
    if (count == 1)
        work(ctx, 0);
    else
        sums->options.parallel_for(sums->options.parallel_ctx, count, work, ctx);
}

static int add_up(jfr_sums *sums, jfr_chunk *chunk, jfr_error *err)
{
    uint64_t most = chunk->info.size / LEAST_SHARE;
    uint64_t parts = chunk->info.size / PART_BYTES;
    uint32_t threads = most < 1                       ? 1
                       : most < sums->options.threads ? (uint32_t)most
                                                      : sums->options.threads;
    sharing all = {.sums = sums, .chunk = chunk, .parts = 1};
    if (threads > 1)
        all.parts = parts < threads ? threads : (uint32_t)parts;
    all.own = all.parts / threads;
    atomic_init(&all.next, all.own * threads);
    run(sums, threads, read_parts, &all);
    int rc = jfr__tally_join(sums->tallies, threads, chunk, NULL);
    if (rc == 0)
        rc = show(sums, sums->tallies, threads, chunk);
    return rc == JFR_ERR_NOMEM ? jfr__fail_nomem(err) : 0;
}

/* ---- several chunks at a time ---- */

/* Lists the next `least` to `most` small chunks of the file, or none. */
static void find_places(const jfr_file *file, window *w, uint32_t least, uint32_t most)
{
    uint64_t at = file->next;
    uint32_t room = file->options.max_chunks - file->chunks_seen;
    jfr__header header;
    w->count = 0;
    w->next = 0;
    while (w->count < most && w->count < room && !file->ended && at < file->len &&
           jfr__whole_chunk(file, at, &header) && header.size <= SMALL_CHUNK) {
        w->places[w->count++].where = (jfr__place){at, header.size};
        at += header.size;
    }
    if (w->count < least)
        w->count = 0;
}

/* jfr_work */
static void open_place(void *ctx, uint32_t index)
{
    place *p = &((window *)ctx)->places[index];
    jfr__split_go(p->reader, &p->where);
    p->opened = jfr_next_chunk(p->reader, &p->chunk, &p->cause);
}

/* jfr_work */
static void sum_place(void *ctx, uint32_t index)
{
    place *p = &((window *)ctx)->places[index];
    if (p->opened == 1)
        p->summed = jfr__tally_fill(p->tally, p->chunk, &p->cause);
}

static int prepare_place(const jfr_sums *sums, place *p, jfr_error *err)
{
    int rc = p->reader == NULL ? jfr__split_reader(&p->reader, sums->file, err) : 0;
    return rc == 0 && p->tally == NULL ? jfr__tally_new(&p->tally, &sums->options, err) : rc;
}

/* Reads the chunks of find_places. Without any, the window is empty. */
static int read_window(jfr_sums *sums, window *w, uint32_t least, uint32_t most, jfr_error *err)
{
    jfr_file *file = sums->file;
    find_places(file, w, least, most);
    if (w->count == 0)
        return 0;
    for (uint32_t i = 0; i < w->count; i++) {
        int rc = prepare_place(sums, &w->places[i], err);
        if (rc < 0) {
            w->count = 0;
            return rc;
        }
    }
    jfr__file_leave(file);
    run(sums, w->count, open_place, w);
    for (uint32_t i = 0; i < w->count; i++) {
        place *p = &w->places[i];
        int rc = p->opened == 1 ? jfr__split_settle(file, p->chunk, &p->cause) : 0;
        p->opened = rc < 0 ? rc : p->opened;
    }
    run(sums, w->count, sum_place, w);
    const place *last = &w->places[w->count - 1];
    file->chunks_seen += w->count;
    file->next = last->where.offset + last->where.size;
    return 0;
}

static bool is_empty(const window *w)
{
    return w->next == w->count;
}

int jfr_sums_read_ahead(jfr_sums *sums, jfr_error *err)
{
    window *back = &sums->windows[!sums->front];
    /* A current chunk of the file itself would end if the file moved on. */
    if (sums->options.threads < 2 || sums->at == NULL || !is_empty(back) ||
        !is_empty(&sums->windows[sums->front]))
        return 0;
    return read_window(sums, back, 1, sums->options.threads - 1, err);
}

/* Adds the losses of the current chunk to the file's, if the chunk has a place. */
static void leave_place(jfr_sums *sums)
{
    if (sums->at == NULL)
        return;
    jfr__file_leave(sums->at->reader);
    jfr__loss_take(sums->file, sums->at->reader);
    sums->at = NULL;
}

/* Gives the next of the chunks that were read. Returns the result of jfr_next_chunk; 0 = the chunk
 * was lost. */
static int take_place(jfr_sums *sums, place *p, jfr_chunk **chunk, jfr_error *err)
{
    int rc = p->opened;
    sums->at = p;
    *chunk = p->chunk;
    if (rc < 0 && err != NULL)
        *err = p->cause;
    if (rc != 1)
        leave_place(sums);
    if (rc == 1 && p->summed == 0)
        p->summed = show(sums, &p->tally, 1, p->chunk);
    return rc == 1 && p->summed == JFR_ERR_NOMEM ? jfr__fail_nomem(err) : rc;
}

/* Gives the window with the next chunk; it is empty if that chunk is not read together with others.
 */
static int find_window(jfr_sums *sums, window **out, jfr_error *err)
{
    if (is_empty(&sums->windows[sums->front]))
        sums->front = !sums->front;
    *out = &sums->windows[sums->front];
    if (!is_empty(*out) || sums->options.threads < 2)
        return 0;
    return read_window(sums, *out, 2, sums->options.threads,
                       err); /* a single chunk is read in parts */
}

int jfr_sums_next(jfr_sums *sums, jfr_chunk **chunk, jfr_error *err)
{
    window *w;
    sums->current = NULL;
    leave_place(sums);
    int rc = find_window(sums, &w, err);
    while (rc == 0 && !is_empty(w)) {
        rc = take_place(sums, &w->places[w->next++], chunk, err);
        if (rc == 0)
            rc = find_window(sums, &w, err);
    }
    if (rc != 0)
        return rc;
    rc = jfr_next_chunk(sums->file, chunk, err);
    if (rc != 1 || !(*chunk)->info.finished)
        return rc;
    rc = add_up(sums, *chunk, err);
    return rc < 0 ? rc : 1;
}
