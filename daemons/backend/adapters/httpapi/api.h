/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/httpapi/api.h: the backend's HTTP routes over the core's use cases.
 *
 * Every route but /healthz, /readyz and POST /v1/session asks for a token or a session before a
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

/* A byte of payload, unpacked: itself, its copy in the body's message, and eight in columns.
 * Payloads of the greatest size that may be in work at once; more of smaller ones. */
enum { API_ROUTES_MAX = 32, PAYLOAD_COST = 10, PAYLOADS_AT_ONCE = 2 };

typedef struct api api;

/* What a route's functions get. */
typedef struct api_route {
    api *api;
    const char *name; /* in metrics */
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
    const http_assets *assets; /* NULL: this backend has no page */
    bool secure_cookie;        /* the page is reached by https */
    bool (*store_ready)(void *context);
    void *store_context;
    _Atomic(http_server *) server; /* NULL until it runs; its counters go to /metrics */

    room batches; /* in work, or waiting for the store; most is set by the caller */
    room queries; /* in work, or waiting for a connection; most is set by the caller */
    room room;    /* of payloads in work; filled by api_init, as are these: */
    pacing pace;  /* of batches */
    http_route routes[API_ROUTES_MAX];
    api_route contexts[API_ROUTES_MAX];
    size_t route_count;
};

/* Fills routes; everything above must be set and stay. */
void api_init(api *a);

/* ---- the handlers, by file; context is an api_route ---- */

/* guard.c */
bool api_admit(void *context, http_request *request, http_response *response);
const principal *api_who(const http_request *request);
/* Sets the cookie of a session. */
void api_set_session(const api *a, http_response *response, const char *session, unsigned seconds);
/* False, with the response filled, when a page of another origin sent this. */
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
