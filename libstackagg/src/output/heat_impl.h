/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_HEAT_INTERNAL_H
#define STACKAGG_HEAT_INTERNAL_H

#include <stackagg/heat.h>

#include "aggregate/index_impl.h"

/* The key of cells whose stack is no longer known. Always the first. */
#define SAGG__NAMELESS 0u

/* The key of a cell beside its bucket. */
typedef struct sagg__heat_key {
    sagg_stack_id stack;
    uint32_t thread; /* SAGG_NO_THREAD, when threads are not separate */
} sagg__heat_key;

typedef struct sagg__heat_cell {
    uint32_t key;
    int32_t bucket; /* from heat->first on */
    uint64_t value;
} sagg__heat_cell;

struct sagg_heat {
    sagg__mem mem;
    bool threads;
    uint32_t max_cells;
    uint32_t joins; /* how often buckets have been joined */
    uint64_t step_ns;
    int64_t first;    /* bucket 0, as a multiple of step_ns; set by the first sample */
    sagg__array keys; /* sagg__heat_key */
    uint32_t key_count;
    sagg__index key_index;
    sagg__array cells; /* sagg__heat_cell */
    uint32_t cell_count;
    sagg__index cell_index;
};

/* Returns how many buckets become one when they are joined the next time. */
int64_t sagg__joined_by(uint32_t joins);

/* Returns the time, or the nearest one that can be added to others. */
int64_t sagg__sane_time(int64_t time_ns);

/* Returns a / b, rounded down; b > 0. */
int64_t sagg__floor_div(int64_t a, int64_t b);

#endif
