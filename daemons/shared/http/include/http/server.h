/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http/server.h: the HTTP/1.1 server of every Hotstack program, libmicrohttpd behind the gate.
 *
 * The way of a request:
 *
 *   client -> front thread -> gate -> socketpair -> libmicrohttpd thread -> admitters -> workers
 *
 * The front owns the listening socket and every client's connection. It reads the head, has it
 * checked by http/gate.h, and only then gives the connection's other end, one half of a socketpair,
 * to libmicrohttpd, which so never sees a byte that the gate has not passed. It follows the body
 * through its framing, one request at a time: a pipelined second request waits in its buffer until
 * the first is answered, and meets the gate then. It keeps the deadlines, all of them absolute, and
 * the connection counts.
 *
 * Threads: one front, one libmicrohttpd (parses, collects bodies, sends), `admitters` and
 * `workers`, each with a queue of its own. All are started by http_server_start and joined by
 * http_server_stop. admit runs on an admitter and handle on a worker, and both may block: a request
 * of a route without admit never waits for those that are being admitted. refuse runs on the
 * libmicrohttpd thread and must not block.
 *
 * Memory: a connection costs 32 KiB here and at most 32 KiB in libmicrohttpd; bodies are counted
 * against body_bytes_total over all connections, and nothing is kept of a body that is refused.
 *
 * Every response carries Content-Security-Policy, X-Content-Type-Options: nosniff,
 * X-Frame-Options: DENY, Referrer-Policy: no-referrer, Cross-Origin-Opener-Policy and
 * -Resource-Policy: same-origin, and Cache-Control: no-store unless the handler set another.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <http/error.h>
#include <http/gate.h>
#include <http/request.h>
#include <http/response.h>

typedef struct http_server http_server;

/* Why the server itself answers instead of a route. */
typedef enum http_refuse_reason {
    HTTP_REFUSE_TOO_LARGE, /* the body is longer than the route accepts: 413 */
    HTTP_REFUSE_BUSY       /* no memory for the body, or a queue is full: 503 */
} http_refuse_reason;

/*
 * One route. Tried in the table's order; the first whose pattern matches decides, so a path that
 * matches with other methods only is answered 405.
 *
 * method: "GET" serves HEAD too. NULL: every method.
 * pattern: an exact path; "{}" stands for one whole segment, percent-decoded into a parameter
 * (never "." or ".."); "/ *" (without the space) alone matches every path.
 * body_limit: bytes of body taken; 0: none.
 * admit: NULL, or called on an admitter before the body is read. Returns true to go on, with the
 * header fields of the response that it has set; false: response is filled and goes out, and the
 * body is never read.
 * handle: called on a worker with the body whole.
 * refuse: NULL for a JSON error, or fills the response in the route's own format.
 * context: given to all three.
 */
typedef struct http_route {
    const char *method;
    const char *pattern;
    uint64_t body_limit;
    bool (*admit)(void *context, http_request *request, http_response *response);
    void (*handle)(void *context, const http_request *request, http_response *response);
    void (*refuse)(void *context, http_refuse_reason reason, http_response *response);
    void *context;
} http_route;

/* Counters since the start, and figures of the present. */
typedef struct http_server_stats {
    uint64_t accepted;            /* connections */
    uint64_t refused_connections; /* over the total or the per-address limit */
    uint64_t refused_requests;    /* refused by the gate */
    uint64_t requests;            /* that reached a route or a 404 */
    uint64_t timeouts;            /* connections ended by a deadline */
    uint64_t open;                /* connections at present */
    uint64_t body_bytes;          /* held at present */
} http_server_stats;

typedef struct http_server_options {
    size_t size;              /* sizeof(http_server_options); an unknown tail must be zero */
    const char *address;      /* numeric IPv4 or IPv6 address to listen on */
    uint16_t port;            /* 0: the kernel's choice, see http_server_port */
    const http_route *routes; /* must live as long as the server */
    size_t route_count;
    http_gate_limits gate;
    uint32_t connections;             /* total */
    uint32_t connections_per_address; /* per client address */
    uint32_t admitters;               /* threads that call admit */
    uint32_t workers;                 /* threads that call handle */
    uint32_t queue;                   /* requests waiting for an admitter, and for a worker */
    uint64_t body_bytes_total;        /* of all bodies held at the same time */
    uint64_t chunked_bytes;           /* of one chunked body, whatever its route accepts */
    uint32_t head_ms;   /* from a request's first byte to the end of its head; on a new connection
                           from its accept */
    uint32_t body_ms;   /* from the end of the head to the end of the body */
    uint32_t answer_ms; /* from the end of the request to the end of the answer */
    uint32_t idle_ms;   /* between two requests */
    void (*log)(void *context, const char *message); /* NULL: none. Any thread */
    void *log_context;
} http_server_options;

#define HTTP_SERVER_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(http_server_options), "127.0.0.1", 0, NULL, 0, HTTP_GATE_LIMITS_INIT, 1024, 256, 4, \
            4, 128, 64u << 20, 64u << 20, 10000, 60000, 120000, 75000, NULL, NULL                  \
    }

/*
 * Binds, starts the threads and serves.
 * Errors: HTTP_ERR_USAGE (options), HTTP_ERR_IO (address in use and the like: the message says
 * which), HTTP_ERR_NO_MEMORY. End with http_server_stop.
 */
int http_server_start(http_server **out, const http_server_options *options, http_error *err);

/* Returns the port on which the server listens. */
uint16_t http_server_port(const http_server *server);

/* Copies the counters; any thread. */
void http_server_get_stats(const http_server *server, http_server_stats *out);

/*
 * Stops the server: accepts no new connection or request, lets running ones go on for at most
 * grace_ms, and then closes every connection. Waits for handlers that still run. Frees the server;
 * NULL is allowed.
 */
void http_server_stop(http_server *server, uint32_t grace_ms);

#endif
