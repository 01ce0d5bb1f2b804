/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for the tests of this library: aggregates built from short texts, and output kept in
 * memory. */
#ifndef STACKAGG_TEST_SUPPORT_H
#define STACKAGG_TEST_SUPPORT_H

#include "run_suite.h"
#include <stdio.h>
#include <string.h>

#include <stackagg/stackagg.h>

enum { CPU = 1, ALLOC = 2 };

sagg_str str(const char *text);

/* Returns options with the types CPU ("cpu", "ns") and ALLOC ("alloc_bytes", "bytes"). */
sagg_options two_types(void);
sagg *make(const sagg_options *options);

/* Interns "root;middle;leaf": Java frames "class.method", line 0. */
uint32_t stack(sagg *agg, const char *root_first);
uint32_t thread(sagg *agg, int64_t tid, const char *name);

/* Adds `value` (raw: one less) as one sample. */
void add(sagg *agg, uint32_t type, uint32_t thread, uint32_t stack, uint64_t value);

/*
 * Checks that both have the same entries in the same order, and the same totals by type and thread.
 */
void same_entries(const sagg *a, const sagg *b);

/* Returns the tree of CPU, uncut; free it. */
sagg_tree *whole_tree(const sagg *agg);

/* Return the output as one string; free it. */
char *collapsed(const sagg *agg, uint32_t type, const sagg_collapsed_options *options);
char *json(const sagg *agg, uint32_t type, uint32_t max_nodes);

/* A sink that keeps everything, NUL-terminated, in `text`. */
typedef struct memory {
    char *text;
    size_t size;
} memory;
sagg_sink memory_sink(memory *to);

/* Returns small pseudo-random numbers, the same each time. */
uint32_t next_random(uint64_t *state, uint32_t below);

#endif
