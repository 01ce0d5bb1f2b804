/* SPDX-License-Identifier: Apache-2.0 */
/* What a document says about its recording: a JSON object that the caller gives as text. */
#ifndef STACKAGG_META_H
#define STACKAGG_META_H

#include <stackagg/output.h>

/* Whether the text is an object, as far as where its members end; an empty text counts as one.
 * Returns 0 or SAGG_ERR_FORMAT. */
int sagg__meta_check(sagg_str text, sagg_error *err);

#endif
