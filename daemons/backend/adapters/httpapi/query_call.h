/* SPDX-License-Identifier: Apache-2.0 */
/* A query call from its parameters to its JSON answer; all query routes use it. */
#ifndef BACKEND_QUERY_CALL_H
#define BACKEND_QUERY_CALL_H

#include <jansson.h>

#include "api.h"
#include "query_params.h"

/* A query that is being answered. */
typedef struct call {
    api *api;
    const char *route; /* its name in metrics */
    uint64_t began_ns;
    const http_request *request;
    http_response *response;
    query_params params;
    query_meta meta;
    store_error err;
    bool entered; /* counts as one of the running queries */
} call;

/* Reads the parameters; returns false when it has filled the response. */
bool call_begin(call *c, query_kind kind, void *context, const http_request *request,
                http_response *response);
void call_end(call *c);

/* Makes the core's checks; returns false when it has filled the response. */
bool call_may_ask(call *c);

/* Fills the response with the error that the code means for a client. */
void call_fail(call *c, query_code code);

/* Sends an answer. Takes over json. */
void call_send(call *c, json_t *json);
/* Sends an answer with its meta. Takes over json. */
void call_send_with_meta(call *c, json_t *json);
/* Sets the tag from an answer without its meta, then sends both. Takes over json. */
void call_send_tagged(call *c, json_t *json);

/* Sets the tag from the content, or a fingerprint of it, and the parameters that choose from it;
 * returns true if the client has that answer. */
bool call_tag(call *c, const void *content, size_t length);

#endif
