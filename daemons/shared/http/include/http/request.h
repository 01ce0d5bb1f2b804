/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http/request.h: a request as handlers see it. Everything is borrowed until the handler returns.
 * Only requests that passed the gate (http/gate.h) reach a handler.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct http_request http_request;

enum { HTTP_PATH_PARAMS_MAX = 4 };

const char *http_request_method(const http_request *request); /* "GET", "HEAD", "POST", ... */
const char *http_request_path(const http_request *request);   /* raw, without the query */
const char *http_request_query(const http_request *request);  /* raw, "" when there is none */

/* Returns the client's address as text, without the port ("127.0.0.1"). */
const char *http_request_peer(const http_request *request);

/* Returns a header field's value, NULL when absent. Case is ignored. */
const char *http_request_header(const http_request *request, const char *name);

/* Returns a cookie's value, copied into out; NULL when absent, or longer than capacity - 1. */
const char *http_request_cookie(const http_request *request, const char *name, char *out,
                                size_t capacity);

/* Returns the index-th {parameter} of the route's pattern, percent-decoded; NULL after the last. */
const char *http_request_param(const http_request *request, unsigned index);

/* Returns the whole body; *length bytes. Never NULL; not NUL-terminated. */
const void *http_request_body(const http_request *request, size_t *length);

/* Set and get a pointer that a route's admit function passes to its handler. release, which may be
 * NULL, is called with it once, when the request is over. */
void http_request_set_user(http_request *request, void *user, void (*release)(void *user));
const void *http_request_user(const http_request *request);

#endif
