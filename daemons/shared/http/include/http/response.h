/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http/response.h: the answer of a handler.
 *
 * A response belongs to the handler's thread until the handler returns; the server frees it. Every
 * response is sent with the security headers (see http/server.h).
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct http_response http_response;

/* Sets the status; 200 at first. */
void http_response_status(http_response *response, int status);

/*
 * Adds a header field, or replaces the one with that name. name: static. value: copied. If a value
 * has a control byte or does not fit (1 KiB), the whole answer becomes a 500.
 */
void http_response_header(http_response *response, const char *name, const char *value);

/* Sets the body; data is malloc'd, and the response owns it from then on, even if it is never
 * sent. */
void http_response_take(http_response *response, const char *content_type, char *data,
                        size_t length);

/* Sets the body to a copy of data. */
void http_response_copy(http_response *response, const char *content_type, const void *data,
                        size_t length);

/* Sets the body to data, which must live as long as the server. */
void http_response_lend(http_response *response, const char *content_type, const void *data,
                        size_t length);

/*
 * Answers {"error":{"code":...,"message":...}}. code: a stable word. message: a sentence, any UTF-8
 * text. An earlier body is dropped.
 */
void http_response_error(http_response *response, int status, const char *code,
                         const char *message);

/* As http_response_error with 405 and 503 (Retry-After, seconds) and their header fields. */
void http_response_retry_after(http_response *response, unsigned seconds);

/*
 * Sets the ETag to a hash of the present body, or of the given bytes, which identify the body.
 * if_none_match: the request's field or NULL. On a match the answer becomes 304 without a body, and
 * the function returns true.
 */
bool http_response_etag(http_response *response, const char *if_none_match);
bool http_response_etag_of(http_response *response, const char *if_none_match, const void *data,
                           size_t length);

#endif
