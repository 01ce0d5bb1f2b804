/* SPDX-License-Identifier: Apache-2.0 */
/* What a document says about its recording: a JSON object, of which a page holds the members that
 * it shows, without their names. */
#ifndef STACKAGG_META_H
#define STACKAGG_META_H

#include "output/emit_impl.h"

#define SAGG__FACTS 10u

typedef struct sagg__meta {
    sagg_str facts[SAGG__FACTS]; /* JSON each, of the text read; empty = there is none */
} sagg__meta;

/* Finds them; an empty text has none. Returns 0, or SAGG_ERR_FORMAT when it is no object. */
int sagg__meta_read(sagg__meta *out, sagg_str text, sagg_error *err);

/* Writes the member "meta", a comma before it; nothing when there are no facts. */
void sagg__meta_write(const sagg__meta *meta, sagg__emit *emit);

#endif
