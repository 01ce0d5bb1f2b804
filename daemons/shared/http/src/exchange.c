/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "router.h"

typedef enum stage {
    STAGE_NEW,      /* the head has arrived */
    STAGE_ADMIT,    /* queued for or with an admitter; the connection is suspended */
    STAGE_ADMITTED, /* the route accepts the request */
    STAGE_BODY,     /* the body is arriving */
    STAGE_DISCARD,  /* the body is arriving but too long: it is not kept */
    STAGE_WORK,     /* queued for or with a worker; the connection is suspended */
    STAGE_ANSWER,   /* the response is ready to be sent */
    STAGE_SENT
} stage;

typedef struct exchange {
    http_server *server;
    struct MHD_Connection *connection;
    front_conn *conn;
    const http_route *route;
    stage stage;
    http_request request;
    http_response response;
    size_t body_capacity; /* counted in server->body_bytes */
} exchange;

static const char *find_header(const void *context, const char *name)
{
    const exchange *e = context;

    return MHD_lookup_connection_value(e->connection, MHD_HEADER_KIND, name);
}

void *http__exchange_new(void *context, const char *uri, struct MHD_Connection *connection)
{
    exchange *e = calloc(1, sizeof(*e));
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    if (e == NULL || (e->request.uri = strdup(uri)) == NULL) {
        free(e);
        return NULL;
    }
    e->server = context;
    e->connection = connection;
    e->conn = info != NULL ? info->socket_context : NULL;
    e->request.header = find_header;
    e->request.header_context = e;
    char *mark = strchr(e->request.uri, '?');
    if (mark != NULL)
        *mark = '\0';
    e->request.path = e->request.uri;
    e->request.query = mark != NULL ? mark + 1 : "";
    memcpy(e->request.peer, e->conn != NULL ? e->conn->peer : "unknown", e->conn != NULL ? 64 : 8);
    http__response_init(&e->response);
    return e;
}

static void release_body(exchange *e)
{
    atomic_fetch_sub(&e->server->body_bytes, e->body_capacity);
    e->body_capacity = 0;
    free(e->request.body);
    e->request.body = NULL;
    e->request.body_length = 0;
}

static void refuse(exchange *e, http_refuse_reason reason)
{
    http__response_clear(&e->response);
    if (e->route->refuse != NULL)
        e->route->refuse(e->route->context, reason, &e->response);
    else if (reason == HTTP_REFUSE_TOO_LARGE)
        http_response_error(&e->response, 413, "payload_too_large",
                            "The body is longer than this call takes.");
    else
        http_response_error(&e->response, 503, "busy", "The server is busy: try again.");
    if (reason == HTTP_REFUSE_BUSY)
        http_response_retry_after(&e->response, 1);
}

/* Counts and takes memory for the body up to capacity bytes; false when there is none. */
static bool reserve_body(exchange *e, size_t capacity)
{
    size_t more = capacity - e->body_capacity;
    uint64_t total = atomic_fetch_add(&e->server->body_bytes, more) + more;
    char *body =
        total <= e->server->options.body_bytes_total ? realloc(e->request.body, capacity) : NULL;

    if (body == NULL) {
        atomic_fetch_sub(&e->server->body_bytes, more);
        return false;
    }
    e->request.body = body;
    e->body_capacity = capacity;
    return true;
}

static void begin_discard(exchange *e, http_refuse_reason reason)
{
    release_body(e);
    refuse(e, reason);
    e->stage = STAGE_DISCARD;
}

static void keep_body(exchange *e, const char *data, size_t length)
{
    size_t needed = e->request.body_length + length;

    if (needed > e->route->body_limit) {
        begin_discard(e, HTTP_REFUSE_TOO_LARGE);
        return;
    }
    if (needed > e->body_capacity) {
        /* Only chunked bodies reach this; memory for a known length was reserved at once. */
        size_t doubled = 2 * e->body_capacity > needed ? 2 * e->body_capacity : needed;
        if (!reserve_body(e, doubled < 4096 ? 4096 : doubled)) {
            begin_discard(e, HTTP_REFUSE_BUSY);
            return;
        }
    }
    memcpy(e->request.body + e->request.body_length, data, length);
    e->request.body_length = needed;
}

/* ---- the answer ---- */

static void add_security_headers(struct MHD_Response *out, const http_response *response)
{
    static const char *const fields[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
         "font-src 'self'; connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; "
         "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (http__response_find(response, fields[i][0]) == NULL)
            MHD_add_response_header(out, fields[i][0], fields[i][1]);
    }
    for (size_t i = 0; i < response->header_count; i++)
        MHD_add_response_header(out, response->headers[i].name, response->headers[i].value);
}

static enum MHD_Result send_answer(exchange *e)
{
    http_response *response = &e->response;

    if (response->failed) {
        http__response_clear(response);
        response->status = 500;
    }
    void *body = (void *)(uintptr_t)response->body;
    struct MHD_Response *out = MHD_create_response_from_buffer(
        response->length, body, response->owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (out == NULL)
        return MHD_NO;
    response->owned = false;
    add_security_headers(out, response);
    enum MHD_Result result = MHD_queue_response(e->connection, (unsigned)response->status, out);
    MHD_destroy_response(out);
    e->stage = STAGE_SENT;
    return result;
}

/* ---- from the request to its handler ---- */

static void answer_unrouted(exchange *e, int status)
{
    if (status == 405)
        http_response_error(&e->response, 405, "method_not_allowed",
                            "This path does not take this method.");
    else if (status == 400)
        http_response_error(&e->response, 400, "bad_request",
                            "A segment of the path is not percent-encoded UTF-8 text.");
    else
        http_response_error(&e->response, 404, "not_found", "There is no such path.");
}

/* Returns the declared length of the body; 0 for a chunked or no body. The gate has checked the
 * field. */
static uint64_t declared_length(const exchange *e)
{
    const char *text = find_header(e, "Content-Length");

    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* Suspends the connection and hands the exchange over; a full queue answers at once. */
static void hand_over(exchange *e, pool *to, stage waiting)
{
    e->stage = waiting;
    MHD_suspend_connection(e->connection);
    if (http__pool_push(to, e))
        return;
    release_body(e);
    refuse(e, HTTP_REFUSE_BUSY);
    e->stage = STAGE_ANSWER;
    MHD_resume_connection(e->connection);
}

/* Reserves memory for the body of an admitted request. */
static enum MHD_Result await_body(exchange *e)
{
    uint64_t length = declared_length(e);

    e->stage = STAGE_BODY;
    if (length > e->route->body_limit)
        refuse(e, HTTP_REFUSE_TOO_LARGE);
    else if (length > 0 && !reserve_body(e, (size_t)length))
        refuse(e, HTTP_REFUSE_BUSY);
    else
        return MHD_YES;
    return send_answer(e);
}

/* Finds the route of a request whose head has arrived, and queues it for an admitter. */
static enum MHD_Result begin(exchange *e)
{
    int status;

    atomic_fetch_add(&e->server->requests, 1);
    e->route = http__route_find(e->server->options.routes, e->server->options.route_count,
                                &e->request, &status);
    if (e->route == NULL) {
        answer_unrouted(e, status);
        return send_answer(e);
    }
    if (e->route->admit == NULL)
        return await_body(e);
    hand_over(e, e->server->admitters, STAGE_ADMIT);
    return MHD_YES;
}

void http__exchange_admit(void *job)
{
    exchange *e = job;
    bool admitted = e->route->admit(e->route->context, &e->request, &e->response);

    e->stage = admitted ? STAGE_ADMITTED : STAGE_ANSWER;
    MHD_resume_connection(e->connection);
}

void http__exchange_work(void *job)
{
    exchange *e = job;

    e->route->handle(e->route->context, &e->request, &e->response);
    release_body(e);
    e->stage = STAGE_ANSWER;
    MHD_resume_connection(e->connection);
}

enum MHD_Result http__exchange_handle(void *server, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *data, size_t *data_size, void **context)
{
    exchange *e = *context;

    (void)server, (void)connection, (void)url, (void)version;
    if (e == NULL)
        return MHD_NO;
    e->request.method = method;
    switch (e->stage) {
    case STAGE_NEW:
        return begin(e);
    case STAGE_ADMITTED:
        return await_body(e);
    case STAGE_BODY:
        if (*data_size > 0)
            keep_body(e, data, *data_size);
        else
            hand_over(e, e->server->workers, STAGE_WORK);
        *data_size = 0;
        return MHD_YES;
    case STAGE_DISCARD:
        if (*data_size == 0)
            return send_answer(e);
        *data_size = 0;
        return MHD_YES;
    case STAGE_ANSWER:
        return send_answer(e);
    case STAGE_ADMIT:
    case STAGE_WORK:
    case STAGE_SENT:
        return MHD_YES;
    }
    return MHD_NO;
}

void http__exchange_completed(void *server, struct MHD_Connection *connection, void **context,
                              enum MHD_RequestTerminationCode code)
{
    exchange *e = *context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    (void)code;
    if (info != NULL && info->socket_context != NULL)
        http__front_completed(&((http_server *)server)->front, info->socket_context);
    if (e == NULL)
        return;
    release_body(e);
    http__response_clear(&e->response);
    http__request_clear(&e->request);
    free(e);
    *context = NULL;
}
