/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs into an aggregate, with what Python wants to know of each sample on the way. */
#ifndef HOTSTACK_GATHER_H
#define HOTSTACK_GATHER_H

#include "inputs/inputs.h"

/* Values by time: a row for each (type, pool) that was met. */
typedef struct histogram_row {
    uint32_t type;
    uint32_t pool; /* a thread of the aggregate that stands for the pool; 0 when pools are not told
                      apart */
    uint64_t *counts;
} histogram_row;

typedef struct histogram {
    int64_t origin_ns;
    uint64_t bucket_ns; /* 0 = none is wanted */
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
    PyObject *thread_filter; /* callable of (name, pool), or None */
    PyObject *progress;      /* callable of (done, total), or None */
    bool windows;            /* count leaves by second, for comparisons */
    uint32_t threads;
    uint64_t max_bytes;
} gather_options;

/* What came of it. Zero, then gather_run; free it in any case. */
typedef struct gathered {
    recording *rec;
    const sagg *agg;
    sagg_windows *windows[PROFILE_TYPE_END];
    histogram times; /* its first four fields are the caller's */
} gathered;

/* Needs the GIL, and lets go of it while C works. 0, or -1 with an exception set. */
int gather_run(gathered *out, inputs *in, const gather_options *options);
void gather_free(gathered *g);

#endif
