/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graph JSON, version 2 (docs/formats/flamegraph-json.md), as a file and inside a page. */
#ifndef STACKAGG_DOCUMENT_H
#define STACKAGG_DOCUMENT_H

#include "output/emit_impl.h"

/* One profile of a document. */
typedef struct sagg__document_profile {
    const sagg_tree_view *view;
    /* A comparison's older side: by node and by omitted block of the view. NULL = no comparison. */
    const uint64_t *before;
    const uint64_t *omitted_before;
    /* Writes further members of the profile, each with a comma before it; NULL = none. `ids` gives
     * the document's number of each of the view's frames. */
    void (*more)(const void *ctx, sagg__emit *emit, const uint32_t *ids);
    const void *ctx;
} sagg__document_profile;

typedef struct sagg__document {
    const sagg__document_profile *profiles;
    size_t count;
    sagg_str meta; /* a JSON object, or empty */
} sagg__document;

/* Writes the document. Returns 0, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM; `emit` records when the sink
 * refuses. */
int sagg__document_write(const sagg__document *document, sagg__emit *emit, sagg__mem *mem);

/* Writes `"key":[...]`. */
void sagg__emit_u32s(sagg__emit *emit, const char *key, const uint32_t *numbers, size_t count);
void sagg__emit_u64s(sagg__emit *emit, const char *key, const uint64_t *numbers, size_t count);

/* Writes the template with the document in place of its marker. Returns as sagg_write_html. */
int sagg__page_write(sagg_str html_template, const sagg__document *document,
                     const sagg_compress *compress, const sagg_sink *sink, sagg_error *err);

#endif
