/* SPDX-License-Identifier: Apache-2.0 */
#include "web.h"

#include "metrics.h"

#include <base/clock.h>
#include <base/log.h>
#include <http/server.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WEB_TOKEN_MAX = 512, BODY_MAX = 4096 };

struct web {
    http_server *server;
    shown_sources sources;
    pthread_mutex_t lock;          /* of token */
    char token[WEB_TOKEN_MAX + 1]; /* "" = none */
    http_route routes[5];
};

static void show_metrics(void *context, const http_request *request, http_response *response)
{
    (void)request;
    size_t length = 0;
    const web *self = context;
    char *text = metrics_page(&self->sources, &length);
    if (text == NULL)
        http_response_status(response, 500);
    else
        http_response_take(response, "text/plain; version=0.0.4; charset=utf-8", text, length);
}

static void show_health(void *context, const http_request *request, http_response *response)
{
    (void)context;
    (void)request;
    http_response_copy(response, "text/plain", "ok\n", 3);
}

static void show_readiness(void *context, const http_request *request, http_response *response)
{
    (void)request;
    const shown_sources *from = &((const web *)context)->sources;
    bool ready = collector_get_stats(from->core).attachd_reachable &&
                 !uploader_get_stats(from->uploads).blocked;
    http_response_status(response, ready ? 200 : 503);
    if (ready)
        http_response_copy(response, "text/plain", "ready\n", 6);
    else
        http_response_copy(response, "text/plain", "not ready\n", 10);
}

/* Compares in a time that does not reveal how much of the token was right. */
static bool is_same(const char *given, const char *wanted)
{
    size_t length = strlen(wanted);
    volatile unsigned bits = 0;
    if (strlen(given) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        bits = bits | (unsigned)((unsigned char)given[i] ^ (unsigned char)wanted[i]);
    return bits == 0;
}

static bool refuse(http_response *response)
{
    http_response_error(response, 401, "unauthorised",
                        "This call needs the token of listen.token as a bearer token.");
    http_response_header(response, "WWW-Authenticate", "Bearer");
    return false;
}

/* Admits a request. If there is a token, the request must carry it; else `open` says whether it is
 * admitted. */
static bool admit(web *self, const http_request *request, http_response *response, bool open)
{
    static const char scheme[] = "Bearer ";
    char token[WEB_TOKEN_MAX + 1];
    const char *field = http_request_header(request, "Authorization");
    pthread_mutex_lock(&self->lock);
    memcpy(token, self->token, sizeof(token));
    pthread_mutex_unlock(&self->lock);
    if (token[0] == '\0') {
        if (!open)
            http_response_error(response, 403, "no_token",
                                "Calls are closed, as listen.token of this collector is not set.");
        return open;
    }
    return (field != NULL && strncasecmp(field, scheme, sizeof(scheme) - 1) == 0 &&
            is_same(field + sizeof(scheme) - 1, token)) ||
           refuse(response);
}

/* Admits readers. Metrics name workloads, so that a token, where there is one, protects them. */
static bool admit_reader(void *context, http_request *request, http_response *response)
{
    return admit(context, request, response, true);
}

/* Admits calls that change something. Without a token, nobody may make them. */
static bool admit_caller(void *context, http_request *request, http_response *response)
{
    return admit(context, request, response, false);
}

static const char start_form[] = "The body is {\"pid\": N, \"seconds\": 1 to 86400, \"events\": "
                                 "\"cpu,alloc=2m\"}; events may be "
                                 "left out.";

static void answer_demand(http_response *response, collector_demand outcome)
{
    if (outcome == DEMAND_NO_JVM)
        http_response_error(response, 404, "no_such_jvm",
                            "This collector sees no JVM of that pid, or does not profile it on "
                            "demand.");
    else if (outcome == DEMAND_OFF)
        http_response_error(response, 409, "switched_off",
                            "A rule or an annotation says off for this JVM, or its pod is not "
                            "known.");
    else
        http_response_copy(response, "application/json", "{}\n", 3);
}

static json_t *read_body(const http_request *request)
{
    json_error_t error;
    size_t length = 0;
    const char *body = http_request_body(request, &length);
    return json_loadb(body, length, JSON_REJECT_DUPLICATES, &error);
}

static void start_profile(void *context, const http_request *request, http_response *response)
{
    const web *self = context;
    char message[256] = "";
    const char *events = "cpu,alloc,lock";
    event_intervals wanted;
    json_int_t pid = 0, seconds = 0;
    json_t *body = read_body(request);
    int rc = body != NULL ? json_unpack(body, "{s:I, s:I, s?s !}", "pid", &pid, "seconds", &seconds,
                                        "events", &events)
                          : -1;
    if (rc != 0 || pid < 1 || pid > INT32_MAX || seconds < 1 || seconds > 86400) {
        http_response_error(response, 400, "bad_request", start_form);
    } else if (events_parse(&wanted, events, message, sizeof(message)) != 0) {
        http_response_error(response, 400, "bad_events", message);
    } else {
        uint64_t until = clock_unix_ms(NULL) + (uint64_t)seconds * 1000;
        collector_demand outcome =
            collector_profile_until(self->sources.core, (uint32_t)pid, &wanted, until);
        log_line("a call from %s: profile pid %lld for %lld s: %s", http_request_peer(request),
                 (long long)pid, (long long)seconds, outcome == DEMAND_TAKEN ? "taken" : "refused");
        answer_demand(response, outcome);
    }
    json_decref(body);
}

static void stop_profile(void *context, const http_request *request, http_response *response)
{
    const web *self = context;
    json_int_t pid = 0;
    json_t *body = read_body(request);
    if (body == NULL || json_unpack(body, "{s:I !}", "pid", &pid) != 0 || pid < 1 ||
        pid > INT32_MAX) {
        http_response_error(response, 400, "bad_request", "The body is {\"pid\": N}.");
    } else {
        collector_demand outcome = collector_profile_stop(self->sources.core, (uint32_t)pid);
        log_line("a call from %s: profile pid %lld no longer: %s", http_request_peer(request),
                 (long long)pid, outcome == DEMAND_TAKEN ? "taken" : "refused");
        answer_demand(response, outcome);
    }
    json_decref(body);
}

static void set_routes(web *self)
{
    const http_route routes[] = {
        {.method = "GET", .pattern = "/metrics", .admit = admit_reader, .handle = show_metrics},
        {.method = "GET", .pattern = "/healthz", .handle = show_health},
        {.method = "GET", .pattern = "/readyz", .handle = show_readiness},
        {.method = "POST",
         .pattern = "/v1/profile/start",
         .body_limit = BODY_MAX,
         .admit = admit_caller,
         .handle = start_profile},
        {.method = "POST",
         .pattern = "/v1/profile/stop",
         .body_limit = BODY_MAX,
         .admit = admit_caller,
         .handle = stop_profile},
    };
    _Static_assert(sizeof(routes) == sizeof(self->routes), "one place a route");
    memcpy(self->routes, routes, sizeof(routes));
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
        self->routes[i].context = self;
}

int web_set_token(web *self, const char *token, char *message, size_t size)
{
    if (strlen(token) > WEB_TOKEN_MAX) {
        (void)snprintf(message, size, "listen.token is longer than %d bytes", WEB_TOKEN_MAX);
        return -1;
    }
    pthread_mutex_lock(&self->lock);
    (void)snprintf(self->token, sizeof(self->token), "%s", token);
    pthread_mutex_unlock(&self->lock);
    return 0;
}

static void free_web(web *self)
{
    pthread_mutex_destroy(&self->lock);
    free(self);
}

int web_start(web **out, const char *address, uint16_t port, const char *token,
              const shown_sources *sources, char *message, size_t size)
{
    *out = NULL;
    web *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        (void)snprintf(message, size, "out of memory");
        return -1;
    }
    self->sources = *sources;
    pthread_mutex_init(&self->lock, NULL);
    if (web_set_token(self, token, message, size) != 0) {
        free_web(self);
        return -1;
    }
    set_routes(self);
    http_server_options options = HTTP_SERVER_OPTIONS_INIT;
    options.address = address;
    options.port = port;
    options.routes = self->routes;
    options.route_count = sizeof(self->routes) / sizeof(self->routes[0]);
    options.connections = 64;
    options.connections_per_address = 32;
    options.workers = 1;
    options.admitters = 1;
    http_error err = {0};
    if (http_server_start(&self->server, &options, &err) != 0) {
        (void)snprintf(message, size, "%s", err.message);
        free_web(self);
        return -1;
    }
    *out = self;
    return 0;
}

void web_stop(web *self)
{
    enum { GRACE_MS = 1000 };
    if (self == NULL)
        return;
    http_server_stop(self->server, GRACE_MS);
    free_web(self);
}
