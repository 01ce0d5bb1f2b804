/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include <recording/thread_memo.h>
#include <stdlib.h>

#include "inputs/census.h"
#include "module/objects.h"

#define WINDOW_NS UINT64_C(1000000000)
/* Cells of a histogram: 8 bytes each. */
#define MAX_CELLS (UINT64_C(1) << 24)
/* The limits of `hotstack jfr totals`. */
#define MAX_STACKS  20000000u
#define MAX_THREADS 1000000u

/* One run. The thread that called gather_run makes the callbacks, without the GIL. */
typedef struct run {
    work *w;
    const gather_options *options;
    gathered *out;
    inputs *in;
    thread_memo threads;
    uint64_t before; /* bytes of the inputs that were read to their end */
    bool ended;      /* by an exception of a callable, or by a signal */
    bool too_fine;   /* the histogram has too many cells */
} run;

/* ---- which samples ---- */

typedef struct question {
    const gather_options *options;
    const sagg *agg;
    uint32_t index;
    bool wanted;
} question;

static bool ask_filter(void *ctx)
{
    question *q = ctx;
    sagg_thread thread = {0};
    (void)sagg_thread_at(q->agg, q->index, &thread);
    PyObject *name = text_of_sagg(thread.name);
    PyObject *pool = text_of_sagg(thread.pool);
    PyObject *answer = NULL;
    if (name != NULL && pool != NULL)
        answer = PyObject_CallFunctionObjArgs(q->options->thread_filter, name, pool, NULL);
    int wanted = answer != NULL ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(name);
    Py_XDECREF(pool);
    Py_XDECREF(answer);
    q->wanted = wanted == 1;
    return wanted >= 0;
}

static bool is_thread_wanted(void *ctx, const sagg *agg, uint32_t index)
{
    run *r = ctx;
    question q = {.options = r->options, .agg = agg, .index = index};
    r->ended = r->ended || !work_call(r->w, ask_filter, &q);
    return q.wanted;
}

static bool keep(void *ctx, const sagg *agg, const recording_moment *moment)
{
    run *r = ctx;
    const gather_options *o = r->options;
    if (r->ended || moment->time_ns < o->from_ns || moment->time_ns >= o->to_ns)
        return false;
    if (o->states != 0 && (o->states >> moment->state & 1) == 0)
        return false;
    return o->thread_filter == Py_None ||
           thread_memo_ask(&r->threads, is_thread_wanted, r, agg, moment->thread);
}

static bool keeps_all(const gather_options *o)
{
    return o->from_ns == INT64_MIN && o->to_ns == INT64_MAX && o->states == 0 &&
           o->thread_filter == Py_None;
}

/* ---- when ---- */

static histogram_row *row_of(histogram *h, uint32_t type, uint32_t pool)
{
    for (size_t i = h->count; i-- > 0;)
        if (h->rows[i].type == type && h->rows[i].pool == pool)
            return &h->rows[i];
    return NULL;
}

static histogram_row *new_row(run *r, uint32_t type, uint32_t pool)
{
    histogram *h = &r->out->times;
    r->too_fine = (h->count + 1) * h->buckets > MAX_CELLS;
    if (r->too_fine)
        return NULL;
    histogram_row *rows = realloc(h->rows, (h->count + 1) * sizeof(*rows));
    if (rows == NULL)
        return NULL;
    h->rows = rows;
    uint64_t *counts = calloc(h->buckets, sizeof(*counts));
    if (counts == NULL)
        return NULL;
    rows[h->count] = (histogram_row){.type = type, .pool = pool, .counts = counts};
    return &rows[h->count++];
}

static uint32_t pool_of(const sagg *agg, uint32_t index)
{
    sagg_thread thread;
    return sagg_thread_at(agg, index, &thread) ? thread.pool_thread : 0;
}

/* Counts a sample by its time. Samples outside the range are counted in the first or last bucket,
 * so that the sum is that of all samples. */
static int count_time(run *r, const sagg *agg, const sagg_sample *sample)
{
    histogram *h = &r->out->times;
    uint32_t pool = h->by_pool ? pool_of(agg, sample->thread) : 0;
    histogram_row *row = row_of(h, sample->type, pool);
    if (row == NULL)
        row = new_row(r, sample->type, pool);
    if (row == NULL)
        return -1;
    uint64_t bucket = 0;
    if (sample->time_ns > h->origin_ns)
        bucket = ((uint64_t)sample->time_ns - (uint64_t)h->origin_ns) / h->bucket_ns;
    if (bucket >= h->buckets)
        bucket = h->buckets - 1;
    row->counts[bucket] += sample->value;
    return 0;
}

static int added(void *ctx, const sagg *agg, const sagg_sample *sample)
{
    run *r = ctx;
    int rc = r->out->times.bucket_ns != 0 ? count_time(r, agg, sample) : 0;
    if (rc == 0 && r->options->windows)
        rc = sagg_windows_add_sample(r->out->windows[sample->type], agg, sample, NULL);
    return rc;
}

typedef struct news {
    PyObject *progress;
    uint64_t done, total;
} news;

static bool tell(void *ctx)
{
    const news *n = ctx;
    return progress_call(n->progress, n->done, n->total);
}

static int report(void *ctx, uint64_t done)
{
    run *r = ctx;
    uint64_t total = inputs_bytes(r->in);
    uint64_t now = r->before + done;
    news n = {r->options->progress, now < total ? now : total, total};
    r->ended = r->ended || !work_call(r->w, tell, &n);
    return r->ended;
}

/* ---- the run ---- */

static int new_recording(run *r, failure *f)
{
    const gather_options *o = r->options;
    recording_options options = RECORDING_OPTIONS_INIT;
    recording_error cause;
    bool taps = o->windows || r->out->times.bucket_ns != 0;
    options.normaliser = o->normalise ? SAGG_NORMALISE_V1 : SAGG_NORMALISE_NONE;
    options.group = o->group;
    options.walk_unfinished = inputs_unfinished(r->in);
    options.max_stacks = MAX_STACKS;
    options.max_threads = MAX_THREADS;
    options.max_bytes = o->max_bytes;
    options.threads = o->threads;
    options.tap = (recording_tap){.keep = keeps_all(o) ? NULL : keep,
                                  .added = taps ? added : NULL,
                                  .progress = report,
                                  .ctx = r};
    return recording_new(&r->out->rec, &options, &cause) == 0 ? 0 : failure_recording(f, &cause);
}

static int new_windows(run *r, failure *f)
{
    sagg_error cause;
    for (unsigned type = 1; r->options->windows && type < PROFILE_TYPE_END; type++)
        if (sagg_windows_new(&r->out->windows[type], WINDOW_NS, &cause) != 0)
            return failure_sagg(f, &cause);
    return 0;
}

static int read_inputs(run *r, failure *f)
{
    for (size_t i = 0; i < inputs_count(r->in); i++) {
        const input *item = inputs_at(r->in, i);
        const void *data;
        size_t size;
        recording_error cause;
        int rc = inputs_memory(r->in, i, &data, &size)
                     ? recording_add_mem(r->out->rec, data, size, &cause)
                     : recording_add_file(r->out->rec, item->path, &cause);
        if (rc != 0) {
            inputs_blame(r->in, i, f);
            return failure_recording(f, &cause);
        }
        r->before += item->size;
    }
    r->out->agg = recording_aggregate(r->out->rec);
    return r->out->agg != NULL ? 0 : failure_nomem(f);
}

int gather_run(work *w, gathered *out, inputs *in, const gather_options *options, failure *f)
{
    run r = {.w = w, .options = options, .out = out, .in = in};
    int rc = new_windows(&r, f);
    if (rc == 0)
        rc = new_recording(&r, f);
    if (rc == 0)
        rc = read_inputs(&r, f);
    thread_memo_free(&r.threads);
    if (r.too_fine)
        rc = failure_set(f, FAILURE_LIMIT,
                         "The timeline has more than 16,777,216 cells: take larger buckets.");
    return rc;
}

void gather_free(gathered *g)
{
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        sagg_windows_free(g->windows[type]);
    recording_free(g->rec);
    for (size_t i = 0; i < g->times.count; i++)
        free(g->times.rows[i].counts);
    free(g->times.rows);
    *g = (gathered){0};
}
