/* SPDX-License-Identifier: Apache-2.0 */
/* A query call from its parameters to its JSON answer: what all query routes share. */
#ifndef BACKEND_QUERY_CALL_H
#define BACKEND_QUERY_CALL_H

#include <jansson.h>

#include "api.h"
#include "query_params.h"

/* One query under way. */
typedef struct call {
    api *api;
    const char *route; /* its name in metrics */
    uint64_t began_ns;
    const http_request *request;
    http_response *response;
    query_params params;
    query_meta meta;
    store_error err;
    bool entered; /* counts as one of the queries in work */
} call;

/* Reads the parameters; false when the response is filled. */
bool call_begin(call *c, query_kind kind, void *context, const http_request *request,
                http_response *response);
void call_end(call *c);

/* The checks of the core; false when the response is filled. */
bool call_may_ask(call *c);

/* Fills the response with what the code means to a client. */
void call_fail(call *c, query_code code);

/* Takes over json. */
void call_send(call *c, json_t *json);
/* Sends an answer with its meta. Takes over json. */
void call_send_with_meta(call *c, json_t *json);
/* Tags an answer by all but its meta, then sends both. Takes over json. */
void call_send_tagged(call *c, json_t *json);

/* Sets the tag over the content, or what stands for it, and the parameters that choose from it;
 * true: the client has it. */
bool call_tag(call *c, const void *content, size_t length);

#endif
