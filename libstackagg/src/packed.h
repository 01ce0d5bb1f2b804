/* SPDX-License-Identifier: Apache-2.0 */
/* Packed flame graphs, version 3 (docs/formats/flamegraph-packed.md): what stands inside a page. */
#ifndef STACKAGG_PACKED_H
#define STACKAGG_PACKED_H

#include "emit.h"

/* One profile of a document. */
typedef struct sagg__packed_profile {
    const sagg_tree_view *view;
    /* A comparison's older side: by node and by omitted block of the view. NULL = no comparison. */
    const uint64_t *before;
    const uint64_t *omitted_before;
    /* Writes further members of the profile, each with a comma before it; NULL = none. `ids` gives
     * the document's number of each of the view's frames, `scale` what values are divided by. */
    void (*more)(const void *ctx, sagg__emit *emit, const uint32_t *ids, uint64_t scale);
    const void *ctx;
    /* A factor of further values that `more` writes; 0 = none. */
    uint64_t also;
} sagg__packed_profile;

typedef struct sagg__packed {
    const sagg__packed_profile *profiles;
    size_t count;
    sagg_str meta;
} sagg__packed;

/* Writes `number` with the format's digits. */
void sagg__emit_digits(sagg__emit *emit, uint64_t number);

/* The greatest common divisor; of 0 and x it is x. */
uint64_t sagg__divisor(uint64_t a, uint64_t b);

/*
 * Writes the template with the document in place of its marker. Returns as sagg_write_html.
 */
int sagg__packed_page(sagg_str html_template, const sagg__packed *document, const sagg_sink *sink,
                      sagg_error *err);

#endif
