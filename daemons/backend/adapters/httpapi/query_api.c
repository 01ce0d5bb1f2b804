/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/...: parses the parameters, calls the core's use cases and writes JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <catalogue/profile_type.h>

#include "answer_json.h"
#include "query_call.h"

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

static json_t *pools_json(const pool_list *list)
{
    json_t *names = json_array();

    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(names, json_string(list->names[i]));
    return names;
}

void api_services(void *context, const http_request *request, http_response *response)
{
    call c;
    service_list list = {NULL, 0};

    if (call_begin(&c, QUERY_LIST, context, request, response) && call_may_ask(&c)) {
        query_code code = query_services(&c.api->query, &c.params.filter, &list, &c.meta, &c.err);
        if (code == QUERY_OK)
            call_send_tagged(&c, json_pack("{s:o}", "services", services_json(&list)));
        else
            call_fail(&c, code);
    }
    service_list_free(&list);
    call_end(&c);
}

/* Returns the namespace in a path: "-" is the empty one of a service outside of Kubernetes. */
static const char *namespace_of(const char *segment)
{
    return strcmp(segment, "-") == 0 ? "" : segment;
}

static void answer_service(call *c)
{
    service_list list = {NULL, 0};
    target_list targets = {NULL, 0};
    pool_list pools = {NULL, 0};
    store_filter *filter = &c->params.filter;

    query_code code = query_services(&c->api->query, filter, &list, &c->meta, &c->err);
    if (code == QUERY_OK && list.count == 0)
        code = QUERY_NOT_FOUND;
    if (code == QUERY_OK)
        code = query_targets(&c->api->query, filter, &targets, &c->meta, &c->err);
    if (code == QUERY_OK)
        code = query_pools(&c->api->query, filter, &pools, &c->meta, &c->err);
    if (code == QUERY_OK) {
        json_t *json = json_service(&list.items[0]);
        if (json != NULL) {
            json_object_set_new(json, "targets", targets_json(&targets));
            json_object_set_new(json, "pools", pools_json(&pools));
        }
        call_send_tagged(c, json);
    } else {
        call_fail(c, code);
    }
    pool_list_free(&pools);
    target_list_free(&targets);
    service_list_free(&list);
}

void api_service(void *context, const http_request *request, http_response *response)
{
    call c;

    if (call_begin(&c, QUERY_LIST, context, request, response)) {
        c.params.filter.namespace_name = namespace_of(http_request_param(request, 0));
        c.params.filter.workload = http_request_param(request, 1);
        if (call_may_ask(&c))
            answer_service(&c);
    }
    call_end(&c);
}

/* history NULL: the request named no JVM. */
static json_t *status_json(const target_list *list, const target_list *history)
{
    json_t *out = json_pack("{s:o}", "targets", targets_json(list));

    if (out != NULL && history != NULL)
        json_object_set_new(out, "history", targets_json(history));
    return out;
}

void api_status(void *context, const http_request *request, http_response *response)
{
    call c;
    target_list list = {NULL, 0}, history = {NULL, 0};

    if (call_begin(&c, QUERY_STATUS, context, request, response) && call_may_ask(&c)) {
        const store_filter *filter = &c.params.filter;
        query_code code = query_targets(&c.api->query, filter, &list, &c.meta, &c.err);
        if (code == QUERY_OK && filter->target != 0)
            code = query_target_history(&c.api->query, filter, &history, &c.meta, &c.err);
        if (code == QUERY_OK)
            call_send_tagged(&c, status_json(&list, filter->target != 0 ? &history : NULL));
        else
            call_fail(&c, code);
    }
    target_list_free(&history);
    target_list_free(&list);
    call_end(&c);
}

/* ---- profiles ---- */

static int write_piece(void *context, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, context) == bytes ? 0 : -1;
}

/* Writes the document of a tree with its meta: malloc'd, NULL when there is no memory. */
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

    if (profile_top(p, c->params.lines, (size_t)c->params.filter.limit, &table, &c->meta) != 0) {
        http_response_error(c->response, 503, "over_capacity", "No memory for the table.");
    } else {
        json_t *rows = json_array();
        for (size_t i = 0; i < table.count; i++)
            json_array_append_new(rows, json_top_row(&table.rows[i], c->params.lines));
        call_send_with_meta(c, json_pack("{s:o, s:s, s:s, s:o}", "rows", rows, "type", info->name,
                                         "unit", info->unit, "total", json_sum(c->meta.seen)));
    }
    top_table_free(&table);
}

/* Reads a profile. If the fingerprint of the windows and losses says that the client has it, no
 * sample is read. */
static void read_profile(call *c, void (*answer)(call *c, const profile *p))
{
    const query *q = &c->api->query;
    profile p = {NULL};
    query_code code = query_fresh(q, &c->params.filter, &c->meta, &c->err);

    if (code == QUERY_OK && call_tag(c, &c->meta.fingerprint, sizeof(c->meta.fingerprint)))
        return;
    if (code == QUERY_OK)
        code = query_profile(q, &c->params.filter, &p, &c->meta, &c->err);
    if (code == QUERY_OK)
        answer(c, &p);
    else
        call_fail(c, code);
    profile_free(&p);
}

static void answer_profile(query_kind kind, void *context, const http_request *request,
                           http_response *response, void (*answer)(call *c, const profile *p))
{
    call c;

    if (call_begin(&c, kind, context, request, response) && call_may_ask(&c))
        read_profile(&c, answer);
    call_end(&c);
}

void api_flamegraph(void *context, const http_request *request, http_response *response)
{
    answer_profile(QUERY_FLAMEGRAPH, context, request, response, answer_flamegraph);
}

void api_top(void *context, const http_request *request, http_response *response)
{
    answer_profile(QUERY_TOP, context, request, response, answer_top);
}

static json_t *timeline_json(const timeline *t, const call *c)
{
    const profile_type_info *info = profile_type_get(c->params.filter.type);
    json_t *values = json_array();

    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(values, t->recorded[i] ? json_sum(t->values[i]) : json_null());
    return json_pack("{s:I, s:o, s:s, s:s, s:o}", "bucket_ms",
                     (json_int_t)c->params.filter.bucket_ms, "values", values, "type", info->name,
                     "unit", info->unit, "total", json_sum(c->meta.seen));
}

void api_timeline(void *context, const http_request *request, http_response *response)
{
    call c;
    timeline t = {.count = 0};

    if (call_begin(&c, QUERY_TIMELINE, context, request, response) && call_may_ask(&c)) {
        query_code code = query_timeline(&c.api->query, &c.params.filter, &t, &c.meta, &c.err);
        if (code == QUERY_OK)
            call_send_tagged(&c, timeline_json(&t, &c));
        else
            call_fail(&c, code);
    }
    timeline_free(&t);
    call_end(&c);
}
