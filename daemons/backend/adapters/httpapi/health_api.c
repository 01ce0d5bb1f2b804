/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "api.h"

void api_healthz(void *context, const http_request *request, http_response *response)
{
    (void)context, (void)request;
    http_response_copy(response, "text/plain", "ok\n", 3);
}

/*
 * Ready means: it takes calls. With its store down it still does, and answers retry: a backend that
 * went unready then would only hide that answer from the collectors.
 */
void api_readyz(void *context, const http_request *request, http_response *response)
{
    (void)context, (void)request;
    http_response_copy(response, "text/plain", "ready\n", 6);
}

static void set_server_gauges(api *a)
{
    http_server_stats s = {0};
    /* A call may come before the program has the server that took it. */
    const http_server *server = atomic_load(&a->server);

    if (server != NULL)
        http_server_get_stats(server, &s);
    const struct {
        metric_kind kind;
        const char *name, *help;
        uint64_t value;
    } rows[] = {
        {METRIC_GAUGE, "hotstack_backend_http_connections", "Open connections.", s.open},
        {METRIC_GAUGE, "hotstack_backend_http_body_bytes", "Bytes of request bodies held.",
         s.body_bytes},
        {METRIC_COUNTER, "hotstack_backend_http_connections_total", "Connections accepted.",
         s.accepted},
        {METRIC_COUNTER, "hotstack_backend_http_connections_refused_total",
         "Connections over the limits.", s.refused_connections},
        {METRIC_COUNTER, "hotstack_backend_http_requests_total", "Requests that passed the gate.",
         s.requests},
        {METRIC_COUNTER, "hotstack_backend_http_requests_refused_total",
         "Requests refused by the gate.", s.refused_requests},
        {METRIC_COUNTER, "hotstack_backend_http_timeouts_total", "Connections ended by a deadline.",
         s.timeouts},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        metrics_set(a->metrics, rows[i].kind, rows[i].name, rows[i].help, rows[i].value);
}

static void set_known_stacks(const api *a)
{
    known_stacks_stats s = known_stacks_read(a->ingest.known);

    metrics_set(a->metrics, METRIC_GAUGE, "hotstack_backend_known_stacks",
                "Stacks that the store is known to hold.", s.stacks);
    metrics_set(a->metrics, METRIC_COUNTER, "hotstack_backend_known_stacks_hits_total",
                "Stacks that the store was not asked for.", s.hits);
    metrics_set(a->metrics, METRIC_COUNTER, "hotstack_backend_known_stacks_misses_total",
                "Stacks that the store was asked for.", s.misses);
}

static void set_rollups(const api *a)
{
    rollup_stats s = rollups_read(a->rollups);
    const struct {
        metric_kind kind;
        const char *name, *help;
        uint64_t value;
    } rows[] = {
        {METRIC_COUNTER, "hotstack_backend_rollup_passes_total", "Looks for hours to sum.",
         s.passes},
        {METRIC_COUNTER, "hotstack_backend_rollup_hours_total", "Hours of services summed.",
         s.hours},
        {METRIC_COUNTER, "hotstack_backend_rollup_failures_total",
         "Looks for hours to sum that ended with an error.", s.failures},
        {METRIC_COUNTER, "hotstack_backend_rollup_drift_total",
         "Hourly sums that were not their windows' totals, and were made anew.", s.drifted},
        {METRIC_GAUGE, "hotstack_backend_rollup_dirty_hours",
         "Closed hours of services that wait to be summed.", s.dirty},
        {METRIC_GAUGE, "hotstack_backend_rollup_fresh_timestamp_seconds",
         "When all hours were last looked at; 0: not yet.", s.last_ms / 1000},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        metrics_set(a->metrics, rows[i].kind, rows[i].name, rows[i].help, rows[i].value);
}

static void set_auth(const api *a)
{
    admission_stats s = admission_read(a->admission);

    metrics_set(a->metrics, METRIC_GAUGE, "hotstack_backend_auth_tokens", "Tokens in force.",
                auth_tokens(a->auth));
    metrics_set(a->metrics, METRIC_GAUGE, "hotstack_backend_auth_kept",
                "Tokens whose holder is remembered.", s.kept);
    metrics_set(a->metrics, METRIC_COUNTER, "hotstack_backend_auth_kept_hits_total",
                "Calls whose token's holder was remembered.", s.hits);
    metrics_set(a->metrics, METRIC_COUNTER, "hotstack_backend_auth_kept_misses_total",
                "Calls whose token's holder had to be found out.", s.misses);
    metrics_set(a->metrics, METRIC_COUNTER, "hotstack_backend_auth_undecided_total",
                "Calls of which it could not be told in time who made them.", s.undecided);
}

void api_metrics(void *context, const http_request *request, http_response *response)
{
    api *a = ((const api_route *)context)->api;
    size_t length;

    (void)request;
    set_server_gauges(a);
    set_known_stacks(a);
    set_rollups(a);
    set_auth(a);
    metrics_set(a->metrics, METRIC_GAUGE, "hotstack_backend_store_ready",
                "1 when the store has been reached and has our schema.",
                a->store_ready(a->store_context) ? 1 : 0);
    char *page = metrics_text(a->metrics, &length);
    if (page == NULL)
        http_response_error(response, 503, "over_capacity", "No memory for the metrics.");
    else
        http_response_take(response, "text/plain; version=0.0.4; charset=utf-8", page, length);
}
