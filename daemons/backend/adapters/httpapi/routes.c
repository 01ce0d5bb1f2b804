/* SPDX-License-Identifier: Apache-2.0 */
#include "api.h"

static void answer_asset(void *context, const http_request *request, http_response *response)
{
    const api *a = ((const api_route *)context)->api;

    if (a->assets != NULL)
        http_assets_answer(a->assets, request, response);
    else
        http_response_error(response, 404, "not_found",
                            "This backend has no page: set ui.dir to the directory of its files.");
}

typedef void handler(void *context, const http_request *request, http_response *response);

static http_route *add(api *a, const char *method, const char *pattern, handler *handle)
{
    api_route *context = &a->contexts[a->route_count];
    http_route *route = &a->routes[a->route_count++];

    *context = (api_route){.api = a, .name = pattern};
    *route = (http_route){.method = method,
                          .pattern = pattern,
                          .admit = api_admit,
                          .handle = handle,
                          .context = context};
    return route;
}

static void add_open(api *a, const char *method, const char *pattern, uint64_t body,
                     handler *handle)
{
    http_route *route = add(a, method, pattern, handle);

    route->body_limit = body;
    route->admit = NULL;
}

static void add_ingest(api *a, const char *pattern, const char *kind, handler *handle)
{
    http_route *route = add(a, "POST", pattern, handle);

    ((api_route *)route->context)->name = kind;
    route->body_limit = a->ingest.limits.compressed_bytes;
    route->refuse = api_ingest_refuse;
    ((api_route *)route->context)->for_collectors = true;
}

static void add_query(api *a, const char *method, const char *pattern, handler *handle)
{
    http_route *route = add(a, method, pattern, handle);

    ((api_route *)route->context)->for_users = true;
}

void api_init(api *a)
{
    a->route_count = 0;
    a->pace = (pacing)PACING_INIT;
    a->room.most = PAYLOADS_AT_ONCE * PAYLOAD_COST * (size_t)a->ingest.limits.payload_bytes;
    add_ingest(a, "/v1/ingest/profiles", "profiles", api_ingest_profiles);
    add_ingest(a, "/v1/ingest/status", "status", api_ingest_status);
    add_ingest(a, "/v1/ingest/heartbeat", "heartbeat", api_ingest_heartbeat);
    add_open(a, "POST", "/v1/session", 4096, api_session_open);
    add_query(a, "DELETE", "/v1/session", api_session_close);
    add_query(a, "GET", "/v1/services", api_services);
    add_query(a, "GET", "/v1/services/{}/{}", api_service);
    add_query(a, "GET", "/v1/flamegraph", api_flamegraph);
    add_query(a, "GET", "/v1/top", api_top);
    add_query(a, "GET", "/v1/timeline", api_timeline);
    add_query(a, "GET", "/v1/status", api_status);
    add_query(a, "GET", "/v1/collectors", api_collectors);
    add_query(a, "GET", "/v1/ingestion", api_ingestion);
    add_query(a, "GET", "/v1/retention", api_retention);
    add_query(a, "GET", "/v1/threads", api_threads);
    add_query(a, "GET", "/v1/threads/lanes", api_lanes);
    add_query(a, "GET", "/v1/threads/one", api_thread);
    add_query(a, "GET", "/v1/locks", api_locks);
    add_query(a, "GET", "/v1/deadlocks", api_deadlocks);
    add_query(a, "GET", "/v1/deadlocks/{}", api_deadlock);
    http_route *metrics_route = add(a, "GET", "/metrics", api_metrics);
    ((api_route *)metrics_route->context)->for_users = true;
    ((api_route *)metrics_route->context)->for_collectors = true;
    add_open(a, "GET", "/healthz", 0, api_healthz);
    add_open(a, "GET", "/readyz", 0, api_readyz);
    add_open(a, "GET", "/*", 0, answer_asset);
}
