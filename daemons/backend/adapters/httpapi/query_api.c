/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/...: parameters in, the core's use cases, JSON out. */
#include <base/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <catalogue/profile_type.h>
#include <xxhash.h>

#include "answer_json.h"
#include "api.h"
#include "query_params.h"

/* One query under way. */
typedef struct call {
    api *api;
    const http_request *request;
    http_response *response;
    query_params params;
    query_meta meta;
    store_error err;
} call;

static void fail(call *c, query_code code)
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

/* Takes over json. */
static void send_json(call *c, json_t *json)
{
    char *document = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

    json_decref(json);
    if (document == NULL)
        http_response_error(c->response, 503, "over_capacity", "No memory for the answer.");
    else
        http_response_take(c->response, "application/json", document, strlen(document));
}

static void send_expired(call *c)
{
    send_json(c, json_pack("{s:{s:s, s:s, s:o}}", "error", "code", "expired", "message",
                           "The whole range is older than what is kept.", "oldest",
                           json_time(query_oldest_ms(&c->api->query))));
    http_response_status(c->response, 410);
}

/* Reads the parameters; false when the response is filled. */
static bool begin(call *c, query_kind kind, void *context, const http_request *request,
                  http_response *response)
{
    http_error problem = {0};
    const query *q = &((const api_route *)context)->api->query;

    memset(c, 0, sizeof(*c));
    c->api = ((const api_route *)context)->api;
    c->request = request;
    c->response = response;
    if (query_params_parse(&c->params, kind, http_request_query(request), q->now_ms(q->clock),
                           &problem) != 0) {
        http_response_error(response, 400, "bad_request", problem.message);
        return false;
    }
    c->params.filter.scope = &api_who(request)->scope;
    return true;
}

/* The checks of the core; false when the response is filled. */
static bool may_ask(call *c)
{
    query_code code = query_check(&c->api->query, &c->params.filter);

    if (code == QUERY_EXPIRED)
        send_expired(c);
    else if (code != QUERY_OK)
        fail(c, code);
    return code == QUERY_OK;
}

/* Sets the tag over the content and the parameters that choose it; true: the client has it. */
static bool tag(call *c, const void *content, size_t length)
{
    struct {
        uint64_t content, limit, lines, type;
    } key = {XXH3_64bits(content, length), c->params.filter.limit, c->params.lines,
             c->params.filter.type};

    http_response_header(c->response, "Cache-Control", "no-cache, private");
    return http_response_etag_of(c->response, http_request_header(c->request, "If-None-Match"),
                                 &key, sizeof(key));
}

/* Tags an answer by all but its meta, then sends it with it. Takes over json. */
static void send_tagged(call *c, json_t *json)
{
    char *document = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

    if (document != NULL && tag(c, document, strlen(document))) {
        json_decref(json);
    } else {
        if (json != NULL)
            json_object_set_new(json, "meta", json_meta(&c->meta));
        send_json(c, json);
    }
    free(document);
}

static void end(call *c)
{
    query_params_clear(&c->params);
}

/* ---- lists ---- */

static json_t *services_json(const service_list *list)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(rows, json_service(&list->items[i]));
    return rows;
}

static json_t *targets_json(const target_list *list)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(rows, json_target(&list->items[i]));
    return rows;
}

void api_services(void *context, const http_request *request, http_response *response)
{
    call c;
    service_list list = {NULL, 0};

    if (begin(&c, QUERY_LIST, context, request, response) && may_ask(&c)) {
        query_code code = query_services(&c.api->query, &c.params.filter, &list, &c.meta, &c.err);
        if (code == QUERY_OK)
            send_tagged(&c, json_pack("{s:o}", "services", services_json(&list)));
        else
            fail(&c, code);
    }
    service_list_free(&list);
    end(&c);
}

/* A service outside Kubernetes has no namespace; in a path "-" stands for it. */
static const char *namespace_of(const char *segment)
{
    return strcmp(segment, "-") == 0 ? "" : segment;
}

static void answer_service(call *c)
{
    service_list list = {NULL, 0};
    target_list targets = {NULL, 0};
    store_filter *filter = &c->params.filter;

    query_code code = query_services(&c->api->query, filter, &list, &c->meta, &c->err);
    if (code == QUERY_OK && list.count == 0)
        code = QUERY_NOT_FOUND;
    if (code == QUERY_OK)
        code = query_targets(&c->api->query, filter, &targets, &c->meta, &c->err);
    if (code == QUERY_OK) {
        json_t *json = json_service(&list.items[0]);
        if (json != NULL)
            json_object_set_new(json, "targets", targets_json(&targets));
        send_tagged(c, json);
    } else {
        fail(c, code);
    }
    target_list_free(&targets);
    service_list_free(&list);
}

void api_service(void *context, const http_request *request, http_response *response)
{
    call c;

    if (begin(&c, QUERY_LIST, context, request, response)) {
        c.params.filter.namespace_name = namespace_of(http_request_param(request, 0));
        c.params.filter.workload = http_request_param(request, 1);
        if (may_ask(&c))
            answer_service(&c);
    }
    end(&c);
}

void api_status(void *context, const http_request *request, http_response *response)
{
    call c;
    target_list list = {NULL, 0};

    if (begin(&c, QUERY_STATUS, context, request, response) && may_ask(&c)) {
        query_code code = query_targets(&c.api->query, &c.params.filter, &list, &c.meta, &c.err);
        if (code == QUERY_OK)
            send_tagged(&c, json_pack("{s:o}", "targets", targets_json(&list)));
        else
            fail(&c, code);
    }
    target_list_free(&list);
    end(&c);
}

/* ---- profiles ---- */

static int write_piece(void *context, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, context) == bytes ? 0 : -1;
}

/* The document of a tree with its meta; from malloc, NULL when there is no memory. */
static char *flamegraph_json(const sagg_tree *tree, const query_meta *meta, size_t *length)
{
    json_t *json = json_meta(meta);
    char *meta_text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    char *out = NULL;
    FILE *to = meta_text != NULL ? open_memstream(&out, length) : NULL;
    int rc = -1;

    if (to != NULL) {
        sagg_sink sink = {write_piece, to};
        rc = sagg_write_json(&tree, 1, (sagg_str){meta_text, strlen(meta_text)}, &sink, NULL);
        rc = fclose(to) == 0 ? rc : -1;
    }
    free(meta_text);
    json_decref(json);
    if (rc != 0) {
        free(out);
        return NULL;
    }
    return out;
}

static void answer_flamegraph(call *c, const profile *p)
{
    const store_filter *filter = &c->params.filter;
    size_t length;

    if (tag(c, &p->fingerprint, sizeof(p->fingerprint)))
        return;
    sagg_tree *tree =
        profile_tree(p, filter->type, c->params.lines, (uint32_t)filter->limit, &c->meta);
    char *document = tree != NULL ? flamegraph_json(tree, &c->meta, &length) : NULL;
    sagg_tree_free(tree);
    if (document == NULL)
        http_response_error(c->response, 503, "over_capacity", "No memory for the graph.");
    else
        http_response_take(c->response, "application/json", document, length);
}

static void answer_top(call *c, const profile *p)
{
    const profile_type_info *info = profile_type_get(c->params.filter.type);
    top_table table;

    if (tag(c, &p->fingerprint, sizeof(p->fingerprint)))
        return;
    if (profile_top(p, c->params.lines, (size_t)c->params.filter.limit, &table, &c->meta) != 0) {
        http_response_error(c->response, 503, "over_capacity", "No memory for the table.");
    } else {
        json_t *rows = json_array();
        for (size_t i = 0; i < table.count; i++)
            json_array_append_new(rows, json_top_row(&table.rows[i], c->params.lines));
        send_json(c, json_pack("{s:o, s:s, s:s, s:o, s:o}", "rows", rows, "type", info->name,
                               "unit", info->unit, "total", json_sum(c->meta.seen), "meta",
                               json_meta(&c->meta)));
    }
    top_table_free(&table);
}

static void answer_profile(query_kind kind, void *context, const http_request *request,
                           http_response *response, void (*answer)(call *c, const profile *p))
{
    call c;
    profile p = {NULL, 0};

    if (begin(&c, kind, context, request, response) && may_ask(&c)) {
        query_code code = query_profile(&c.api->query, &c.params.filter, &p, &c.meta, &c.err);
        if (code == QUERY_OK)
            answer(&c, &p);
        else
            fail(&c, code);
    }
    profile_free(&p);
    end(&c);
}

void api_flamegraph(void *context, const http_request *request, http_response *response)
{
    answer_profile(QUERY_FLAMEGRAPH, context, request, response, answer_flamegraph);
}

void api_top(void *context, const http_request *request, http_response *response)
{
    answer_profile(QUERY_TOP, context, request, response, answer_top);
}
