/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/httpapi/api.h: the backend's HTTP routes, which call the core's use cases.
 *
 * Every route but /healthz, /readyz and POST /v1/session requires a token or a session before a
 * byte of the body is read. Contract: docs/formats/ingest.md, docs/reference/query-api.md.
 */
#ifndef BACKEND_API_H
#define BACKEND_API_H

#include <http/assets.h>
#include <http/server.h>

#include "auth/auth.h"
#include "ingest.h"
#include "metrics/metrics.h"
#include "pacing.h"
#include "query.h"
#include "rollups.h"
#include "room.h"

/* PAYLOAD_COST: bytes of memory per unpacked byte of a payload: the byte itself, its copy in the
 * body's message, and eight in columns. PAYLOADS_AT_ONCE: how many payloads of the greatest size
 * may be processed at the same time; of smaller ones more. */
enum { API_ROUTES_MAX = 32, PAYLOAD_COST = 10, PAYLOADS_AT_ONCE = 2 };

typedef struct api api;

/* The context of a route's functions. */
typedef struct api_route {
    api *api;
    const char *name; /* the route's name in metrics */
    bool for_collectors;
    bool for_users;
} api_route;

struct api {
    ingest ingest;
    query query;
    auth *auth;           /* sessions and logins */
    admission *admission; /* tokens */
    metrics *metrics;
    rollups *rollups;
    const http_assets *assets; /* NULL: this backend serves no page */
    bool secure_cookie;        /* browsers reach the page over https */
    bool (*store_ready)(void *context);
    void *store_context;
    _Atomic(http_server *) server; /* NULL until the server runs; its counters go to /metrics */

    room batches; /* being processed or waiting for the store; the caller sets most */
    room queries; /* being processed or waiting for a connection; the caller sets most */
    room room;    /* bytes of payloads being processed; api_init sets it and the next members */
    pacing pace;  /* of batches */
    http_route routes[API_ROUTES_MAX];
    api_route contexts[API_ROUTES_MAX];
    size_t route_count;
};

/* Fills routes; the members above it must be set, and must not change later. */
void api_init(api *a);

/* ---- the handlers, by file; context is an api_route ---- */

/* guard.c */
bool api_admit(void *context, http_request *request, http_response *response);
const principal *api_who(const http_request *request);
/* Sets the cookie of a session. */
void api_set_session(const api *a, http_response *response, const char *session, unsigned seconds);
/* Returns false, with the response filled, when a page of another origin sent the request. */
bool api_same_origin(const http_request *request, http_response *response);

/* ingest_api.c */
void api_ingest_profiles(void *context, const http_request *request, http_response *response);
void api_ingest_status(void *context, const http_request *request, http_response *response);
void api_ingest_heartbeat(void *context, const http_request *request, http_response *response);
void api_ingest_refuse(void *context, http_refuse_reason reason, http_response *response);

/* session_api.c */
void api_session_open(void *context, const http_request *request, http_response *response);
void api_session_close(void *context, const http_request *request, http_response *response);

/* query_api.c */
void api_services(void *context, const http_request *request, http_response *response);
void api_service(void *context, const http_request *request, http_response *response);
void api_flamegraph(void *context, const http_request *request, http_response *response);
void api_top(void *context, const http_request *request, http_response *response);
void api_timeline(void *context, const http_request *request, http_response *response);
void api_status(void *context, const http_request *request, http_response *response);

/* ingestion_api.c */
void api_collectors(void *context, const http_request *request, http_response *response);
void api_ingestion(void *context, const http_request *request, http_response *response);
void api_retention(void *context, const http_request *request, http_response *response);

/* threads/threads_api.c */
void api_threads(void *context, const http_request *request, http_response *response);
void api_lanes(void *context, const http_request *request, http_response *response);
void api_thread(void *context, const http_request *request, http_response *response);
void api_locks(void *context, const http_request *request, http_response *response);
void api_deadlocks(void *context, const http_request *request, http_response *response);
void api_deadlock(void *context, const http_request *request, http_response *response);

/* health_api.c */
void api_healthz(void *context, const http_request *request, http_response *response);
void api_readyz(void *context, const http_request *request, http_response *response);
void api_metrics(void *context, const http_request *request, http_response *response);

#define API_SESSION_COOKIE "hotstack_session"

#endif
