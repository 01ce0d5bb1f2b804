/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front.h"
#include "internal.h"

enum { LINGER_MS = 1000, LINGER_BYTES = 1 << 20 };

void http__conn_close(front *f, front_conn *conn)
{
    if (conn->state == CONN_GONE)
        return;
    /* close removes the descriptor from epoll. */
    close(conn->client_fd);
    if (conn->inner_fd >= 0)
        close(conn->inner_fd);
    conn->client_fd = conn->inner_fd = -1;
    conn->state = CONN_GONE;
    atomic_fetch_sub(&f->open, 1);
}

/* Closes the engine's side, to which the client then seems to have disconnected. */
static void drop_engine(front_conn *conn)
{
    if (conn->inner_fd >= 0)
        close(conn->inner_fd);
    conn->inner_fd = -1;
    conn->inner_events = 0;
    conn->in_length = conn->in_pass = conn->in_seen = 0;
}

static void linger(front_conn *conn, uint64_t now)
{
    drop_engine(conn);
    shutdown(conn->client_fd, SHUT_WR);
    conn->state = CONN_LINGER;
    conn->deadline_ms = now + LINGER_MS;
}

static const char *status_text(int status)
{
    switch (status) {
    case 408:
        return "Request Timeout";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 417:
        return "Expectation Failed";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Bad Request";
    }
}

/* Answers instead of the engine and ends the connection. */
static void refuse(front_conn *conn, const http_refusal *why, uint64_t now)
{
    char body[256];

    drop_engine(conn);
    int length = snprintf(body, sizeof(body), "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n",
                          why->code, why->message);
    /* A partly sent answer must not be followed by another, so only close. */
    if (conn->out_length > 0) {
        linger(conn, now);
        return;
    }
    conn->out_at = 0;
    conn->out_length = (size_t)snprintf(
        conn->out, sizeof(conn->out),
        "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n%s",
        why->status, status_text(why->status), length, body);
    conn->state = CONN_FLUSH;
    conn->deadline_ms = now + LINGER_MS;
}

static void refuse_counted(front *f, front_conn *conn, const http_refusal *why, uint64_t now)
{
    atomic_fetch_add(&f->refused_requests, 1);
    refuse(conn, why, now);
}

void http__conn_expire(front *f, front_conn *conn, uint64_t now)
{
    static const http_refusal late = {408, "timeout", "The request did not come in time.", 0};
    bool half = (conn->state == CONN_HEAD && conn->in_length > 0) || conn->state == CONN_BODY;

    if (conn->state != CONN_LINGER && (half || conn->state == CONN_ANSWER))
        atomic_fetch_add(&f->timeouts, 1);
    if (half)
        refuse(conn, &late, now);
    else
        http__conn_close(f, conn);
}

/* ---- client to engine ---- */

/* Gives the engine its half of a new socketpair. */
static bool open_engine(front *f, front_conn *conn)
{
    int pair[2];

    if (conn->inner_fd >= 0)
        return true;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return false;
    pthread_mutex_lock(&f->lock);
    conn->engine_fd = pair[1];
    pthread_mutex_unlock(&f->lock);
    conn->inner_fd = pair[0];
    if (f->adopt(f->engine, pair[1]))
        return true;
    http__front_closed(f, conn);
    return false;
}

static void await_answer(front *f, front_conn *conn, uint64_t now)
{
    conn->state = CONN_ANSWER;
    conn->deadline_ms = now + f->options->answer_ms;
}

static void begin_request(front *f, front_conn *conn, const http_gate_head *head, size_t length,
                          uint64_t now)
{
    if (!open_engine(f, conn)) {
        http__conn_close(f, conn);
        return;
    }
    conn->in_pass = length;
    conn->in_seen = 0;
    conn->framing = head->framing;
    conn->body_left = head->content_length;
    conn->chunked = (http_chunked)HTTP_CHUNKED_INIT;
    conn->last = head->close;
    if (head->framing == HTTP_FRAMING_NONE) {
        await_answer(f, conn, now);
        return;
    }
    conn->state = CONN_BODY;
    conn->deadline_ms = now + f->options->body_ms;
}

static bool step_head(front *f, front_conn *conn, uint64_t now)
{
    http_gate_head head;
    http_refusal why;

    if (conn->in_length == conn->in_seen)
        return false;
    if (conn->in_seen == 0 && conn->answered > 0)
        conn->deadline_ms = now + f->options->head_ms;
    int end = http_gate_read_head(&head, conn->in, conn->in_length, conn->in_seen,
                                  &f->options->gate, &why);
    conn->in_seen = conn->in_length;
    if (end == HTTP_GATE_REFUSED)
        refuse_counted(f, conn, &why, now);
    else if (end > 0)
        begin_request(f, conn, &head, (size_t)end, now);
    return end != HTTP_GATE_MORE;
}

/* Accepts the bytes that belong to the body. Returns true if there were any. */
static bool step_body(front *f, front_conn *conn, uint64_t now)
{
    size_t fresh = conn->in_length - conn->in_pass;
    http_refusal why = {0};
    bool done = false;
    int taken;

    if (conn->framing == HTTP_FRAMING_LENGTH) {
        taken = (int)(conn->body_left < fresh ? conn->body_left : fresh);
        conn->body_left -= (uint64_t)taken;
        done = conn->body_left == 0;
    } else {
        taken = http_chunked_feed(&conn->chunked, conn->in + conn->in_pass, fresh,
                                  f->options->chunked_bytes, &done, &why);
    }
    if (taken == HTTP_GATE_REFUSED) {
        refuse_counted(f, conn, &why, now);
        return true;
    }
    conn->in_pass += (size_t)taken;
    if (done)
        await_answer(f, conn, now);
    return taken > 0 || done;
}

static bool read_client(front *f, front_conn *conn)
{
    if ((conn->state != CONN_HEAD && conn->state != CONN_BODY) || conn->in_length == FRONT_BUFFER)
        return false;
    ssize_t got =
        recv(conn->client_fd, conn->in + conn->in_length, FRONT_BUFFER - conn->in_length, 0);
    if (got > 0) {
        conn->in_length += (size_t)got;
        return true;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        http__conn_close(f, conn);
    return false;
}

static bool write_engine(front_conn *conn)
{
    if (conn->in_pass == 0 || conn->inner_fd < 0)
        return false;
    ssize_t put = send(conn->inner_fd, conn->in, conn->in_pass, MSG_NOSIGNAL);
    if (put < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    /* The engine has ended the connection early and needs no further input. */
    size_t gone = put < 0 ? conn->in_pass : (size_t)put;
    memmove(conn->in, conn->in + gone, conn->in_length - gone);
    conn->in_length -= gone;
    conn->in_pass -= gone;
    return true;
}

/* ---- engine to client ---- */

static bool read_engine(front_conn *conn, bool *drained)
{
    *drained = false;
    if (conn->inner_fd < 0 || conn->inner_eof || conn->out_length > 0)
        return false;
    ssize_t got = recv(conn->inner_fd, conn->out, FRONT_BUFFER, 0);
    if (got > 0) {
        conn->out_at = 0;
        conn->out_length = (size_t)got;
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        *drained = errno == EAGAIN;
        return false;
    }
    conn->inner_eof = true;
    return true;
}

static bool write_client(front *f, front_conn *conn)
{
    if (conn->out_length == 0)
        return false;
    ssize_t put = send(conn->client_fd, conn->out + conn->out_at, conn->out_length, MSG_NOSIGNAL);
    if (put < 0) {
        if (errno != EAGAIN && errno != EINTR)
            http__conn_close(f, conn);
        return false;
    }
    conn->out_at += (size_t)put;
    conn->out_length -= (size_t)put;
    return true;
}

/* The answer is sent: continue with the next request, or end. */
static void next_request(front *f, front_conn *conn, uint64_t now)
{
    conn->answered++;
    if (conn->last || atomic_load(&f->stopping)) {
        linger(conn, now);
        return;
    }
    conn->state = CONN_HEAD;
    conn->in_seen = 0;
    conn->deadline_ms = now + f->options->idle_ms;
}

static bool throw_away(front *f, front_conn *conn)
{
    char bin[FRONT_BUFFER];
    ssize_t got = recv(conn->client_fd, bin, sizeof(bin), 0);

    if (got > 0)
        conn->thrown_away += (size_t)got;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) ||
        conn->thrown_away > LINGER_BYTES)
        http__conn_close(f, conn);
    return false;
}

/* Runs one round. Returns true if any bytes moved. */
static bool step(front *f, front_conn *conn, uint64_t now)
{
    bool moved = false, drained;
    /* Read this before the engine's bytes: a whole answer is in the socket before the engine counts
     * it. */
    unsigned completed = atomic_load(&conn->completed);

    if (conn->state == CONN_LINGER)
        return throw_away(f, conn);
    moved |= read_client(f, conn);
    if (conn->state == CONN_HEAD)
        moved |= step_head(f, conn, now);
    if (conn->state == CONN_BODY)
        moved |= step_body(f, conn, now);
    moved |= write_engine(conn);
    moved |= read_engine(conn, &drained);
    if (conn->state != CONN_GONE)
        moved |= write_client(f, conn);
    if (conn->state == CONN_GONE)
        return false;
    if (conn->out_length == 0 && (conn->inner_eof || conn->state == CONN_FLUSH)) {
        linger(conn, now);
        return true;
    }
    if (conn->state == CONN_ANSWER && drained && completed != conn->answered &&
        conn->in_pass == 0) {
        next_request(f, conn, now);
        return true;
    }
    return moved;
}

static void watch(front *f, front_conn *conn)
{
    bool takes_input =
        (conn->state == CONN_HEAD || conn->state == CONN_BODY) && conn->in_length < FRONT_BUFFER;
    uint32_t client = (takes_input || conn->state == CONN_LINGER ? (uint32_t)EPOLLIN : 0) |
                      (conn->out_length > 0 ? (uint32_t)EPOLLOUT : 0);
    uint32_t inner = (conn->out_length == 0 ? (uint32_t)EPOLLIN : 0) |
                     (conn->in_pass > 0 ? (uint32_t)EPOLLOUT : 0);

    if (conn->state == CONN_GONE)
        return;
    http__front_watch(f, conn, conn->client_fd, &conn->client_events, client);
    if (conn->inner_fd >= 0)
        http__front_watch(f, conn, conn->inner_fd, &conn->inner_events, inner);
}

void http__conn_run(front *f, front_conn *conn, uint64_t now)
{
    while (step(f, conn, now)) {
    }
    watch(f, conn);
}
