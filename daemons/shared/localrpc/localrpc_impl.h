/* SPDX-License-Identifier: Apache-2.0 */
/* Private to daemons/shared/localrpc. */
#ifndef LOCALRPC_IMPL_H
#define LOCALRPC_IMPL_H

#include <localrpc/client.h>
#include <localrpc/server.h>

#include <nng/nng.h>

int localrpc__fail(localrpc_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "ipc://PATH"; LOCALRPC_ERR_USAGE for a path that is not absolute or too long. */
enum { LOCALRPC_URL_SIZE = 112 };
int localrpc__url(char out[LOCALRPC_URL_SIZE], const char *path, localrpc_error *err);

/*
 * Runs `end`, which closes a socket and frees what its callbacks use, in a thread of its own; false
 * when nng has not closed it within two seconds: `end` goes on then and has `context` to itself.
 * Where no thread can be had it runs in the caller's, however long that takes.
 */
bool localrpc__end(void *(*end)(void *), void *context);

/*
 * Answers to ids seen. `begin` waits while the same id is being done; it returns true when the
 * caller shall do the request and `finish` it, false when *answer holds a copy of the remembered
 * bytes (NULL: the id was used for another request, or memory ran out).
 */
typedef struct localrpc__memory localrpc__memory;
localrpc__memory *localrpc__memory_new(unsigned capacity);
void localrpc__memory_free(localrpc__memory *memory);
bool localrpc__memory_begin(localrpc__memory *memory, const uint8_t id[LOCAL_ID_SIZE],
                            const uint8_t *request, size_t request_length, uint8_t **answer,
                            size_t *length);
void localrpc__memory_finish(localrpc__memory *memory, const uint8_t id[LOCAL_ID_SIZE],
                             const uint8_t *answer, size_t length);

/*
 * The listening end of a server's socket, at `url` with the file mode `mode`. Where nng stops to
 * accept it listens anew, and says so (any thread); the connections it had end then.
 */
typedef struct localrpc__listener localrpc__listener;
int localrpc__listen(localrpc__listener **out, nng_socket socket, const char *url, unsigned mode,
                     void (*say)(void *context, const char *message), void *say_context,
                     localrpc_error *err);
void localrpc__listener_stop(localrpc__listener *listener);

#endif
