/* SPDX-License-Identifier: Apache-2.0 */
/* Packed flame graphs, version 4 (docs/formats/flamegraph-packed.md): what stands inside a page. */
#ifndef STACKAGG_PACKED_H
#define STACKAGG_PACKED_H

#include "coder_impl.h"

/* One profile of a document. */
typedef struct sagg__packed_profile {
    const sagg_tree_view *view;
    /* A comparison's older side: by node and by omitted block of the view. NULL = no comparison. */
    const uint64_t *before;
    const uint64_t *omitted_before;
    /* Writes further members of the profile, each with a comma before it; NULL = none. `ids` gives
     * the document's number of each of the view's frames. Returns 0 or SAGG_ERR_NOMEM. */
    int (*more)(const void *ctx, sagg__emit *emit, sagg__mem *mem, const uint32_t *ids);
    const void *ctx;
} sagg__packed_profile;

typedef struct sagg__packed {
    const sagg__packed_profile *profiles;
    size_t count;
    sagg_str meta;
} sagg__packed;

/* The contexts of a document's numbers. */
enum sagg__packed_context {
    SAGG__PLAIN, /* what stands once */
    SAGG__GROUP, /* a name's group: by the name's look, three */
    SAGG__UP = SAGG__GROUP + 3,
    SAGG__VALUE,
    SAGG__BEFORE,
    SAGG__GAP,
    SAGG__CUT_VALUE,
    SAGG__CUT_BEFORE,
    SAGG__CUT_NODES,
    SAGG__BITS, /* places of single bits */
    SAGG__CONTEXTS
};

/* The greatest common divisor; of 0 and x it is x. */
uint64_t sagg__divisor(uint64_t a, uint64_t b);

/*
 * Writes the template with the document in place of its marker. Returns as sagg_write_html.
 */
int sagg__packed_page(sagg_str html_template, const sagg__packed *document, const sagg_sink *sink,
                      sagg_error *err);

#endif
