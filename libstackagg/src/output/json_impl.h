/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_JSON_H
#define STACKAGG_JSON_H

#include "output/emit_impl.h"

/* The strings of a document: where each tree's frames find theirs. */
typedef struct sagg__json {
    sagg__mem *mem;
    const sagg_tree *const *trees;
    size_t tree_count;
    sagg_str meta;
} sagg__json;

/* Writes the document. Returns 0 or SAGG_ERR_NOMEM; a sink that refuses is noted in `emit`. */
int sagg__json_write(const sagg__json *json, sagg__emit *emit);

#endif
