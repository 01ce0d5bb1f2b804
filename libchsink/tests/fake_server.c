/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_server.h"

enum { MAX_REQUEST = 1 << 20, MAX_CONNECTIONS = 64 };

struct fake_server {
    fake_answer answer;
    char url[48];
    int listener;
    int ends[2]; /* a pipe: closed to end every thread */
    pthread_t acceptor;
    pthread_t threads[MAX_CONNECTIONS];
    pthread_mutex_t lock;
    unsigned connections; /* under the lock, as are the next four */
    unsigned requests;
    char head[8192];
    char *body;
    size_t body_length;
};

typedef struct connection {
    fake_server *server;
    int socket;
} connection;

/* Waits until the socket is readable; false once the server ends. */
static bool await_input(const fake_server *server, int socket)
{
    struct pollfd watched[2] = {{socket, POLLIN, 0}, {server->ends[0], POLLIN, 0}};

    return poll(watched, 2, -1) > 0 && !watched[1].revents;
}

static size_t content_length(const char *head)
{
    const char *field = strcasestr(head, "\r\nContent-Length:");

    return field ? strtoul(field + strlen("\r\nContent-Length:"), NULL, 10) : 0;
}

/* Reads one request into buffer. Returns its head's length, or 0 at the end of the connection. */
static size_t read_request(const connection *peer, char *buffer, size_t *body_length)
{
    size_t used = 0, head = 0;

    for (;;) {
        ssize_t got;
        const char *end;

        if (!await_input(peer->server, peer->socket))
            return 0;
        got = recv(peer->socket, buffer + used, MAX_REQUEST - used - 1, 0);
        if (got <= 0)
            return 0;
        used += (size_t)got;
        buffer[used] = '\0';
        end = head ? NULL : strstr(buffer, "\r\n\r\n");
        if (end)
            head = (size_t)(end - buffer) + 4;
        if (head && used - head >= content_length(buffer)) {
            *body_length = used - head;
            return head;
        }
    }
}

static void note_request(fake_server *server, const char *request, size_t head, size_t body_length)
{
    (void)pthread_mutex_lock(&server->lock);
    server->requests++;
    (void)snprintf(server->head, sizeof server->head, "%.*s", (int)head, request);
    free(server->body);
    server->body = malloc(body_length + 1);
    if (server->body)
        memcpy(server->body, request + head, body_length);
    server->body_length = body_length;
    (void)pthread_mutex_unlock(&server->lock);
}

static void send_all(int socket, const char *data, size_t length)
{
    while (length) {
        ssize_t sent = send(socket, data, length, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        data += sent;
        length -= (size_t)sent;
    }
}

static void *serve(void *context)
{
    connection *peer = context;
    char *buffer = malloc(MAX_REQUEST);
    size_t head, body_length = 0;

    while (buffer && (head = read_request(peer, buffer, &body_length)) != 0) {
        note_request(peer->server, buffer, head, body_length);
        send_all(peer->socket, peer->server->answer.data, peer->server->answer.length);
        if (peer->server->answer.hang_up)
            break;
    }
    (void)close(peer->socket);
    free(buffer);
    free(peer);
    return NULL;
}

static bool start_serving(fake_server *server, connection *peer)
{
    bool started;

    (void)pthread_mutex_lock(&server->lock);
    started = server->connections < MAX_CONNECTIONS &&
              pthread_create(&server->threads[server->connections], NULL, serve, peer) == 0;
    server->connections += started;
    (void)pthread_mutex_unlock(&server->lock);
    return started;
}

static void *accept_all(void *context)
{
    fake_server *server = context;

    while (await_input(server, server->listener)) {
        connection *peer = malloc(sizeof *peer);

        if (!peer)
            break;
        peer->server = server;
        peer->socket = accept(server->listener, NULL, NULL);
        if (!start_serving(server, peer)) {
            (void)close(peer->socket);
            free(peer);
        }
    }
    return NULL;
}

fake_server *fake_server_start(const fake_answer *answer)
{
    struct sockaddr_in address = {0};
    socklen_t length = sizeof address;
    fake_server *server = calloc(1, sizeof *server);

    ck_assert_ptr_nonnull(server);
    server->answer = *answer;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(server->listener, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(server->listener, MAX_CONNECTIONS), 0);
    ck_assert_int_eq(getsockname(server->listener, (struct sockaddr *)&address, &length), 0);
    (void)snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    ck_assert_int_eq(pipe(server->ends), 0);
    (void)pthread_mutex_init(&server->lock, NULL);
    ck_assert_int_eq(pthread_create(&server->acceptor, NULL, accept_all, server), 0);
    return server;
}

const char *fake_server_url(const fake_server *server)
{
    return server->url;
}

size_t fake_server_last(fake_server *server, char *head, size_t head_size, char *body,
                        size_t body_size)
{
    size_t length;

    (void)pthread_mutex_lock(&server->lock);
    (void)snprintf(head, head_size, "%s", server->head);
    length = server->body_length;
    if (body)
        memcpy(body, server->body, length < body_size ? length : body_size);
    (void)pthread_mutex_unlock(&server->lock);
    return length;
}

unsigned fake_server_connections(fake_server *server)
{
    unsigned count;

    (void)pthread_mutex_lock(&server->lock);
    count = server->connections;
    (void)pthread_mutex_unlock(&server->lock);
    return count;
}

unsigned fake_server_requests(fake_server *server)
{
    unsigned count;

    (void)pthread_mutex_lock(&server->lock);
    count = server->requests;
    (void)pthread_mutex_unlock(&server->lock);
    return count;
}

void fake_server_stop(fake_server *server)
{
    unsigned i;

    (void)close(server->ends[1]);
    (void)pthread_join(server->acceptor, NULL);
    for (i = 0; i < server->connections; i++)
        (void)pthread_join(server->threads[i], NULL);
    (void)close(server->listener);
    (void)close(server->ends[0]);
    (void)pthread_mutex_destroy(&server->lock);
    free(server->body);
    free(server);
}
