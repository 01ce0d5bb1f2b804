/* SPDX-License-Identifier: Apache-2.0 */
/* The client: an nng req socket with one context per call. */
#include "localrpc_impl.h"

#include <errno.h>
#include <nng/protocol/reqrep0/req.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { SEND_MS = 1000, GRACE_MS = 5000, RECONNECT_MIN_MS = 50, RECONNECT_MAX_MS = 1000 };

struct localrpc_client {
    nng_socket socket;
    char path[LOCALRPC_URL_SIZE];
    localrpc_peer peer;
    pthread_mutex_t lock; /* guards the next two members */
    nng_dialer dialer;
    unsigned dials;
};

int localrpc__fail(localrpc_error *err, int code, const char *format, ...)
{
    if (err == NULL)
        return code;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(err->message, sizeof(err->message), format, arguments);
    va_end(arguments);
    err->code = code;
    err->offset = 0;
    return code;
}

int localrpc__url(char out[LOCALRPC_URL_SIZE], const char *path, localrpc_error *err)
{
    if (path == NULL || path[0] != '/')
        return localrpc__fail(err, LOCALRPC_ERR_USAGE,
                              "the socket path \"%.100s\" is not absolute; give one such as "
                              "/run/hotstack/attachd.sock",
                              path != NULL ? path : "");
    if (strlen(path) > 100)
        return localrpc__fail(err, LOCALRPC_ERR_USAGE,
                              "the socket path %.100s... is longer than 100 bytes; choose a "
                              "shorter one",
                              path);
    (void)snprintf(out, LOCALRPC_URL_SIZE, "ipc://%s", path);
    return 0;
}

void localrpc_new_id(uint8_t id[LOCAL_ID_SIZE])
{
    size_t used = 0;
    while (used < LOCAL_ID_SIZE) {
        ssize_t got = getrandom(id + used, LOCAL_ID_SIZE - used, 0);
        if (got > 0)
            used += (size_t)got;
        else if (errno != EINTR)
            abort(); /* no kernel that we run on lacks it */
    }
}

static const char *peer_name(const localrpc_client *client)
{
    return client->peer == LOCALRPC_ATTACHD ? "hotstack-attachd" : "hotstack-collector";
}

/* Requests name this user's JVMs: only a server of root or of this user may receive them. */
static void check_server(nng_pipe pipe, nng_pipe_ev event, void *context)
{
    (void)event;
    const localrpc_client *client = context;
    uint64_t uid = UINT64_MAX;
    if (client->peer == LOCALRPC_ATTACHD &&
        (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &uid) != 0 ||
         (uid != 0 && uid != geteuid())))
        nng_pipe_close(pipe);
}

static int set_options(localrpc_client *client)
{
    nng_socket socket = client->socket;
    int rc = nng_socket_set_ms(socket, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE);
    if (rc == 0)
        rc = nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, LOCAL_ANSWER_MAX);
    if (rc == 0)
        rc = nng_socket_set_ms(socket, NNG_OPT_RECONNMINT, RECONNECT_MIN_MS);
    if (rc == 0)
        rc = nng_socket_set_ms(socket, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS);
    if (rc == 0)
        rc = nng_pipe_notify(socket, NNG_PIPE_EV_ADD_PRE, check_server, client);
    return rc;
}

int localrpc_client_open(localrpc_client **out, const char *socket_path, localrpc_peer peer,
                         localrpc_error *err)
{
    *out = NULL;
    char url[LOCALRPC_URL_SIZE];
    int rc = localrpc__url(url, socket_path, err);
    if (rc != 0)
        return rc;
    localrpc_client *client = calloc(1, sizeof(*client));
    if (client == NULL)
        return localrpc__fail(err, LOCALRPC_ERR_IO, "out of memory");
    (void)snprintf(client->path, sizeof(client->path), "%s", socket_path);
    client->peer = peer;
    pthread_mutex_init(&client->lock, NULL);
    rc = nng_req0_open(&client->socket);
    if (rc != 0) {
        pthread_mutex_destroy(&client->lock);
        free(client);
        return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot make a socket: %s", nng_strerror(rc));
    }
    rc = set_options(client);
    if (rc == 0)
        rc = nng_dial(client->socket, url, &client->dialer, NNG_FLAG_NONBLOCK);
    if (rc != 0) {
        localrpc_client_close(client);
        return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot use %s: %s", socket_path,
                              nng_strerror(rc));
    }
    *out = client;
    return 0;
}

static void *end_client(void *argument)
{
    localrpc_client *client = argument;
    nng_close(client->socket);
    pthread_mutex_destroy(&client->lock);
    free(client);
    return NULL;
}

void localrpc_client_close(localrpc_client *client)
{
    if (client != NULL)
        (void)localrpc__end(end_client, client);
}

static unsigned dials_of(localrpc_client *client)
{
    pthread_mutex_lock(&client->lock);
    unsigned dials = client->dials;
    pthread_mutex_unlock(&client->lock);
    return dials;
}

/*
 * Replaces the connection on which a call failed, unless another call has replaced it already. nng
 * 1.5.2 does not dial again after a server closed the connection during the handshake (NNG_ECLOSED
 * in dialer_connect_cb of its src/core/dialer.c), and reports nothing.
 */
static void dial_anew(localrpc_client *client, unsigned dials_seen)
{
    char url[LOCALRPC_URL_SIZE];
    pthread_mutex_lock(&client->lock);
    if (client->dials == dials_seen && localrpc__url(url, client->path, NULL) == 0) {
        nng_dialer_close(client->dialer);
        client->dials++;
        (void)nng_dial(client->socket, url, &client->dialer, NNG_FLAG_NONBLOCK);
    }
    pthread_mutex_unlock(&client->lock);
}

static int unreachable(const localrpc_client *client, int rc, localrpc_error *err)
{
    return localrpc__fail(err, LOCALRPC_ERR_UNREACHABLE,
                          "cannot reach %s at %s (%s); see that it runs, listens there, and lets "
                          "in uid %u",
                          peer_name(client), client->path, nng_strerror(rc), (unsigned)geteuid());
}

static nng_msg *new_message(const uint8_t *bytes, size_t length)
{
    nng_msg *message = NULL;
    if (nng_msg_alloc(&message, 0) != 0)
        return NULL;
    if (nng_msg_append(message, bytes, length) == 0)
        return message;
    nng_msg_free(message);
    return NULL;
}

/* Sends the request once and receives its answer. Returns 0 or nng's error; *sent says whether the
 * request was sent. */
static int try_exchange(nng_ctx context, nng_aio *aio, nng_msg *message, uint32_t wait_ms,
                        nng_msg **out, bool *sent)
{
    nng_aio_set_timeout(aio, SEND_MS);
    nng_aio_set_msg(aio, message);
    nng_ctx_send(context, aio);
    nng_aio_wait(aio);
    int rc = nng_aio_result(aio);
    *sent = rc == 0;
    if (rc != 0) {
        nng_msg_free(message);
        return rc;
    }
    nng_aio_set_timeout(aio, (nng_duration)wait_ms);
    nng_ctx_recv(context, aio);
    nng_aio_wait(aio);
    rc = nng_aio_result(aio);
    if (rc == 0)
        *out = nng_aio_get_msg(aio);
    return rc;
}

/* Returns whether a call that failed with `rc` may be repeated, and sets the time for its answer.
 */
static bool again(localrpc_client *client, int rc, bool sent, unsigned dials, uint32_t *wait_ms,
                  uint32_t patience_ms)
{
    if (rc == NNG_ECONNRESET) {
        *wait_ms = patience_ms;
        return true;
    }
    if (rc != NNG_ETIMEDOUT)
        return false;
    dial_anew(client, dials);
    if (!sent)
        *wait_ms = patience_ms;
    return true;
}

/*
 * Repeats a request with the same id, which the server runs only once. The first repetition follows
 * a broken connection, as after a restart of the server, or uses a new connection if there was none
 * to send on or no answer came in half of the time allowed. The second one follows if the first
 * was still sent on the connection that was being closed.
 */
static int exchange(localrpc_client *client, const uint8_t *bytes, size_t length,
                    uint32_t deadline_ms, nng_msg **out, localrpc_error *err)
{
    nng_ctx context;
    nng_aio *aio = NULL;
    bool sent = false;
    uint32_t patience_ms = deadline_ms + GRACE_MS;
    uint32_t wait_ms = patience_ms / 2;
    unsigned dials = dials_of(client);
    int rc = nng_ctx_open(&context, client->socket);
    if (rc != 0)
        return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot ask: %s", nng_strerror(rc));
    rc = nng_aio_alloc(&aio, NULL, NULL);
    for (int tries = 0; rc == 0 && tries < 3; tries++) {
        nng_msg *message = new_message(bytes, length);
        rc =
            message != NULL ? try_exchange(context, aio, message, wait_ms, out, &sent) : NNG_ENOMEM;
        if (rc == 0)
            break;
        bool may = tries == 0 || (tries == 1 && rc == NNG_ECONNRESET);
        if (may && again(client, rc, sent, dials, &wait_ms, patience_ms))
            rc = 0;
    }
    nng_aio_free(aio);
    nng_ctx_close(context);
    if (rc == NNG_ETIMEDOUT && sent)
        return localrpc__fail(err, LOCALRPC_ERR_TIMEOUT, "%s at %s did not answer within %u ms",
                              peer_name(client), client->path, patience_ms);
    return rc != 0 ? unreachable(client, rc, err) : 0;
}

int localrpc_client_call(localrpc_client *client, const local_request *request, local_answer *out,
                         localrpc_error *err)
{
    *out = (local_answer){0};
    uint8_t *bytes = NULL;
    size_t length = 0;
    if (request->deadline_ms > INT32_MAX / 2 || local_request_encode(&bytes, &length, request) != 0)
        return localrpc__fail(err, LOCALRPC_ERR_USAGE, "the request is out of range");
    nng_msg *reply = NULL;
    int rc = exchange(client, bytes, length, request->deadline_ms, &reply, err);
    free(bytes);
    if (rc != 0)
        return rc;
    rc = local_answer_decode(out, nng_msg_body(reply), nng_msg_len(reply));
    nng_msg_free(reply);
    if (rc == 0 && memcmp(out->id, request->id, LOCAL_ID_SIZE) == 0)
        return 0;
    local_answer_clear(out);
    return localrpc__fail(err, LOCALRPC_ERR_FORMAT,
                          "the answer of %s cannot be read; is it %s of this release?",
                          client->path, peer_name(client));
}
