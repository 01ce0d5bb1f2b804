/* SPDX-License-Identifier: Apache-2.0 */
/* Separates an INSERT's text from its data. */
#ifndef CHDB_HTTP_STATEMENT_H
#define CHDB_HTTP_STATEMENT_H

#include <stdbool.h>

#include "blocks/buffer_impl.h"

/* Borrowed pieces of the query and body. */
typedef struct insert_text {
    const char *head; /* "INSERT INTO t (a)", without FORMAT */
    size_t head_length;
    const char *format;
    size_t format_length;
    const void *data;
    size_t data_length;
} insert_text;

/*
 * Splits "INSERT ... FORMAT name" from the data after it. Either the text is the URL's query and
 * the data is the body, or both are in the body with one line break or space between. Returns false
 * for every other statement: VALUES, INSERT ... SELECT, no INSERT at all.
 */
bool split_insert(insert_text *out, const char *query, const chs__buffer *body);

#endif
