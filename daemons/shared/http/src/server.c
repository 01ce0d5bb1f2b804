/* SPDX-License-Identifier: Apache-2.0 */
#include <http/server.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <microhttpd.h>

#include "exchange.h"
#include "internal.h"

/* A connection's memory in libmicrohttpd: twice the largest head, and the answer's fields. */
enum { ENGINE_CONNECTION_BYTES = 65536 };

/*
 * libmicrohttpd gets one end of a Unix socket pair (front.c) and logs at each answer that it cannot
 * set TCP options on it, which such a socket does not need.
 */
static bool is_about_tcp(const char *format)
{
    static const char *const said[] = {
        "Setting %s option to %s state failed",
        "Failed to push the data from buffers to the network.",
    };
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        if (strncmp(format, said[i], strlen(said[i])) == 0)
            return true;
    return false;
}

__attribute__((format(printf, 2, 0))) static void log_line(void *context, const char *format,
                                                           va_list args)
{
    const http_server *server = context;
    char line[512];

    if (server->options.log == NULL || is_about_tcp(format))
        return;
    vsnprintf(line, sizeof(line), format, args);
    line[strcspn(line, "\n")] = '\0';
    server->options.log(server->options.log_context, line);
}

static bool adopt(void *context, int fd)
{
    http_server *server = context;
    struct sockaddr_un nobody = {.sun_family = AF_UNIX};

    /* libmicrohttpd does not know the client's address; exchanges get it from the front. */
    return MHD_add_connection(server->engine, fd, (struct sockaddr *)&nobody, sizeof(nobody)) ==
           MHD_YES;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    http_server *server = context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *socket_context = http__front_started(&server->front, info->connect_fd);
    } else if (*socket_context != NULL) {
        http__front_closed(&server->front, *socket_context);
        *socket_context = NULL;
    }
}

static bool start_engine(http_server *server)
{
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
                     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, ENGINE_CONNECTION_BYTES, NULL},
        /* The front enforces the limit; a connection that it has released may exist here a moment
           longer. */
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)server->options.connections * 2, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, 0, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_END, 0, NULL},
    };

    server->engine = MHD_start_daemon(
        flags, 0, NULL, NULL, http__exchange_handle, server, MHD_OPTION_EXTERNAL_LOGGER, log_line,
        server, MHD_OPTION_URI_LOG_CALLBACK, http__exchange_new, server,
        MHD_OPTION_NOTIFY_COMPLETED, http__exchange_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    return server->engine != NULL;
}

static int check_options(const http_server_options *options, http_error *err)
{
    if (options == NULL || options->size < sizeof(*options) || options->address == NULL ||
        (options->routes == NULL && options->route_count > 0))
        return http__fail(err, HTTP_ERR_USAGE, 0, "The server's options are not complete.");
    for (size_t i = sizeof(*options); i < options->size; i++) {
        if (((const char *)options)[i] != 0)
            return http__fail(err, HTTP_ERR_USAGE, 0,
                              "The server's options hold more than this version knows.");
    }
    if (options->admitters == 0 || options->workers == 0 || options->queue == 0 ||
        options->connections == 0 || options->gate.head_bytes > FRONT_BUFFER)
        return http__fail(err, HTTP_ERR_USAGE, 0,
                          "The server needs admitters, workers, a queue and connections, and a "
                          "head of at most %d bytes.",
                          FRONT_BUFFER);
    return 0;
}

/* Frees all parts that http_server_start has made so far. */
static void free_server(http_server *server)
{
    if (server->engine != NULL)
        MHD_stop_daemon(server->engine);
    http__pool_free(server->admitters);
    http__pool_free(server->workers);
    free(server);
}

int http_server_start(http_server **out, const http_server_options *options, http_error *err)
{
    *out = NULL;
    int rc = check_options(options, err);
    if (rc != 0)
        return rc;
    http_server *server = calloc(1, sizeof(*server));
    if (server == NULL)
        return http__fail(err, HTTP_ERR_NO_MEMORY, 0, "No memory for the server.");
    server->options = *options;
    server->front.options = &server->options;
    server->front.adopt = adopt;
    server->front.engine = server;
    server->admitters = http__pool_start(options->admitters, options->queue, http__exchange_admit);
    server->workers = http__pool_start(options->workers, options->queue, http__exchange_work);
    if (server->admitters == NULL || server->workers == NULL || !start_engine(server)) {
        free_server(server);
        return http__fail(err, HTTP_ERR_IO, 0, "Cannot start the server's threads.");
    }
    rc = http__front_start(&server->front, err);
    if (rc != 0) {
        free_server(server);
        return rc;
    }
    *out = server;
    return 0;
}

uint16_t http_server_port(const http_server *server)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.v6 = {0}};
    socklen_t length = sizeof(address);

    if (getsockname(server->front.listen_fd, &address.any, &length) != 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
}

void http_server_get_stats(const http_server *server, http_server_stats *out)
{
    const front *f = &server->front;

    *out = (http_server_stats){
        .accepted = atomic_load(&f->accepted),
        .refused_connections = atomic_load(&f->refused_connections),
        .refused_requests = atomic_load(&f->refused_requests),
        .requests = atomic_load(&server->requests),
        .timeouts = atomic_load(&f->timeouts),
        .open = atomic_load(&f->open),
        .body_bytes = atomic_load(&server->body_bytes),
    };
}

/*
 * When stopped, libmicrohttpd 0.9.75 closes connections that it has not taken over yet, without the
 * lock under which they were added. No other connections are added now. So this adds one that ends
 * at once: when libmicrohttpd has closed it, it has taken over all earlier ones.
 */
static void await_engine(http_server *server)
{
    int pair[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return;
    (void)shutdown(pair[0], SHUT_WR);
    if (adopt(server, pair[1])) {
        while (read(pair[0], &byte, 1) > 0)
            ;
    }
    close(pair[0]);
}

void http_server_stop(http_server *server, uint32_t grace_ms)
{
    if (server == NULL)
        return;
    http__front_stop(&server->front, grace_ms);
    /* The pools resume the last suspended connections: libmicrohttpd must not be stopped before. */
    http__pool_stop(server->admitters);
    http__pool_stop(server->workers);
    await_engine(server);
    MHD_stop_daemon(server->engine);
    http__pool_free(server->admitters);
    http__pool_free(server->workers);
    http__front_free(&server->front);
    free(server);
}
