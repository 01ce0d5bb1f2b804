/* SPDX-License-Identifier: Apache-2.0 */
/* Reads inputs into an aggregate, and counts what Python asks for about each sample. */
#ifndef HOTSTACK_GATHER_H
#define HOTSTACK_GATHER_H

#include "inputs/inputs.h"
#include "module/work.h"

/* Values by time: a row for each (type, pool) that was met. */
typedef struct histogram_row {
    uint32_t type;
    uint32_t pool; /* the aggregate's thread that represents the pool; 0 without `by_pool` */
    uint64_t *counts;
} histogram_row;

typedef struct histogram {
    int64_t origin_ns;
    uint64_t bucket_ns; /* 0 = no histogram */
    uint64_t buckets;
    bool by_pool;
    histogram_row *rows;
    size_t count;
} histogram;

typedef struct gather_options {
    bool normalise;
    int group; /* enum sagg_group */
    int64_t from_ns, to_ns;
    uint32_t states;         /* bits of jfr_thread_state; 0 = all */
    PyObject *thread_filter; /* callable of (name, pool), or None; the caller keeps both */
    PyObject *progress;      /* callable of (done, total), or None */
    bool windows;            /* count leaves by second, for comparisons */
    uint32_t threads;
    uint64_t max_bytes;
} gather_options;

/* The result. Set it to zero, call gather_run, and free it in any case. */
typedef struct gathered {
    recording *rec;
    const sagg *agg;
    sagg_windows *windows[PROFILE_TYPE_END];
    histogram times; /* the caller sets its first four fields */
} gathered;

/* Reads the inputs; for the `run` of a work. The caller of the work calls Python's callables. */
int gather_run(work *w, gathered *out, inputs *in, const gather_options *options, failure *f);
void gather_free(gathered *g);

#endif
