/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_WINDOWS_H
#define STACKAGG_WINDOWS_H

#include <stackagg/diff.h>

#include "trees/tree_impl.h"

/* Value of one method in one window. */
typedef struct sagg__cell {
    uint64_t method; /* hash of kind, class and method */
    int64_t window;
    uint64_t value;
} sagg__cell;

struct sagg_windows {
    sagg__mem mem;
    uint64_t window_ns;
    sagg__array cells; /* sagg__cell, found by (method, window) */
    uint32_t count;
    uint32_t *slots; /* index of a cell + 1; 0 = empty */
    size_t slot_count;
};

/* One side of a bootstrap: the values of chosen methods, and all values, by window. */
typedef struct sagg__side {
    uint64_t *values; /* [window][method] */
    uint64_t *totals; /* [window] */
    uint32_t windows;
} sagg__side;

/* Makes the side from the windows of `from` with the methods `hashes`, sorted ascending. Returns 0
 * or SAGG_ERR_NOMEM; free it in both cases. */
int sagg__side_new(sagg__side *side, sagg__mem *mem, const sagg_windows *from,
                   const uint64_t *hashes, uint32_t methods);
void sagg__side_free(sagg__side *side, sagg__mem *mem, uint32_t methods);

/* Resamples both sides' windows `rounds` times. In 99 % of the rounds the change of a method's
 * share is between its `low` and `high`. Returns 0 or SAGG_ERR_NOMEM. */
int sagg__bootstrap(const sagg__side *before, const sagg__side *after, uint32_t methods,
                    uint32_t rounds, uint64_t seed, int64_t *low, int64_t *high, sagg__mem *mem);

/* Cuts a comparison's tree and arrays to the options' limits and counts the omitted blocks again.
 * Returns 0 or SAGG_ERR_NOMEM. */
int sagg__diff_cut(sagg_tree *tree, sagg__array *before_self, sagg__array *before_total,
                   sagg__array *omitted_before, const sagg_diff_options *o);

/* Returns `part` of `whole` in parts per billion, rounded to the nearest; 0 when `whole` is 0. */
int64_t sagg__share(uint64_t part, uint64_t whole);

#endif
