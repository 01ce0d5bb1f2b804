/* SPDX-License-Identifier: Apache-2.0 */
/* Asks hotstack-attachd, or a collector, over its socket. */
#ifndef LOCALRPC_CLIENT_H
#define LOCALRPC_CLIENT_H

#include <localrpc/error.h>
#include <localrpc/message.h>

typedef struct localrpc_client localrpc_client;

/* Whose socket it is. */
typedef enum localrpc_peer { LOCALRPC_ATTACHD, LOCALRPC_COLLECTOR } localrpc_peer;

/*
 * Makes a client of the socket at `socket_path` (absolute, at most 100 bytes). It connects in the
 * background and again after a loss. Only an attachd of uid 0 or of our own is talked to; a
 * collector runs as any user, and is told nothing. Returns 0, LOCALRPC_ERR_USAGE or
 * LOCALRPC_ERR_IO. The caller frees *out with localrpc_client_close, once no call runs any more.
 */
int localrpc_client_open(localrpc_client **out, const char *socket_path, localrpc_peer peer,
                         localrpc_error *err);
void localrpc_client_close(localrpc_client *client);

/*
 * Sends one request and waits for its answer: at most 2 s until it is sent and
 * request->deadline_ms + 5 s for the answer, and once more where the connection breaks.
 * request->id is the caller's: after
 * LOCALRPC_ERR_TIMEOUT or a lost connection the same request may be asked again, and is done once.
 * Returns 0 with *out filled (its reason may say that the JVM could not be served); the caller
 * clears it with local_answer_clear. Errors: UNREACHABLE, TIMEOUT, FORMAT, USAGE, IO. Any number of
 * threads may call at once.
 */
int localrpc_client_call(localrpc_client *client, const local_request *request, local_answer *out,
                         localrpc_error *err);

/* Fills an id with random bytes. */
void localrpc_new_id(uint8_t id[LOCAL_ID_SIZE]);

#endif
