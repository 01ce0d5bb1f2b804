/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a document's recording: a JSON object that the caller passes as text. */
#ifndef STACKAGG_META_H
#define STACKAGG_META_H

#include <stackagg/output.h>

/* Checks that the text is an object, only as far as finding where its members end; an empty text
 * counts as one. Returns 0 or SAGG_ERR_FORMAT. */
int sagg__meta_check(sagg_str text, sagg_error *err);

#endif
