/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <microhttpd.h>

#include "coding.h"
#include "server.h"

struct http_server {
    struct MHD_Daemon *daemon;
    http_store *store;
    const http_credentials *credentials;
};

static enum MHD_Result add_item(void *context, enum MHD_ValueKind kind, const char *name,
                                size_t name_length, const char *value, size_t length)
{
    (void)kind;
    (void)name_length;
    return request_add(context, name, value ? value : "", value ? length : 0) ? MHD_YES : MHD_NO;
}

static char *copy_header(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

    return value ? strdup(value) : NULL;
}

/* Takes the credentials from the headers, else from the URL, else from Basic authentication, as
 * ClickHouse does. */
static void take_credentials(struct MHD_Connection *connection, http_request *request)
{
    char *password = NULL;

    request->user = copy_header(connection, "X-ClickHouse-User");
    request->password = copy_header(connection, "X-ClickHouse-Key");
    if (request->user)
        return;
    if (request_get(request, "user")) {
        request->user = strdup(request_get(request, "user"));
        if (request_get(request, "password"))
            request->password = strdup(request_get(request, "password"));
        return;
    }
    request->user = MHD_basic_auth_get_username_password(connection, &password);
    if (password)
        request->password = password;
}

static bool is_allowed(const http_credentials *credentials, const http_request *request)
{
    const char *wanted = credentials->password ? credentials->password : "";

    if (!credentials->user)
        return true;
    return request->user && strcmp(request->user, credentials->user) == 0 &&
           strcmp(request->password ? request->password : "", wanted) == 0;
}

static void answer_request(const http_server *server, const char *path, const http_request *request,
                           http_reply *reply)
{
    if (strcmp(path, "/ping") == 0) {
        reply->status = 200;
        (void)chs__buffer_text(&reply->body, "Ok.\n");
    } else if (strcmp(path, "/") != 0) {
        reply->status = 404;
        (void)chs__buffer_text(&reply->body, "There is no handle for this path\n");
    } else if (!is_allowed(server->credentials, request)) {
        reply_fail(reply, 516,
                   "Authentication failed: password is incorrect, or there is no user with such "
                   "name. (AUTHENTICATION_FAILED)");
    } else {
        store_run(server->store, request, reply);
    }
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, const http_reply *reply)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        reply->body.length, reply->body.data, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result sent;
    char code[16];

    if (!response)
        return MHD_NO;
    if (reply->exception_code) {
        (void)snprintf(code, sizeof code, "%d", reply->exception_code);
        (void)MHD_add_response_header(response, "X-ClickHouse-Exception-Code", code);
    }
    if (reply->encoding)
        (void)MHD_add_response_header(response, "Content-Encoding", reply->encoding);
    sent = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return sent;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *length, void **state)
{
    http_request *request = *state;
    http_reply reply = {0};
    enum MHD_Result sent;

    (void)version;
    if (!request) {
        *state = request = calloc(1, sizeof *request);
        if (!request)
            return MHD_NO;
        request->body.max = CODING_MAX_BYTES;
        return MHD_YES;
    }
    if (*length) {
        if (chs__buffer_add(&request->body, data, *length))
            return MHD_NO;
        *length = 0;
        return MHD_YES;
    }
    request->read_only = strcmp(method, "POST") != 0;
    if (MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_item, request) < 0)
        return MHD_NO;
    take_credentials(connection, request);
    request->encoding = copy_header(connection, "Content-Encoding");
    request->accept_encoding = copy_header(connection, "Accept-Encoding");
    answer_request(context, url, request, &reply);
    sent = send_reply(connection, &reply);
    reply_free(&reply);
    return sent;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    (void)code;
    if (*state)
        request_free(*state);
    free(*state);
    *state = NULL;
}

http_server *server_start(http_store *store, const http_credentials *credentials, uint16_t port,
                          uint16_t *bound)
{
    struct sockaddr_in address = {0};
    const union MHD_DaemonInfo *info;
    http_server *server = calloc(1, sizeof *server);

    if (!server)
        return NULL;
    server->store = store;
    server->credentials = credentials;
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, port, NULL, NULL,
        on_request, server, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)4 << 20, MHD_OPTION_END);
    info = server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info) {
        free(server);
        return NULL;
    }
    *bound = info->port;
    return server;
}

void server_stop(http_server *server)
{
    MHD_socket listener = MHD_quiesce_daemon(server->daemon);

    store_interrupt(server->store);
    MHD_stop_daemon(server->daemon);
    if (listener != MHD_INVALID_SOCKET)
        (void)close(listener);
    free(server);
}
