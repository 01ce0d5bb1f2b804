/* SPDX-License-Identifier: Apache-2.0 */
/* A request to chdb-http and its reply, independent of any HTTP library. */
#ifndef CHDB_HTTP_REQUEST_H
#define CHDB_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "blocks/buffer_impl.h"

/* One item of the URL's query, decoded. */
typedef struct http_item {
    char *name;
    char *value; /* NUL-terminated; length counts NULs inside */
    size_t length;
} http_item;

/* Zero-initialise, free with request_free. */
typedef struct http_request {
    bool read_only; /* GET and HEAD change nothing */
    char *user;
    char *password;
    char *encoding;        /* Content-Encoding of body, NULL for none */
    char *accept_encoding; /* of the answer, NULL for none */
    http_item *items;
    size_t item_count;
    chs__buffer body;
} http_request;

/* Zero-initialise, free with reply_free. */
typedef struct http_reply {
    unsigned status;
    int exception_code; /* 0: none */
    const char *encoding;
    chs__buffer body;
} http_reply;

/* Returns the value of an item, NULL when it is missing. */
const char *request_get(const http_request *request, const char *name);

/* Adds an item; value may contain NULs. Returns false without memory. */
bool request_add(http_request *request, const char *name, const char *value, size_t length);

void request_free(http_request *request);
void reply_free(http_reply *reply);

/* Makes the reply an exception with ClickHouse's text and HTTP status. */
void reply_fail(http_reply *reply, int code, const char *text);

#endif
