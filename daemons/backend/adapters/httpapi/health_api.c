/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "api.h"

void api_healthz(void *context, const http_request *request, http_response *response)
{
    (void)context, (void)request;
    http_response_copy(response, "text/plain", "ok\n", 3);
}

/*
 * The backend is ready when it takes calls. With its store down it takes them and asks to retry; if
 * it were not ready then, collectors would not get that answer.
 */
void api_readyz(void *context, const http_request *request, http_response *response)
{
    (void)context, (void)request;
    http_response_copy(response, "text/plain", "ready\n", 6);
}

/* A metric without labels. */
typedef struct figure {
    metric_id id;
    uint64_t value;
} figure;

static void set_all(const api *a, const figure *figures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        metrics_set(a->metrics, figures[i].id, NULL, figures[i].value);
}

#define SET_ALL(a, figures) set_all(a, figures, sizeof(figures) / sizeof((figures)[0]))

static void set_server(const api *a)
{
    http_server_stats s = {0};
    /* The server may take a call before the program has stored its handle. */
    const http_server *server = atomic_load(&a->server);

    if (server != NULL)
        http_server_get_stats(server, &s);
    const figure figures[] = {
        {METRIC_HTTP_CONNECTIONS, s.open},
        {METRIC_HTTP_BODY_BYTES, s.body_bytes},
        {METRIC_HTTP_ACCEPTED, s.accepted},
        {METRIC_HTTP_CONNECTIONS_REFUSED, s.refused_connections},
        {METRIC_HTTP_REQUESTS, s.requests},
        {METRIC_HTTP_REQUESTS_REFUSED, s.refused_requests},
        {METRIC_HTTP_TIMEOUTS, s.timeouts},
    };
    SET_ALL(a, figures);
}

static void set_stacks(const api *a)
{
    known_stacks_stats known = known_stacks_read(a->ingest.known);
    stack_cache_stats cached = stack_cache_read(a->query.stacks);
    const figure figures[] = {
        {METRIC_CACHED_STACKS, cached.stacks},
        {METRIC_CACHED_STACKS_BYTES, cached.bytes},
        {METRIC_CACHED_STACKS_HITS, cached.hits},
        {METRIC_CACHED_STACKS_MISSES, cached.misses},
        {METRIC_CACHED_STACKS_EVICTIONS, cached.evictions},
        {METRIC_KNOWN_STACKS, known.stacks},
        {METRIC_KNOWN_STACKS_HITS, known.hits},
        {METRIC_KNOWN_STACKS_MISSES, known.misses},
    };
    SET_ALL(a, figures);
}

static void set_rollups(const api *a)
{
    rollup_stats s = rollups_read(a->rollups);
    const figure figures[] = {
        {METRIC_ROLLUP_PASSES, s.passes},     {METRIC_ROLLUP_HOURS, s.hours},
        {METRIC_ROLLUP_FAILURES, s.failures}, {METRIC_ROLLUP_DRIFT, s.drifted},
        {METRIC_ROLLUP_DIRTY, s.dirty},       {METRIC_ROLLUP_FRESH, s.last_ms / 1000},
    };
    SET_ALL(a, figures);
}

static void set_reports(const api *a)
{
    reports_stats s = reports_read(a->ingest.reports);
    const figure figures[] = {
        {METRIC_REPORT_WRITES, s.flushes},
        {METRIC_REPORT_FAILURES, s.failures},
        {METRIC_REFUSALS_SUMMED, s.summed},
        {METRIC_COLLECTORS, s.collectors},
        {METRIC_FLUSH_INTERVAL, s.flush_interval_ms / 1000},
    };
    SET_ALL(a, figures);
}

static void set_auth(const api *a)
{
    admission_stats s = admission_read(a->admission);
    const figure figures[] = {
        {METRIC_AUTH_TOKENS, auth_tokens(a->auth)},
        {METRIC_AUTH_KEPT, s.kept},
        {METRIC_AUTH_HITS, s.hits},
        {METRIC_AUTH_MISSES, s.misses},
        {METRIC_AUTH_UNDECIDED, s.undecided},
    };
    SET_ALL(a, figures);
}

void api_metrics(void *context, const http_request *request, http_response *response)
{
    api *a = ((const api_route *)context)->api;
    size_t length;

    (void)request;
    set_server(a);
    set_stacks(a);
    set_rollups(a);
    set_reports(a);
    set_auth(a);
    metrics_set(a->metrics, METRIC_STORE_READY, NULL, a->store_ready(a->store_context) ? 1 : 0);
    char *page = metrics_text(a->metrics, &length);
    if (page == NULL)
        http_response_error(response, 503, "over_capacity", "No memory for the metrics.");
    else
        http_response_take(response, "text/plain; version=0.0.4; charset=utf-8", page, length);
}
