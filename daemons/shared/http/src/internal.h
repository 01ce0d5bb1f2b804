/* SPDX-License-Identifier: Apache-2.0 */
/* Private to daemons/shared/http: declarations that its files share. */
#ifndef HTTP_INTERNAL_H
#define HTTP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <http/error.h>
#include <http/request.h>
#include <http/response.h>

/* Fills err (unless NULL) and returns code. */
int http__fail(http_error *err, int code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether it is UTF-8 without control characters. */
bool http__is_text(const char *text, size_t length);

struct http_request {
    const char *method;
    char *uri; /* owned; path and query point into it and end with a NUL */
    const char *path;
    const char *query;
    char peer[64];
    const char *(*header)(const void *context, const char *name);
    const void *header_context;
    char *params[HTTP_PATH_PARAMS_MAX]; /* owned */
    char *body;                         /* owned, NULL while empty */
    size_t body_length;
    void *user;
    void (*release_user)(void *user); /* NULL: nothing to release */
};

void http__request_clear(http_request *request);

enum { HTTP_RESPONSE_HEADERS_MAX = 16 };

struct http_response {
    int status;
    struct {
        const char *name;
        char *value; /* owned */
    } headers[HTTP_RESPONSE_HEADERS_MAX];
    size_t header_count;
    const char *body;
    size_t length;
    bool owned;  /* body is malloc'd */
    bool failed; /* something did not fit, or no memory: sent as an empty 500 */
};

void http__response_init(http_response *response);
void http__response_clear(http_response *response);

/* Returns the value of a header field that has been set, or NULL. */
const char *http__response_find(const http_response *response, const char *name);

#endif
