/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/ingest/...: makes the checks 2 to 4 of docs/formats/ingest.md, section Order of checks,
 * then calls the core. */
#include <base/clock.h>
#include <base/log.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api.h"
#include "inflate.h"
#include "verdict_status.h"
#include <contract/wire/decode.h>

static const char media_type[] = "application/x-protobuf";

/* A payload that is being received. */
typedef struct payload {
    api *api;
    ingest_sender from;
    const char *data;
    size_t length;
    char *inflated; /* owned; NULL when the body was not compressed */
    size_t taken;   /* its share of the room */
    bool is_batch, is_decoded;
    verdict v;
} payload;

static void count(const api_route *route, const verdict *v)
{
    metrics *m = route->api->metrics;

    metrics_add(m, METRIC_INGEST_CALLS, route->name, outcome_name(v->outcome), 1);
    if (v->outcome == OUTCOME_REJECTED || v->outcome == OUTCOME_RETRY)
        metrics_add(m, METRIC_INGEST_REFUSED, v->code, NULL, 1);
    metrics_add(m, METRIC_INGEST_ROWS, NULL, NULL, v->rows);
}

static void answer(const api_route *route, verdict *v, const ingest_limits *limits,
                   http_response *response)
{
    size_t length = 0;
    int status = verdict_status(v);

    count(route, v);
    if (v->outcome == OUTCOME_REJECTED || v->outcome == OUTCOME_RETRY)
        log_line("ingest %s: %s: %s", outcome_name(v->outcome), v->code, v->message);
    if (status == 413)
        limits = &route->api->ingest.limits;
    void *body = proto_encode_answer(&length, v, limits);
    if (v->outcome == OUTCOME_RETRY)
        http_response_retry_after(response, (v->retry_after_ms + 999) / 1000);
    if (body == NULL) {
        http_response_error(response, 503, "over_capacity", "No memory for an answer.");
    } else {
        http_response_status(response, status);
        http_response_take(response, media_type, body, length);
    }
    verdict_clear(v);
}

void api_ingest_refuse(void *context, http_refuse_reason reason, http_response *response)
{
    const api_route *route = context;
    const api *a = route->api;
    verdict v = {0};

    if (reason == HTTP_REFUSE_TOO_LARGE)
        verdict_reject(&v, "payload_too_large", "The body is longer than %llu bytes as sent.",
                       (unsigned long long)a->ingest.limits.compressed_bytes);
    else
        verdict_retry(&v, "over_capacity", 1000, "The backend has no memory for this body now.");
    answer(route, &v, NULL, response);
}

/* Takes room for a payload of so many bytes, which it keeps until its answer. */
static int take_room(payload *p, size_t bytes)
{
    if (!room_take(&p->api->room, PAYLOAD_COST * bytes))
        return verdict_retry(&p->v, "over_capacity", 1000,
                             "The backend has no memory to unpack %zu bytes now.", bytes);
    p->taken = PAYLOAD_COST * bytes;
    return 0;
}

static int inflate(payload *p)
{
    size_t size = inflate_size(p->data, p->length, (size_t)p->api->ingest.limits.payload_bytes);

    if (take_room(p, size) != 0)
        return -1;
    int rc = inflate_zstd(&p->inflated, &p->length, p->data, p->length, size, &p->v);
    p->data = p->inflated;
    return rc;
}

/* Makes the checks 2 and 3. */
static int open_payload(payload *p, const http_request *request)
{
    const char *type = http_request_header(request, "Content-Type");
    const char *coding = http_request_header(request, "Content-Encoding");
    const ingest_limits *limits = &p->api->ingest.limits;

    p->data = http_request_body(request, &p->length);
    if (type == NULL || strcasecmp(type, media_type) != 0)
        return verdict_reject(&p->v, "unsupported_encoding", "Content-Type must be %s.",
                              media_type);
    if (coding != NULL && strcasecmp(coding, "zstd") == 0)
        return inflate(p);
    if (coding != NULL && strcasecmp(coding, "identity") != 0)
        return verdict_reject(&p->v, "unsupported_encoding",
                              "Content-Encoding must be zstd or identity.");
    if (p->length > limits->payload_bytes)
        return verdict_reject(&p->v, "payload_too_large", "The body is longer than %llu bytes.",
                              (unsigned long long)limits->payload_bytes);
    return take_room(p, p->length);
}

/* Each returns false when the token's scope forbids the payload's cluster. */
static bool take_profiles(payload *p)
{
    proto_decoded *decoded = NULL;
    profile_batch batch;
    bool allowed = true;

    p->is_decoded = proto_decode_batch(&decoded, &batch, p->data, p->length, &p->v) == 0;
    if (p->is_decoded)
        allowed = ingest_profiles(&p->api->ingest, &batch, &p->from, &p->v);
    profile_batch_clear(&batch);
    proto_decoded_free(decoded);
    return allowed;
}

static bool take_status(payload *p)
{
    proto_decoded *decoded = NULL;
    status_batch report;
    bool allowed = true;

    if (proto_decode_status(&decoded, &report, p->data, p->length, &p->v) == 0)
        allowed = ingest_status(&p->api->ingest, &report, &p->from, &p->v);
    status_batch_clear(&report);
    proto_decoded_free(decoded);
    return allowed;
}

static bool take_heartbeat(payload *p)
{
    proto_decoded *decoded = NULL;
    heartbeat beat;
    bool allowed = true;

    if (proto_decode_heartbeat(&decoded, &beat, p->data, p->length, &p->v) == 0)
        allowed = ingest_heartbeat(&p->api->ingest, &beat, &p->from, &p->v);
    proto_decoded_free(decoded);
    return allowed;
}

/* Returns true unless the token's scope forbids the payload's cluster. */
static bool open_and_take(payload *p, const http_request *request, bool (*take_message)(payload *p))
{
    bool allowed = open_payload(p, request) != 0 || take_message(p);

    if (p->is_batch && !p->is_decoded)
        ingest_unreadable(&p->api->ingest, &p->from, &p->v);

    free(p->inflated);
    room_give(&p->api->room, p->taken);
    return allowed;
}

/* Applies the same limit to bytes waiting for the store, so that a slow store costs no more memory.
 */
static bool enter(payload *p, const http_request *request, bool (*take_message)(payload *p))
{
    api *a = p->api;
    uint64_t now_ms = a->ingest.now_ms(a->ingest.clock);

    if (!room_take(&a->batches, 1)) {
        verdict_retry(&p->v, "store_busy", pacing_refuse(&a->pace, now_ms),
                      "The queue to the store is full: send the batch again later.");
        ingest_unreadable(&a->ingest, &p->from, &p->v);
        return true;
    }
    pacing_admit(&a->pace, now_ms);
    bool allowed = open_and_take(p, request, take_message);
    room_give(&a->batches, 1);
    return allowed;
}

static payload begin(const api_route *route, const principal *who)
{
    payload p = {.api = route->api, .from = {.name = who->name, .allowed = &who->scope}};

    p.v.code = "";
    return p;
}

/* Fills the response, and adds the limits to answers that carry them. */
static void end(const api_route *route, payload *p, bool allowed, const ingest_limits *limits,
                uint64_t began_ns, http_response *response)
{
    metrics_observe(p->api->metrics, METRIC_INGEST_SECONDS, route->name,
                    clock_monotonic_ns() - began_ns);
    if (allowed) {
        answer(route, &p->v, limits, response);
        return;
    }
    log_line("refused: %s sent data of a cluster outside its scope", p->from.name);
    http_response_error(response, 403, "forbidden_scope",
                        "The token's scope does not allow this cluster.");
}

void api_ingest_profiles(void *context, const http_request *request, http_response *response)
{
    uint64_t began_ns = clock_monotonic_ns();
    payload p = begin(context, api_who(request));

    p.is_batch = true;
    bool allowed = enter(&p, request, take_profiles);
    end(context, &p, allowed, NULL, began_ns, response);
}

void api_ingest_status(void *context, const http_request *request, http_response *response)
{
    uint64_t began_ns = clock_monotonic_ns();
    payload p = begin(context, api_who(request));
    bool allowed = open_and_take(&p, request, take_status);

    end(context, &p, allowed, NULL, began_ns, response);
}

void api_ingest_heartbeat(void *context, const http_request *request, http_response *response)
{
    uint64_t began_ns = clock_monotonic_ns();
    payload p = begin(context, api_who(request));
    ingest_limits limits = p.api->ingest.limits;
    bool allowed = open_and_take(&p, request, take_heartbeat);

    limits.flush_interval_ms = reports_flush_interval(p.api->ingest.reports);
    end(context, &p, allowed, &limits, began_ns, response);
}
