/* SPDX-License-Identifier: Apache-2.0 */
/* load/run.h: makes a fleet's calls until every batch is acknowledged or rejected. */
#ifndef LOAD_RUN_H
#define LOAD_RUN_H

#include "tallies.h"

typedef struct run_options {
    pace pace;
    const char *const *urls;
    size_t url_count;
    const char *token;
    uint64_t timeout_ms;
    bool prepare;       /* makes the payloads before the first call */
    FILE *acknowledged; /* gets a line for each acknowledged batch: id, node, window, part, outcome.
                           NULL = no lines */
} run_options;

/* Reports progress on standard error. Returns 0, or -1 with a sentence there. The caller clears
 * `out`. */
int run_fleet(const fleet *f, const run_options *o, tallies *out);

#endif
