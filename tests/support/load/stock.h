/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load/stock.h: one recording as the collector reads it. The simulated JVMs take their stacks,
 * thread pools, classes and sizes of events from its rows.
 */
#ifndef LOAD_STOCK_H
#define LOAD_STOCK_H

#include "core/batches/profile.h"

typedef struct stock {
    profile read;
    uint32_t *rows[PROFILE_SOURCE_END]; /* rows of `read` by source */
    size_t counts[PROFILE_SOURCE_END];
    uint32_t sources; /* with rows */
} stock;

/* Reads a recording, gzipped or not. Returns 0, or -1 with a sentence in `message`. */
int stock_open(stock *out, const char *path, char *message, size_t size);
void stock_close(stock *from);

#endif
