/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http/response.h: what a handler answers with.
 *
 * A response belongs to the handler's thread until the handler returns; the server frees it.
 * Every response goes out with the security headers (docs in http/server.h).
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct http_response http_response;

/* Sets the status; 200 at first. */
void http_response_status(http_response *response, int status);

/*
 * Adds a header field, or replaces the one of that name. name: static. value: copied; cut nowhere:
 * a value with a control byte, or that does not fit (1 KiB), makes the whole answer a 500.
 */
void http_response_header(http_response *response, const char *name, const char *value);

/* Gives the body away: data is from malloc and now the response's (also when it is never sent). */
void http_response_take(http_response *response, const char *content_type, char *data,
                        size_t length);

/* Copies the body. */
void http_response_copy(http_response *response, const char *content_type, const void *data,
                        size_t length);

/* Lends the body: data must live as long as the server. */
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
 * Sets the ETag to a hash of the body as it is now, or of the given bytes where they stand for the
 * body. if_none_match: the request's field or NULL; on a match the answer becomes 304 without a
 * body. Returns true then.
 */
bool http_response_etag(http_response *response, const char *if_none_match);
bool http_response_etag_of(http_response *response, const char *if_none_match, const void *data,
                           size_t length);

#endif
