/* SPDX-License-Identifier: Apache-2.0 */
/* Telling an INSERT's text from its data. */
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
 * Splits "INSERT ... FORMAT name" with data behind it. The text is the URL's query with the data in
 * the body, or both stand in the body with one line break or space between. False for every other
 * statement: VALUES, INSERT ... SELECT, no INSERT at all.
 */
bool split_insert(insert_text *out, const char *query, const chs__buffer *body);

#endif
