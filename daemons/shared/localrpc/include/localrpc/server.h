/* SPDX-License-Identifier: Apache-2.0 */
/* The socket of hotstack-attachd. */
#ifndef LOCALRPC_SERVER_H
#define LOCALRPC_SERVER_H

#include <localrpc/error.h>
#include <localrpc/message.h>

typedef struct localrpc_server localrpc_server;

/*
 * Does one request. `answer` is empty but for its id, and is freed by the server. Runs on one of
 * the server's threads, several at a time; it may take until the request's deadline.
 */
typedef void (*localrpc_handler)(void *context, const local_request *request, local_answer *answer);

typedef struct localrpc_server_options {
    size_t size;             /* sizeof(localrpc_server_options) */
    const char *socket_path; /* absolute, at most 100 bytes */
    unsigned mode;           /* of the socket file; 0 = 0600 */
    const uint32_t *uids;    /* users whose connections are accepted: no other, not even root */
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
 * Listens and serves. The socket's directory is made with mode 0755 where it is missing; one that
 * others may write to, without the sticky bit, is refused. A socket left by a dead server is
 * replaced.
 *
 * A connection is accepted or refused by its peer's uid before a message of it is read. Requests
 * of more than LOCAL_REQUEST_MAX bytes end the connection. START, WINDOW and STOP with an id
 * that was seen are answered from memory, and wait for the first where that still runs; the same
 * id for another request is refused. Another protocol number is answered with
 * REASON_PROTOCOL_MISMATCH.
 *
 * Returns 0, LOCALRPC_ERR_USAGE, LOCALRPC_ERR_IO. Ends with localrpc_server_stop.
 */
int localrpc_server_start(localrpc_server **out, const localrpc_server_options *options,
                          localrpc_error *err);

/*
 * Stops listening, waits for the handlers that run, and frees. NULL is taken. Where nng does not
 * end a connection within two seconds that is said (options.log), and what the connection needs is
 * freed when it ends, if it does.
 */
void localrpc_server_stop(localrpc_server *server);

#endif
