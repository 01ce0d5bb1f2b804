/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests to hotstack-attachd or to a collector over its socket. */
#ifndef LOCALRPC_CLIENT_H
#define LOCALRPC_CLIENT_H

#include <localrpc/error.h>
#include <localrpc/message.h>

typedef struct localrpc_client localrpc_client;

/* The program that listens on the socket. */
typedef enum localrpc_peer { LOCALRPC_ATTACHD, LOCALRPC_COLLECTOR } localrpc_peer;

/*
 * Makes a client of the socket at `socket_path` (absolute, at most 100 bytes). The client connects
 * in the background, and again after the connection is lost. It refuses an attachd that runs as
 * neither root nor the user of this process, because requests name its JVMs; a collector may
 * run as any user.
 *
 * Returns 0, LOCALRPC_ERR_USAGE or LOCALRPC_ERR_IO. The caller frees *out with
 * localrpc_client_close when no call runs any more.
 */
int localrpc_client_open(localrpc_client **out, const char *socket_path, localrpc_peer peer,
                         localrpc_error *err);
void localrpc_client_close(localrpc_client *client);

/*
 * Sends a request and waits for its answer: at most 2 s until the request is sent and
 * request->deadline_ms + 5 s for the answer, and once more if the connection breaks. The caller
 * chooses request->id. After LOCALRPC_ERR_TIMEOUT or a lost connection the caller may send the same
 * request again, and the server runs it only once.
 *
 * Returns 0 and fills *out, whose reason may say that the JVM could not be served; the caller
 * clears it with local_answer_clear. Returns LOCALRPC_ERR_UNREACHABLE, _TIMEOUT, _FORMAT, _USAGE or
 * _IO on error. Thread rule: any number of threads may call it at once.
 */
int localrpc_client_call(localrpc_client *client, const local_request *request, local_answer *out,
                         localrpc_error *err);

/* Fills an id with random bytes. */
void localrpc_new_id(uint8_t id[LOCAL_ID_SIZE]);

#endif
