/* SPDX-License-Identifier: Apache-2.0 */
#include "web.h"

#include "sandbox.h"

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
    web_sources sources;
    pthread_mutex_t lock;          /* of the token */
    char token[WEB_TOKEN_MAX + 1]; /* "" = none */
    http_route routes[5];
};

static void metric(FILE *to, const char *name, const char *kind, const char *help, uint64_t value)
{
    (void)fprintf(to,
                  "# HELP hotstack_collector_%s %s\n# TYPE hotstack_collector_%s %s\n"
                  "hotstack_collector_%s %llu\n",
                  name, help, name, kind, name, (unsigned long long)value);
}

static void seconds(FILE *to, const char *name, const char *help, uint64_t ms)
{
    (void)fprintf(to,
                  "# HELP hotstack_collector_%s %s\n# TYPE hotstack_collector_%s counter\n"
                  "hotstack_collector_%s %llu.%03llu\n",
                  name, help, name, name, (unsigned long long)ms / 1000,
                  (unsigned long long)ms % 1000);
}

static void typed(FILE *to, const char *name, const char *help, const profile_sum *sums)
{
    (void)fprintf(to, "# HELP hotstack_collector_%s %s\n# TYPE hotstack_collector_%s counter\n",
                  name, help, name);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        (void)fprintf(to, "hotstack_collector_%s{type=\"%s\"} %llu\n", name,
                      profile_type_get(type)->name,
                      (unsigned long long)profile_sum_raw(sums, type));
}

static void drops(FILE *to, const queue_stats *queued)
{
    (void)fprintf(to, "# HELP hotstack_collector_queue_dropped_total Batches lost, by cause.\n"
                      "# TYPE hotstack_collector_queue_dropped_total counter\n");
    for (unsigned cause = 1; cause < DROP_END; cause++)
        (void)fprintf(to, "hotstack_collector_queue_dropped_total{cause=\"%s\"} %llu\n",
                      drop_cause_get(cause)->name,
                      (unsigned long long)queued->drops[cause].entries);
}

static void outcomes(FILE *to, const uploader_stats *stats)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"accepted", stats->accepted},       {"duplicate", stats->duplicate},
        {"rejected", stats->rejected},       {"retry", stats->retried},
        {"need_stacks", stats->need_stacks}, {"split", stats->split},
    };
    (void)fprintf(to, "# HELP hotstack_collector_batch_answers_total Answers to batches.\n"
                      "# TYPE hotstack_collector_batch_answers_total counter\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        (void)fprintf(to, "hotstack_collector_batch_answers_total{outcome=\"%s\"} %llu\n",
                      rows[i].name, (unsigned long long)rows[i].value);
}

static void write_kubernetes(FILE *to, const kubernetes *from, uint64_t unknown)
{
    pods_stats stats = pods_get_stats(kubernetes_pods(from));
    watch_stats of_pods = kubernetes_watch_stats(from, POD_KIND_POD);
    watch_stats of_spaces = kubernetes_watch_stats(from, POD_KIND_NAMESPACE);
    metric(to, "pods", "gauge", "Pods of this node that are known.", stats.pods);
    metric(to, "namespaces_with_settings", "gauge", "Namespaces with hotstack.dev settings.",
           stats.namespaces);
    metric(to, "jvms_in_unknown_pods", "gauge", "JVMs whose pod is not known, left alone.",
           unknown);
    metric(to, "kubernetes_reachable", "gauge", "1 when the API server answered last.",
           !stats.has_trouble[POD_KIND_POD] && !stats.has_trouble[POD_KIND_NAMESPACE]);
    metric(to, "kubernetes_objects_refused_total", "counter",
           "Pods and namespaces past limits.pods or limits.namespaces.", stats.refused);
    metric(to, "kubernetes_lists_total", "counter", "Whole lists read.",
           of_pods.lists + of_spaces.lists);
    metric(to, "kubernetes_watches_total", "counter", "Watches begun.",
           of_pods.watches + of_spaces.watches);
    metric(to, "kubernetes_events_total", "counter", "Events of watches.",
           of_pods.events + of_spaces.events);
    metric(to, "kubernetes_failures_total", "counter", "Lists and watches that failed.",
           of_pods.failures + of_spaces.failures);
    metric(to, "kubernetes_versions_gone_total", "counter",
           "Versions that the API server no longer had, so that all was listed again.",
           of_pods.gone + of_spaces.gone);
}

static void write_metrics(FILE *to, const web_sources *from)
{
    collector_stats core = collector_get_stats(from->core);
    uploader_stats uploads = uploader_get_stats(from->uploads);
    queue_stats queued = queue_get_stats(from->queued);
    (void)fprintf(to, "# HELP hotstack_collector_build_info 1; the label tells the version.\n"
                      "# TYPE hotstack_collector_build_info gauge\n"
                      "hotstack_collector_build_info{version=\"" HOTSTACK_VERSION "\"} 1\n");
    metric(to, "jvms", "gauge", "JVMs seen on this host.", core.jvms);
    metric(to, "jvms_profiled", "gauge", "JVMs with a session that gives windows.", core.profiling);
    metric(to, "attachd_reachable", "gauge", "1 when attachd answered last.",
           core.attachd_reachable);
    metric(to, "attachd_lacks", "gauge",
           "Findings of attachd's self-check, as missing capabilities; the log has them.",
           core.attachd_lacks);
    metric(to, "attach_workers_unreaped", "gauge",
           "Attach workers that attachd killed and that have not ended; no more than 16 may be.",
           core.workers_unreaped);
    metric(to, "lanes_running", "gauge",
           "Sessions and thread snapshots that are worked on now, each on a thread of its own.",
           core.lanes_running);
    metric(to, "lanes_waiting", "gauge",
           "Sessions and thread snapshots that are due and wait, for limits.lanes or a thread.",
           core.lanes_waiting);
    metric(to, "thread_failures_total", "counter", "Jobs put off for want of a thread.",
           core.thread_failures);
    metric(to, "discoveries_total", "counter", "Looks at the host.", core.discoveries);
    metric(to, "discovery_failures_total", "counter", "Of them failed.", core.discovery_failures);
    metric(to, "session_starts_total", "counter", "Sessions asked for.", core.starts);
    metric(to, "session_start_failures_total", "counter", "Of them failed.", core.start_failures);
    metric(to, "windows_total", "counter", "Windows read.", core.windows);
    metric(to, "windows_lost_total", "counter",
           "Windows of which nothing was recorded, sent with the reason.", core.windows_lost);
    metric(to, "windows_failed_total", "counter", "Windows that attachd could not end.",
           core.windows_failed);
    metric(to, "parse_failures_total", "counter", "Recordings that could not be read.",
           core.parse_failures);
    metric(to, "snapshots_total", "counter", "Thread snapshots asked for.", core.snapshots);
    metric(to, "snapshot_failures_total", "counter", "Of them failed.", core.snapshot_failures);
    metric(to, "snapshots_short_total", "counter",
           "Thread snapshots that list fewer threads than the JVM has.", core.snapshots_short);
    metric(to, "recording_bytes_total", "counter", "Bytes of recordings read.",
           core.recording_bytes);
    seconds(to, "window_seconds_total", "Nominal length of all windows read.", core.window_ms);
    seconds(to, "covered_seconds_total", "Of it really recorded.", core.covered_ms);
    metric(to, "dropped_events_total", "counter", "Events that the profilers in JVMs dropped.",
           core.dropped_events);
    metric(to, "excess_events_total", "counter",
           "Events past limits.events of their window, summed as [dropped].", core.excess_events);
    metric(to, "batches_total", "counter", "Batches put into the queue.", core.batches);
    metric(to, "queue_failures_total", "counter", "Batches that could not be written, lost.",
           core.queue_failures);
    metric(to, "queue_bytes", "gauge", "Bytes that wait for the backend.", queued.bytes);
    metric(to, "queue_batches", "gauge", "Batches that wait for the backend.", queued.entries);
    metric(to, "queue_oldest_timestamp_seconds", "gauge",
           "When the oldest batch that waits was cut; 0: none waits.", queued.oldest_ms / 1000);
    drops(to, &queued);
    metric(to, "refused_system_calls_total", "counter",
           "System calls that the collector's own seccomp filter refused; the log names them.",
           sandbox_refusals());
    outcomes(to, &uploads);
    metric(to, "upload_failures_total", "counter", "Calls without a good answer.",
           uploads.failed_calls);
    metric(to, "flush_interval_seconds", "gauge",
           "Time in which one batch is cut, as the backend said last; 0: it has not.",
           uploads.flush_interval_ms / 1000);
    metric(to, "upload_blocked", "gauge", "1 while the backend refuses the token.",
           uploads.blocked);
    metric(to, "upload_bytes_total", "counter", "Bytes of bodies sent, compressed.",
           transport_sent_bytes(from->http));
    metric(to, "rows_sent_total", "counter", "Sample rows that the backend acknowledged.",
           uploads.rows);
    typed(to, "raw_recorded_total", "Recorded, in the type's unit, before estimates.",
          core.recorded);
    typed(to, "raw_sent_total", "The same of what the backend acknowledged.", uploads.sent);
    if (from->kubernetes != NULL)
        write_kubernetes(to, from->kubernetes, core.unknown_pods);
}

char *web_metrics(const web_sources *sources, size_t *length)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, length);
    if (to == NULL)
        return NULL;
    write_metrics(to, sources);
    (void)fclose(to);
    return text;
}

static void show_metrics(void *context, const http_request *request, http_response *response)
{
    (void)request;
    size_t length = 0;
    const web *self = context;
    char *text = web_metrics(&self->sources, &length);
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
    const web_sources *from = &((const web *)context)->sources;
    bool ready = collector_get_stats(from->core).attachd_reachable &&
                 !uploader_get_stats(from->uploads).blocked;
    http_response_status(response, ready ? 200 : 503);
    if (ready)
        http_response_copy(response, "text/plain", "ready\n", 6);
    else
        http_response_copy(response, "text/plain", "not ready\n", 10);
}

/* In a time that does not tell how much of the token was right. */
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

/* With a token, the request needs it; without one, `open` says whether it needs none. */
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

/* Metrics name workloads: where there is a token, they take it. */
static bool admit_reader(void *context, http_request *request, http_response *response)
{
    return admit(context, request, response, true);
}

/* What changes something is closed without a token. */
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
              const web_sources *sources, char *message, size_t size)
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
