/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private: the front. One thread owns the listening socket and all client connections. It checks
 * every byte with the gate, forwards accepted bytes to the engine (which gets one half of a
 * socketpair per connection), and sends the engine's answers back.
 */
#ifndef HTTP_FRONT_H
#define HTTP_FRONT_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <http/server.h>

enum { FRONT_BUFFER = 16384 };

typedef enum conn_state {
    CONN_HEAD,   /* between requests, or a head is arriving */
    CONN_BODY,   /* the head was accepted; its body is arriving */
    CONN_ANSWER, /* the whole request was forwarded; the client waits for the answer */
    CONN_FLUSH,  /* no more input is read; the bytes of `out` are sent to the client */
    CONN_LINGER, /* everything is sent; input is discarded until the client closes, a second has
                    passed or a MiB has arrived. Closing at once with unread input could destroy the
                    answer in transit */
    CONN_GONE    /* the client's side is closed; the engine still holds its half */
} conn_state;

/* One connection. Used only by the front thread, except for the atomics. */
typedef struct front_conn {
    struct front_conn *next;
    conn_state state;
    int client_fd;
    int inner_fd;  /* our half of the socketpair, -1 before the first request was accepted */
    int engine_fd; /* the engine's half; guarded by front.lock, -1 once the engine has closed it */
    bool inner_eof;
    bool last; /* the client asked to close after this request */
    uint64_t deadline_ms;
    uint64_t body_left;
    size_t thrown_away; /* while lingering */
    http_framing framing;
    http_chunked chunked;
    unsigned answered;      /* requests that the front has completed */
    atomic_uint completed;  /* requests that the engine has completed */
    uint32_t client_events; /* events that epoll watches */
    uint32_t inner_events;
    char in[FRONT_BUFFER];
    size_t in_length;
    size_t in_seen; /* bytes of the head that were checked */
    size_t in_pass; /* first bytes of `in` that were accepted and go to the engine */
    char out[FRONT_BUFFER];
    size_t out_at;
    size_t out_length;
    struct sockaddr_storage address;
    char peer[64];
} front_conn;

typedef struct front {
    const http_server_options *options;
    int listen_fd;
    int epoll_fd;
    int wake_fd;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the list for other threads, and engine_fd */
    front_conn *conns;
    unsigned count;
    atomic_bool stopping;
    uint64_t stop_ms; /* when stopping: the end of the grace period */
    uint32_t grace_ms;
    atomic_uint_fast64_t accepted, refused_connections, refused_requests, timeouts, open;
    /* Gives the engine its half of a connection; false when it cannot take it (fd is closed). */
    bool (*adopt)(void *engine, int fd);
    void *engine;
} front;

/* front.c */
int http__front_start(front *f, http_error *err);
/* Asks the thread to stop and joins it; it has then closed all clients' connections. */
void http__front_stop(front *f, uint32_t grace_ms);
/* Frees the connections; call it after the engine has stopped. */
void http__front_free(front *f);
/* Called by the engine: when it starts with fd (returns the connection), when it has closed the
 * connection, and when it has finished a request. */
front_conn *http__front_started(front *f, int fd);
void http__front_closed(front *f, front_conn *conn);
void http__front_completed(front *f, front_conn *conn);
/* Watches or stops watching a descriptor of a connection. */
void http__front_watch(front *f, front_conn *conn, int fd, uint32_t *current, uint32_t wanted);

/* conn.c */
/* Makes all progress that is possible on a connection. */
void http__conn_run(front *f, front_conn *conn, uint64_t now);
/* Handles a deadline that has passed. */
void http__conn_expire(front *f, front_conn *conn, uint64_t now);
/* Closes the client's side. */
void http__conn_close(front *f, front_conn *conn);

/* listen.c */
int http__listen(const char *address, uint16_t port, http_error *err);
void http__peer_text(char *out, size_t capacity, const struct sockaddr_storage *address);
bool http__same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

#endif
