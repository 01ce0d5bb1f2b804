/* SPDX-License-Identifier: Apache-2.0 */
/* The server: an nng rep socket; each worker has a thread and a context. */
#include "localrpc_impl.h"

#include <catalogue/reason.h>
#include <errno.h>
#include <nng/protocol/reqrep0/rep.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { WORKERS_DEFAULT = 16, WORKERS_MAX = 512, REMEMBERED_DEFAULT = 1024 };

typedef struct worker {
    localrpc_server *server;
    pthread_t thread;
    nng_ctx context;
    nng_aio *aio;
} worker;

struct localrpc_server {
    nng_socket socket;
    localrpc__listener *listener;
    localrpc_handler handler;
    void *handler_context;
    void (*log)(void *context, const char *message);
    uint32_t *uids;
    size_t uid_count;
    localrpc__memory *memory;
    atomic_bool stopping;
    worker *workers;
    unsigned worker_count;
};

static void say(const localrpc_server *server, const char *message)
{
    if (server->log != NULL)
        server->log(server->handler_context, message);
}

static void check_peer(nng_pipe pipe, nng_pipe_ev event, void *context)
{
    (void)event;
    const localrpc_server *server = context;
    uint64_t uid = UINT64_MAX;
    int rc = nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &uid);
    for (size_t i = 0; rc == 0 && i < server->uid_count; i++) {
        if (server->uids[i] == uid)
            return;
    }
    nng_pipe_close(pipe);
    char message[128];
    (void)snprintf(message, sizeof(message),
                   "refused a connection of uid %lld: it is not in the list", (long long)uid);
    say(server, message);
}

static void refuse(local_answer *answer, enum reason reason, const char *detail)
{
    answer->reason = reason;
    (void)snprintf(answer->detail, sizeof(answer->detail), "%s", detail);
}

static bool changes_something(local_op op)
{
    return op == LOCAL_START || op == LOCAL_WINDOW || op == LOCAL_STOP || op == LOCAL_THREADS;
}

static void encode(uint8_t **bytes, size_t *length, local_answer *answer)
{
    if (local_answer_encode(bytes, length, answer) != 0) {
        *bytes = NULL;
        *length = 0;
    }
    local_answer_clear(answer);
}

static void run(const localrpc_server *server, const local_request *request, uint8_t **bytes,
                size_t *length)
{
    local_answer answer = {0};
    server->handler(server->handler_context, request, &answer);
    memcpy(answer.id, request->id, LOCAL_ID_SIZE);
    encode(bytes, length, &answer);
}

static void run_once(const localrpc_server *server, const local_request *request,
                     const nng_msg *message, uint8_t **bytes, size_t *length)
{
    nng_msg *body = (nng_msg *)(uintptr_t)message;
    if (localrpc__memory_begin(server->memory, request->id, nng_msg_body(body), nng_msg_len(body),
                               bytes, length)) {
        run(server, request, bytes, length);
        localrpc__memory_finish(server->memory, request->id, *bytes, *length);
    } else if (*bytes == NULL) {
        local_answer answer = {0};
        memcpy(answer.id, request->id, LOCAL_ID_SIZE);
        refuse(&answer, REASON_INTERNAL,
               "the request's id was used for another request, or too many requests run");
        encode(bytes, length, &answer);
    }
}

/* Returns the answer to a message, or NULL if the message is not a request. */
static nng_msg *serve(const localrpc_server *server, const nng_msg *message)
{
    nng_msg *body = (nng_msg *)(uintptr_t)message;
    local_request request;
    uint8_t *bytes = NULL;
    size_t length = 0;
    int rc = local_request_decode(&request, nng_msg_body(body), nng_msg_len(body));
    if (rc == 1) {
        local_answer answer = {0};
        memcpy(answer.id, request.id, LOCAL_ID_SIZE);
        refuse(&answer, REASON_PROTOCOL_MISMATCH,
               "the other side speaks protocol 1; both must be of one release");
        encode(&bytes, &length, &answer);
    } else if (rc == 0 && changes_something(request.op)) {
        run_once(server, &request, message, &bytes, &length);
    } else if (rc == 0) {
        run(server, &request, &bytes, &length);
    }
    nng_msg *reply = NULL;
    if (bytes != NULL && nng_msg_alloc(&reply, 0) == 0 &&
        nng_msg_append(reply, bytes, length) != 0) {
        nng_msg_free(reply);
        reply = NULL;
    }
    free(bytes);
    return reply;
}

/* A message that is not a request gets an empty answer, so that its sender does not wait. */
static nng_msg *reply_to(const localrpc_server *server, const nng_msg *message)
{
    nng_msg *reply = serve(server, message);
    if (reply == NULL) {
        say(server, "answered a message that cannot be read, or memory ran out");
        if (nng_msg_alloc(&reply, 0) != 0)
            return NULL;
    }
    return reply;
}

static void *work(void *argument)
{
    worker *self = argument;
    while (!atomic_load(&self->server->stopping)) {
        nng_aio_set_timeout(self->aio, NNG_DURATION_INFINITE);
        nng_ctx_recv(self->context, self->aio);
        nng_aio_wait(self->aio);
        if (nng_aio_result(self->aio) != 0)
            continue;
        nng_msg *message = nng_aio_get_msg(self->aio);
        nng_msg *reply = reply_to(self->server, message);
        nng_msg_free(message);
        if (reply == NULL)
            continue;
        nng_aio_set_msg(self->aio, reply);
        nng_ctx_send(self->context, self->aio);
        nng_aio_wait(self->aio);
        if (nng_aio_result(self->aio) != 0)
            nng_msg_free(reply);
    }
    return NULL;
}

static int prepare_directory(const char *path, localrpc_error *err)
{
    char directory[LOCALRPC_URL_SIZE];
    (void)snprintf(directory, sizeof(directory), "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash == directory)
        return 0;
    *slash = '\0';
    bool made = mkdir(directory, 0755) == 0;
    if ((!made && errno != EEXIST) ||
        (made && chmod(directory, 0755) != 0)) /* the umask may have cleared bits */
        return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot make the socket's directory %s: %s",
                              directory, strerror(errno));
    struct stat at;
    if (stat(directory, &at) != 0)
        return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot see %s: %s", directory,
                              strerror(errno));
    if (!S_ISDIR(at.st_mode) || ((at.st_mode & 022) != 0 && (at.st_mode & S_ISVTX) == 0))
        return localrpc__fail(err, LOCALRPC_ERR_USAGE,
                              "%s is no directory, or others may write to it; choose another for "
                              "the socket",
                              directory);
    return 0;
}

static void say_of_listener(void *server, const char *message)
{
    say(server, message);
}

static int listen_on(localrpc_server *server, const localrpc_server_options *options,
                     localrpc_error *err)
{
    char url[LOCALRPC_URL_SIZE];
    int rc = localrpc__url(url, options->socket_path, err);
    if (rc == 0)
        rc = prepare_directory(options->socket_path, err);
    if (rc != 0)
        return rc;
    rc = nng_socket_set_size(server->socket, NNG_OPT_RECVMAXSZ, LOCAL_REQUEST_MAX);
    if (rc == 0)
        rc = nng_pipe_notify(server->socket, NNG_PIPE_EV_ADD_PRE, check_peer, server);
    if (rc != 0)
        return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot listen on %s: %s", options->socket_path,
                              nng_strerror(rc));
    return localrpc__listen(&server->listener, server->socket, url,
                            options->mode != 0 ? options->mode : 0600, say_of_listener, server,
                            err);
}

static int start_workers(localrpc_server *server, unsigned count, localrpc_error *err)
{
    server->workers = calloc(count, sizeof(*server->workers));
    if (server->workers == NULL)
        return localrpc__fail(err, LOCALRPC_ERR_IO, "out of memory");
    for (unsigned i = 0; i < count; i++) {
        worker *one = &server->workers[i];
        one->server = server;
        int rc = nng_aio_alloc(&one->aio, NULL, NULL);
        if (rc == 0)
            rc = nng_ctx_open(&one->context, server->socket);
        if (rc == 0 && pthread_create(&one->thread, NULL, work, one) == 0) {
            server->worker_count++;
            continue;
        }
        nng_aio_free(one->aio);
        return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot start a worker: %s",
                              rc != 0 ? nng_strerror(rc) : "no thread");
    }
    return 0;
}

static bool options_fit(const localrpc_server_options *options)
{
    return options != NULL && options->size == sizeof(*options) && options->handler != NULL &&
           options->workers <= WORKERS_MAX && (options->uid_count == 0 || options->uids != NULL);
}

static localrpc_server *new_server(const localrpc_server_options *options)
{
    localrpc_server *server = calloc(1, sizeof(*server));
    if (server == NULL)
        return NULL;
    server->handler = options->handler;
    server->handler_context = options->context;
    server->log = options->log;
    server->uids = calloc(options->uid_count + 1, sizeof(*server->uids));
    server->memory =
        localrpc__memory_new(options->remembered != 0 ? options->remembered : REMEMBERED_DEFAULT);
    if (server->uids == NULL || server->memory == NULL || nng_rep0_open(&server->socket) != 0) {
        free(server->uids);
        localrpc__memory_free(server->memory);
        free(server);
        return NULL;
    }
    if (options->uid_count > 0)
        memcpy(server->uids, options->uids, options->uid_count * sizeof(*server->uids));
    server->uid_count = options->uid_count;
    return server;
}

int localrpc_server_start(localrpc_server **out, const localrpc_server_options *options,
                          localrpc_error *err)
{
    *out = NULL;
    if (!options_fit(options))
        return localrpc__fail(err, LOCALRPC_ERR_USAGE, "the server's options are out of range");
    localrpc_server *server = new_server(options);
    if (server == NULL)
        return localrpc__fail(err, LOCALRPC_ERR_IO, "cannot make the server: no memory or socket");
    int rc = start_workers(server, options->workers != 0 ? options->workers : WORKERS_DEFAULT, err);
    if (rc == 0)
        rc = listen_on(server, options, err);
    if (rc != 0) {
        localrpc_server_stop(server);
        return rc;
    }
    *out = server;
    return 0;
}

/*
 * nng frees the contexts of a closed socket while a thread may still be in nng_ctx_recv or
 * nng_ctx_send (nng issue 2238, seen with 1.5.2). So all workers end before the socket closes.
 */
static void join_worker(worker *one)
{
    enum { AGAIN_MS = 5 };
    struct timespec until;
    do {
        nng_aio_cancel(one->aio); /* no effect while the worker is between two waits */
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += AGAIN_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
    } while (pthread_timedjoin_np(one->thread, NULL, &until) == ETIMEDOUT);
    nng_ctx_close(one->context);
    nng_aio_free(one->aio);
}

static void *end_server(void *argument)
{
    localrpc_server *server = argument;
    nng_close(server->socket);
    localrpc__memory_free(server->memory);
    free(server->workers);
    free(server->uids);
    free(server);
    return NULL;
}

void localrpc_server_stop(localrpc_server *server)
{
    if (server == NULL)
        return;
    localrpc__listener_stop(server->listener);
    atomic_store(&server->stopping, true);
    for (unsigned i = 0; i < server->worker_count; i++)
        join_worker(&server->workers[i]);
    void (*log)(void *, const char *) = server->log;
    void *log_context = server->handler_context;
    if (!localrpc__end(end_server, server) && log != NULL)
        log(log_context, "a connection does not end; it is left to the end of the process");
}
