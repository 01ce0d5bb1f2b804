/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/threads, /v1/locks, /v1/deadlocks. */
#include <string.h>

#include <base/hex.h>

#include "../query_call.h"
#include "threads_json.h"

/* One route: the read of the core, and the function that writes its JSON. */
typedef struct thread_route {
    query_kind kind;
    query_code (*read)(const query *q, const store_filter *filter, thread_report *out,
                       query_meta *meta, store_error *err);
    json_t *(*show)(const thread_report *report, const store_filter *filter);
    bool by_sources; /* the answer depends only on the snapshots and windows of the range */
} thread_route;

/* Tags the answer by its sources, before any thread is read. Returns true if the client has it. */
static bool is_unchanged(call *c, thread_report *report, query_code *code)
{
    *code = query_sources(&c->api->query, &c->params.filter, report, &c->meta, &c->err);
    if (*code != QUERY_OK)
        return false;
    const uint64_t print = sources_fingerprint(report, &c->meta);
    return call_tag(c, &print, sizeof(print));
}

static void read_and_send(call *c, const thread_route *route, thread_report *report)
{
    const store_filter *filter = &c->params.filter;
    query_code code = QUERY_OK;

    if (route->by_sources && is_unchanged(c, report, &code))
        return;
    if (code == QUERY_OK)
        code = route->read(&c->api->query, filter, report, &c->meta, &c->err);
    if (code != QUERY_OK)
        call_fail(c, code);
    else if (route->by_sources)
        call_send_with_meta(c, route->show(report, filter));
    else
        call_send_tagged(c, route->show(report, filter));
}

static void answer(const thread_route *route, void *context, const http_request *request,
                   http_response *response)
{
    thread_report report = {.sources = NULL};
    call c;

    if (call_begin(&c, route->kind, context, request, response) && call_may_ask(&c))
        read_and_send(&c, route, &report);
    thread_report_free(&report);
    call_end(&c);
}

static json_t *show_threads(const thread_report *report, const store_filter *filter)
{
    (void)filter;
    return json_threads(report);
}

void api_threads(void *context, const http_request *request, http_response *response)
{
    static const thread_route route = {QUERY_THREADS, query_threads, show_threads, true};

    answer(&route, context, request, response);
}

void api_lanes(void *context, const http_request *request, http_response *response)
{
    static const thread_route route = {QUERY_LANES, query_lanes, json_lanes, false};

    answer(&route, context, request, response);
}

static json_t *show_thread(const thread_report *report, const store_filter *filter)
{
    (void)filter;
    return json_one_thread(report);
}

void api_thread(void *context, const http_request *request, http_response *response)
{
    static const thread_route route = {QUERY_THREAD, query_thread, show_thread, true};

    answer(&route, context, request, response);
}

static json_t *show_locks(const thread_report *report, const store_filter *filter)
{
    (void)filter;
    return json_locks(report);
}

void api_locks(void *context, const http_request *request, http_response *response)
{
    static const thread_route route = {QUERY_THREADS, query_locks, show_locks, true};

    answer(&route, context, request, response);
}

static query_code read_deadlocks(const query *q, const store_filter *filter, thread_report *out,
                                 query_meta *meta, store_error *err)
{
    return query_deadlocks(q, filter, 0, out, meta, err);
}

static json_t *show_deadlocks(const thread_report *report, const store_filter *filter)
{
    (void)filter;
    return json_deadlocks(report);
}

void api_deadlocks(void *context, const http_request *request, http_response *response)
{
    static const thread_route route = {QUERY_DEADLOCKS, read_deadlocks, show_deadlocks, false};

    answer(&route, context, request, response);
}

/* Reads "<16 digits>-<16 digits>"; returns false for anything else. */
static bool read_id(const char *input, uint64_t *target, uint64_t *cycle)
{
    return strlen(input) == 33 && input[16] == '-' && hex_read_number(target, input) &&
           hex_read_number(cycle, input + 17);
}

void api_deadlock(void *context, const http_request *request, http_response *response)
{
    thread_report report = {.sources = NULL};
    uint64_t cycle = 0;
    call c;

    if (call_begin(&c, QUERY_DEADLOCKS, context, request, response) && call_may_ask(&c)) {
        query_code code = QUERY_NOT_FOUND;
        if (read_id(http_request_param(request, 0), &c.params.filter.target, &cycle))
            code =
                query_deadlocks(&c.api->query, &c.params.filter, cycle, &report, &c.meta, &c.err);
        if (code == QUERY_OK && report.deadlock_count == 0)
            code = QUERY_NOT_FOUND;
        if (code == QUERY_OK)
            call_send_tagged(&c, json_deadlock(&report));
        else
            call_fail(&c, code);
    }
    thread_report_free(&report);
    call_end(&c);
}
