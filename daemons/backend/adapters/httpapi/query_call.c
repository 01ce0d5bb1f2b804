/* SPDX-License-Identifier: Apache-2.0 */
#include "query_call.h"

#include <base/clock.h>
#include <base/log.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "answer_json.h"

void call_fail(call *c, query_code code)
{
    const principal *who = api_who(c->request);

    switch (code) {
    case QUERY_FORBIDDEN:
        log_line("refused: %s asked for %s?%s outside its scope", who->name,
                 http_request_path(c->request), http_request_query(c->request));
        http_response_error(c->response, 403, "forbidden_scope",
                            "Your scope does not cover this cluster, namespace or workload.");
        return;
    case QUERY_NOT_FOUND:
        http_response_error(c->response, 404, "not_found",
                            "There is no such service in this range.");
        return;
    case QUERY_UNAVAILABLE:
        http_response_error(c->response, 503, "store_unavailable", c->err.message);
        http_response_retry_after(c->response, 5);
        return;
    case QUERY_TIMEOUT:
        http_response_error(c->response, 504, "query_timeout",
                            "The query ran past its budget: ask for a shorter range.");
        return;
    default:
        log_line("query failed: %s", c->err.message);
        http_response_error(c->response, 500, "query_failed", "The store could not answer this.");
    }
}

void call_send(call *c, json_t *json)
{
    char *document = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

    json_decref(json);
    if (document == NULL)
        http_response_error(c->response, 503, "over_capacity", "No memory for the answer.");
    else
        http_response_take(c->response, "application/json", document, strlen(document));
}

void call_send_with_meta(call *c, json_t *json)
{
    if (json != NULL)
        json_object_set_new(json, "meta", json_meta(&c->meta));
    call_send(c, json);
}

static void send_expired(call *c)
{
    call_send(c, json_pack("{s:{s:s, s:s, s:o}}", "error", "code", "expired", "message",
                           "The whole range is older than what is kept.", "oldest",
                           json_time(query_oldest_ms(&c->api->query))));
    http_response_status(c->response, 410);
}

/* Counts a query. Each occupies a worker while it waits for the store, so that too many are
 * refused: a slow store must leave workers for collectors. */
static bool enter(call *c)
{
    c->entered = room_take(&c->api->queries, 1);
    if (c->entered)
        return true;
    http_response_error(c->response, 503, "queries_busy",
                        "Too many queries wait for the store: try again.");
    http_response_retry_after(c->response, 1);
    return false;
}

bool call_begin(call *c, query_kind kind, void *context, const http_request *request,
                http_response *response)
{
    http_error problem = {0};
    const api_route *route = context;
    const query *q = &route->api->query;

    memset(c, 0, sizeof(*c));
    c->api = route->api;
    c->route = route->name;
    c->began_ns = clock_monotonic_ns();
    c->request = request;
    c->response = response;
    if (query_params_parse(&c->params, kind, http_request_query(request), q->now_ms(q->clock),
                           &problem) != 0) {
        http_response_error(response, 400, "bad_request", problem.message);
        return false;
    }
    c->params.filter.scope = &api_who(request)->scope;
    return enter(c);
}

bool call_may_ask(call *c)
{
    query_code code = query_check(&c->api->query, &c->params.filter);

    if (code == QUERY_EXPIRED)
        send_expired(c);
    else if (code != QUERY_OK)
        call_fail(c, code);
    return code == QUERY_OK;
}

/* Hashes the parameters that choose an answer from the data of a range: all but the range. */
static uint64_t hash_choice(const call *c)
{
    static const char *const range[] = {"from", "to"};
    uint64_t hash = XXH3_64bits(c->route, strlen(c->route));

    for (size_t i = 0; i < c->params.raw.count; i++) {
        const char *name = c->params.raw.names[i], *value = c->params.raw.values[i];
        if (strcmp(name, range[0]) != 0 && strcmp(name, range[1]) != 0)
            hash += XXH3_64bits_withSeed(value, strlen(value), XXH3_64bits(name, strlen(name)));
    }
    return hash;
}

bool call_tag(call *c, const void *content, size_t length)
{
    const uint64_t key[] = {XXH3_64bits(content, length), hash_choice(c), c->meta.loss.dropped,
                            c->meta.loss.rejected};

    http_response_header(c->response, "Cache-Control", "no-cache, private");
    return http_response_etag_of(c->response, http_request_header(c->request, "If-None-Match"), key,
                                 sizeof(key));
}

void call_send_tagged(call *c, json_t *json)
{
    char *document = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

    if (document != NULL && call_tag(c, document, strlen(document)))
        json_decref(json);
    else
        call_send_with_meta(c, json);
    free(document);
}

void call_end(call *c)
{
    query_params_clear(&c->params);
    if (c->entered)
        room_give(&c->api->queries, 1);
    metrics_observe(c->api->metrics, METRIC_QUERY_SECONDS, c->route,
                    clock_monotonic_ns() - c->began_ns);
}
