/* SPDX-License-Identifier: Apache-2.0 */
/* Serves requests on a socket, for hotstack-attachd and the collector. */
#ifndef LOCALRPC_SERVER_H
#define LOCALRPC_SERVER_H

#include <localrpc/error.h>
#include <localrpc/message.h>

typedef struct localrpc_server localrpc_server;

/*
 * Handles a request. `answer` is empty except for its id; the handler fills it and the server frees
 * it. Several threads of the server may call the handler at once. It must return before the
 * request's deadline.
 */
typedef void (*localrpc_handler)(void *context, const local_request *request, local_answer *answer);

typedef struct localrpc_server_options {
    size_t size;             /* sizeof(localrpc_server_options) */
    const char *socket_path; /* absolute, at most 100 bytes */
    unsigned mode;           /* of the socket file; 0 = 0600 */
    const uint32_t *uids;    /* users whose connections are accepted; root is not implied */
    size_t uid_count;
    unsigned workers;    /* requests handled at once; 0 = 16 */
    unsigned remembered; /* answers kept for repeated ids; 0 = 1024 */
    localrpc_handler handler;
    void *context;
    void (*log)(void *context, const char *message); /* NULL = none; any thread */
} localrpc_server_options;

#define LOCALRPC_SERVER_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(localrpc_server_options), NULL, 0, NULL, 0, 0, 0, NULL, NULL, NULL                  \
    }

/*
 * Starts a server. It makes the directory of the socket with mode 0755 if it is missing, and
 * refuses a directory that others may write to and that has no sticky bit. It replaces a socket
 * that a dead server left.
 *
 * The server accepts or refuses a connection by the uid of its peer before it reads a message. A
 * request of more than LOCAL_REQUEST_MAX bytes ends the connection. A repeated START, WINDOW or
 * STOP (one with the id of an earlier request) gets the answer to the first one, and waits for it
 * if that still runs. The server refuses an id that belongs to another request. It answers another
 * protocol number with REASON_PROTOCOL_MISMATCH.
 *
 * Returns 0, LOCALRPC_ERR_USAGE or LOCALRPC_ERR_IO. The caller ends it with localrpc_server_stop.
 */
int localrpc_server_start(localrpc_server **out, const localrpc_server_options *options,
                          localrpc_error *err);

/*
 * Stops listening, waits for running handlers, and frees the server, which may be NULL. If nng does
 * not end a connection within two seconds, the function tells options.log and returns; the
 * connection's memory is freed if the connection ends later.
 */
void localrpc_server_stop(localrpc_server *server);

#endif
