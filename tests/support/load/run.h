/* SPDX-License-Identifier: Apache-2.0 */
/* load/run.h: a fleet's calls, until every batch is acknowledged or rejected. */
#ifndef LOAD_RUN_H
#define LOAD_RUN_H

#include "tallies.h"

typedef struct run_options {
    pace pace;
    const char *const *urls;
    size_t url_count;
    const char *token;
    uint64_t timeout_ms;
    bool prepare;       /* make the payloads before the first call */
    FILE *acknowledged; /* gets a line for each acknowledged batch: id, node, window, part, outcome.
                           NULL = nobody */
} run_options;

/* Tells its progress on standard error. 0, or -1 with a sentence there. The caller clears `out`. */
int run_fleet(const fleet *f, const run_options *o, tallies *out);

#endif
