/* SPDX-License-Identifier: Apache-2.0 */
/* Private to daemons/shared/localrpc. */
#ifndef LOCALRPC_IMPL_H
#define LOCALRPC_IMPL_H

#include <localrpc/client.h>
#include <localrpc/server.h>

#include <nng/nng.h>

int localrpc__fail(localrpc_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes "ipc://PATH". Returns LOCALRPC_ERR_USAGE for a path that is not absolute or too long. */
enum { LOCALRPC_URL_SIZE = 112 };
int localrpc__url(char out[LOCALRPC_URL_SIZE], const char *path, localrpc_error *err);

/*
 * Runs `end`, which closes a socket and frees the memory of its callbacks, in a thread of its own.
 * Returns false if nng does not close the socket within two seconds; then `end` goes on and owns
 * `context`. If no thread can be created, `end` runs in the calling thread without a time limit.
 */
bool localrpc__end(void *(*end)(void *), void *context);

/*
 * Remembers the answer to each request id. `begin` waits while another call handles the same id. It
 * returns true if the caller must handle the request and call `finish`. It returns false if
 * *answer holds a copy of the remembered answer, or NULL if the id belongs to another request or
 * memory ran out.
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
 * Listens at `url` for a server's socket; the socket's file gets the mode `mode`. If nng stops
 * accepting, the listener is restarted, its connections end, and `say`, which is called from any
 * thread, is told.
 */
typedef struct localrpc__listener localrpc__listener;
int localrpc__listen(localrpc__listener **out, nng_socket socket, const char *url, unsigned mode,
                     void (*say)(void *context, const char *message), void *say_context,
                     localrpc_error *err);
void localrpc__listener_stop(localrpc__listener *listener);

#endif
