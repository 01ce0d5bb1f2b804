/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include <attachclient/attachclient.h>

#define GRACE_MS 2000

/* A running operation of a worker. */
typedef struct conversation {
    attachclient__process process;
    uint64_t deadline_ns;
    int cancel_fd;
    attach_piece_fn piece;
    void *ctx;
    uint64_t bytes;
    uint8_t *payload; /* ATTACH_PIECE_MAX bytes */
    attach_error err;
} conversation;

static int fail(conversation *c, int code, attach_reason reason, const char *format, ...)
    ATTACH_PRINTF(4, 5);

static int fail(conversation *c, int code, attach_reason reason, const char *format, ...)
{
    va_list args;
    c->err = (attach_error){.code = code, .reason = reason};
    va_start(args, format);
    (void)vsnprintf(c->err.message, sizeof(c->err.message), format, args);
    va_end(args);
    return code;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Waits for `events` on fd, the cancel descriptor, or the deadline. */
static int wait_for(conversation *c, int fd, short events)
{
    for (;;) {
        uint64_t now = now_ns();
        if (now >= c->deadline_ns)
            return fail(c, ATTACH_ERR_TARGET, ATTACH_REASON_ATTACH_TIMEOUT,
                        "the attach worker did not answer in time and was killed");
        uint64_t left_ms = (c->deadline_ns - now) / 1000000u + 1;
        struct pollfd wanted[] = {{.fd = fd, .events = events},
                                  {.fd = c->cancel_fd, .events = POLLIN}};
        int ready = poll(wanted, 2, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
        if (ready < 0 && errno != EINTR)
            return fail(c, ATTACH_ERR_IO, ATTACH_REASON_NONE, "poll: %s", strerror(errno));
        if (ready > 0 && wanted[1].revents != 0)
            return fail(c, ATTACH_ERR_IO, ATTACH_REASON_NONE, "the operation was cancelled");
        if (ready > 0)
            return ATTACH_OK;
    }
}

static int send_request(conversation *c, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t put = write(c->process.to, bytes, n);
        if (put >= 0) {
            bytes += put;
            n -= (size_t)put;
        } else if (errno == EAGAIN) {
            int rc = wait_for(c, c->process.to, POLLOUT);
            if (rc != ATTACH_OK)
                return rc;
        } else if (errno != EINTR) {
            return fail(c, ATTACH_ERR_IO, ATTACH_REASON_NONE,
                        "cannot talk to the attach worker: %s", strerror(errno));
        }
    }
    (void)close(c->process.to);
    c->process.to = -1;
    return ATTACH_OK;
}

static int receive(conversation *c, uint8_t *bytes, size_t n)
{
    while (n > 0) {
        ssize_t got = read(c->process.from, bytes, n);
        if (got > 0) {
            bytes += got;
            n -= (size_t)got;
        } else if (got == 0) {
            return fail(c, ATTACH_ERR_IO, ATTACH_REASON_NONE,
                        "the attach worker ended without an answer");
        } else if (errno == EAGAIN) {
            int rc = wait_for(c, c->process.from, POLLIN);
            if (rc != ATTACH_OK)
                return rc;
        } else if (errno != EINTR) {
            return fail(c, ATTACH_ERR_IO, ATTACH_REASON_NONE, "reading from the attach worker: %s",
                        strerror(errno));
        }
    }
    return ATTACH_OK;
}

static int pass_on(conversation *c, size_t n)
{
    c->bytes += n;
    if (c->piece == NULL || c->piece(c->ctx, c->payload, n) != 0)
        return fail(c, ATTACH_ERR_IO, ATTACH_REASON_NONE,
                    "the bytes that the attach worker sent were refused");
    return ATTACH_OK;
}

static int take_result(attach_result *out, conversation *c, size_t n)
{
    int rc = attach_answer_result_decode(out, c->payload, n, &c->err);
    if (rc != ATTACH_OK)
        return rc;
    if (out->bytes != c->bytes)
        return fail(c, ATTACH_ERR_FORMAT, ATTACH_REASON_NONE,
                    "the attach worker counts other bytes than it sent");
    if (out->code != ATTACH_OK)
        return fail(c, out->code, out->reason, "%s", out->message);
    return ATTACH_OK;
}

/*
 * A worker that has answered may end by itself, so that it and a memory checker can do their work
 * at exit. A worker that does not end, or that writes more, is killed. The answer holds in each
 * case.
 */
static void let_end(conversation *c)
{
    uint8_t more;
    attach_error said = c->err;
    while (
        read(c->process.from, &more, 1) < 0 &&
        (errno == EINTR || (errno == EAGAIN && wait_for(c, c->process.from, POLLIN) == ATTACH_OK)))
        continue;
    c->err = said;
}

static int receive_answer(attach_result *out, conversation *c)
{
    for (;;) {
        uint8_t header[ATTACH_FRAME_HEADER];
        attach_frame_type type = ATTACH_FRAME_DATA;
        size_t n = 0;
        int rc = receive(c, header, sizeof(header));
        if (rc == ATTACH_OK)
            rc = attach_answer_header_decode(&type, &n, header, &c->err);
        if (rc == ATTACH_OK)
            rc = receive(c, c->payload, n);
        if (rc != ATTACH_OK)
            return rc;
        if (type == ATTACH_FRAME_RESULT) {
            let_end(c);
            return take_result(out, c, n);
        }
        rc = pass_on(c, n);
        if (rc != ATTACH_OK)
            return rc;
    }
}

/* Writing to a worker that has died raises SIGPIPE: it is blocked while we write, then consumed. */
static int send_without_sigpipe(conversation *c, const uint8_t *bytes, size_t n)
{
    sigset_t pipe_signal, before, pending;
    (void)sigemptyset(&pipe_signal);
    (void)sigaddset(&pipe_signal, SIGPIPE);
    (void)sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    int rc = send_request(c, bytes, n);
    if (!was_pending)
        while (sigtimedwait(&pipe_signal, NULL, &(struct timespec){0, 0}) < 0 && errno == EINTR)
            continue;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static int talk(attach_result *out, conversation *c, const attach_request *request,
                const char *worker)
{
    uint8_t *bytes = c->payload; /* free until the first frame comes */
    size_t n = 0;
    int rc = attach_request_encode(bytes, ATTACH_REQUEST_MAX, &n, request, &c->err);
    if (rc != ATTACH_OK)
        return rc;
    if (attachclient_unreaped() >= ATTACHCLIENT_UNREAPED_MAX)
        return fail(c, ATTACH_ERR_LIMIT, ATTACH_REASON_NONE,
                    "%d killed attach workers do not end, as on a network file system that does "
                    "not answer: no other is started before one of them ends",
                    ATTACHCLIENT_UNREAPED_MAX);
    c->deadline_ns = attach_deadline_in((uint64_t)request->timeout_ms + GRACE_MS);
    int error = attachclient__process_start(&c->process, worker);
    if (error != 0)
        return fail(c, ATTACH_ERR_IO, ATTACH_REASON_NONE, "cannot start the attach worker %s: %s",
                    worker, strerror(error));
    rc = send_without_sigpipe(c, bytes, n);
    if (rc == ATTACH_OK)
        rc = receive_answer(out, c);
    attachclient__process_end(&c->process);
    return rc;
}

static int find_worker(char *out, size_t cap, const attachclient_options *options, conversation *c)
{
    if (options != NULL && options->worker != NULL) {
        int n = snprintf(out, cap, "%s", options->worker);
        return n > 0 && (size_t)n < cap
                   ? ATTACH_OK
                   : fail(c, ATTACH_ERR_USAGE, ATTACH_REASON_NONE, "the worker's path is too long");
    }
    return attachclient_find_worker(out, cap) == 0
               ? ATTACH_OK
               : fail(c, ATTACH_ERR_IO, ATTACH_REASON_NONE,
                      "the attach worker is not installed at %s; HOTSTACK_ATTACH_WORKER names "
                      "another place",
                      out);
}

int attachclient_run(attach_result *out, const attach_request *request, attach_piece_fn piece,
                     void *ctx, const attachclient_options *options, attach_error *err)
{
    char worker[PATH_MAX];
    conversation c = {.piece = piece, .ctx = ctx, .cancel_fd = -1};
    memset(out, 0, sizeof(*out));
    if (options != NULL)
        c.cancel_fd = options->cancel_fd;
    int rc = find_worker(worker, sizeof(worker), options, &c);
    if (rc == ATTACH_OK) {
        c.payload = malloc(ATTACH_PIECE_MAX);
        rc = c.payload == NULL ? fail(&c, ATTACH_ERR_NOMEM, ATTACH_REASON_NONE,
                                      "no memory for the worker's answer")
                               : talk(out, &c, request, worker);
        free(c.payload);
    }
    if (rc == ATTACH_OK)
        return rc;
    out->code = rc;
    out->reason = c.err.reason;
    memcpy(out->message, c.err.message, sizeof(out->message));
    if (err != NULL)
        *err = c.err;
    return rc;
}
