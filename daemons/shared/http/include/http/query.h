/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http/query.h: reads the parameters after the question mark, and percent-encoded path segments.
 *
 * Strict: a parameter that is not UTF-8 after decoding, has a control byte, or occurs twice is an
 * error. "+" is a plus sign (RFC 3986), not a space. Thread rule: only one thread at a time may use
 * a query.
 */
#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include <stddef.h>

#include <http/error.h>

enum { HTTP_QUERY_MAX = 32 };

typedef struct http_query {
    size_t count;
    const char *names[HTTP_QUERY_MAX];
    const char *values[HTTP_QUERY_MAX];
    char *storage; /* owned: names and values point into it */
} http_query;

/*
 * Reads "a=1&b=two%20words". text: without the question mark; "" gives an empty query.
 * Errors: HTTP_ERR_FORMAT (offset and message say where and what), HTTP_ERR_LIMIT (more than
 * HTTP_QUERY_MAX), HTTP_ERR_NO_MEMORY. Free with http_query_clear, also after an error.
 */
int http_query_parse(http_query *out, const char *text, http_error *err);
void http_query_clear(http_query *query);

/* Returns the value of a name, or NULL. Borrowed until http_query_clear. */
const char *http_query_get(const http_query *query, const char *name);

/*
 * Checks that every name is in allowed (NULL-terminated). Returns the first that is not, or NULL.
 * An unknown parameter is an error, because a misspelt filter must not select everything.
 */
const char *http_query_unknown(const http_query *query, const char *const *allowed);

/*
 * Decodes one percent-encoded piece of length bytes in place into out (at least length + 1 bytes).
 * Errors: HTTP_ERR_FORMAT as above.
 */
int http_percent_decode(char *out, const char *text, size_t length, http_error *err);

#endif
