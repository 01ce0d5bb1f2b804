/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one request to the agent and reads its answer. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error_impl.h"
#include "threads/threads_agent_impl.h"
#include "threads/threads_native_impl.h"
#include "threads/threads_wire_impl.h"
#include <attach/listener_impl.h>

#define NATIVE_SPARE 32 /* for the headers of the appended field */

static int lost(const attach__agent *a, attach_error *err)
{
    int rc = attach__target_check(a->target, err);
    return rc != ATTACH_OK ? rc
                           : attach__refuse(err, ATTACH_REASON_THREAD_AGENT_ERROR,
                                            "the thread agent of process %d closed the connection",
                                            a->target->identity.pid);
}

static int send_all(int fd, const void *bytes, size_t n, const attach__agent *a, attach_error *err)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        ssize_t put = send(fd, p, n, MSG_NOSIGNAL);
        if (put > 0) {
            p += put;
            n -= (size_t)put;
        } else if (errno == EAGAIN || errno == EINTR) {
            int rc = attach__wait_for(fd, POLLOUT, a->target, a->deadline_ns, err);
            if (rc != ATTACH_OK)
                return rc;
        } else {
            return ATTACH__NO_AGENT;
        }
    }
    return ATTACH_OK;
}

/* Returns ATTACH__NO_AGENT when the agent closes the connection. */
static int receive_all(int fd, void *bytes, size_t n, const attach__agent *a, attach_error *err)
{
    uint8_t *p = bytes;
    while (n > 0) {
        ssize_t got = recv(fd, p, n, 0);
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            int rc = attach__wait_for(fd, POLLIN, a->target, a->deadline_ns, err);
            if (rc != ATTACH_OK)
                return rc;
        } else {
            return ATTACH__NO_AGENT;
        }
    }
    return ATTACH_OK;
}

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value == 0 ? otherwise : value;
}

/* Returns the agent's time limit: three quarters of the time that is left, since sending the answer
 * takes time too. */
static uint32_t time_limit(const attach__agent *a)
{
    uint64_t now = attach__now_ns();
    uint64_t left_ms = a->deadline_ns > now ? (a->deadline_ns - now) / 1000000u : 0;
    uint64_t limit = left_ms / 4 * 3;
    if (limit == 0)
        return 1;
    return limit > THREADS_LEASE_LIMIT ? THREADS_LEASE_LIMIT : (uint32_t)limit;
}

static void describe(threads_ask *out, const attach__agent *a, enum threads_op op)
{
    const attach_threads_options *o = a->options;
    const char *id = o->lease_id == NULL ? o->installation_id : o->lease_id;
    memset(out, 0, sizeof(*out));
    out->magic = THREADS_ASK;
    out->version = THREADS_VERSION;
    out->op = op;
    out->flags = o->flags & ~(uint32_t)ATTACH_THREADS_NATIVE_IDS;
    out->max_threads = or_default(o->max_threads, ATTACH_THREADS_MAX_DEFAULT);
    out->max_stacks =
        o->max_stacks == UINT32_MAX ? 0 : or_default(o->max_stacks, ATTACH_STACKS_MAX_DEFAULT);
    out->max_depth = or_default(o->max_depth, ATTACH_DEPTH_MAX_DEFAULT);
    out->max_bytes = or_default(o->max_bytes, ATTACH_THREADS_BYTES_DEFAULT);
    out->time_limit_ms = time_limit(a);
    out->lease_ms = or_default(o->lease_ms, ATTACH_LEASE_MS_DEFAULT);
    out->pause_ms = o->pause_ms;
    memcpy(out->lease_id, id, strlen(id));
}

/* Returns the error of a refusal, whose text is not trusted. */
static int refused(const threads_answer *answer, const uint8_t *bytes, const attach__agent *a,
                   attach_error *err)
{
    char words[160];
    attach__copy_text(words, sizeof(words), attach__span_of((const char *)bytes, answer->length));
    if (a->target->jvm.jdk_deleted)
        return attach__target_lacks_jdk(a->target, words, err);
    return attach__refuse(err, ATTACH_REASON_THREAD_AGENT_ERROR,
                          "the thread agent of process %d: %s", a->target->identity.pid, words);
}

static int receive_answer(attach__blob *out, uint32_t *leases, int fd, const threads_ask *ask,
                          const attach__agent *a, attach_error *err)
{
    threads_answer answer;
    *out = (attach__blob){NULL, 0};
    int rc = receive_all(fd, &answer, sizeof(answer), a, err);
    if (rc != ATTACH_OK)
        return rc;
    if (answer.magic != THREADS_ANSWER || answer.version != THREADS_VERSION)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, 0,
                               "the thread agent of process %d speaks another protocol",
                               a->target->identity.pid);
    if (answer.length > (uint64_t)ask->max_bytes + THREADS_BYTES_SPARE)
        return attach__fail_at(err, ATTACH_ERR_LIMIT, 0,
                               "the thread agent of process %d answers with %u bytes",
                               a->target->identity.pid, answer.length);
    out->p = malloc((size_t)answer.length + 1);
    if (out->p == NULL)
        return attach__fail(err, ATTACH_ERR_NOMEM, "no memory for a thread snapshot");
    out->n = answer.length;
    *leases = answer.leases;
    rc = receive_all(fd, out->p, answer.length, a, err);
    if (rc == ATTACH_OK && answer.status != THREADS_DONE)
        rc = refused(&answer, (const uint8_t *)out->p, a, err);
    if (rc == ATTACH_OK)
        return rc;
    free(out->p);
    *out = (attach__blob){NULL, 0};
    return rc == ATTACH__NO_AGENT ? lost(a, err) : rc;
}

/* Returns ATTACH__NO_AGENT when the agent ended before it answered. */
static int exchange(attach__blob *out, uint32_t *leases, int fd, enum threads_op op,
                    const attach__agent *a, attach_error *err)
{
    threads_ask ask;
    describe(&ask, a, op);
    int rc = send_all(fd, &ask, sizeof(ask), a, err);
    return rc == ATTACH_OK ? receive_answer(out, leases, fd, &ask, a, err) : rc;
}

static int ask_agent(attach__blob *out, attach__agent *a, attach_error *err)
{
    uint32_t leases = 0;
    int fd = -1;
    int rc = attach__agent_connect(&fd, a, err);
    if (rc == ATTACH_OK) {
        rc = exchange(out, &leases, fd, THREADS_OP_SNAPSHOT, a, err);
        (void)close(fd);
    }
    if (rc != ATTACH__NO_AGENT)
        return rc;
    rc = attach__agent_bring_up(&fd, a, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = exchange(out, &leases, fd, THREADS_OP_SNAPSHOT, a, err);
    (void)close(fd);
    return rc == ATTACH__NO_AGENT ? lost(a, err) : rc;
}

/* ---- native ids ---- */

/* Appends the packed column of os_tids to the snapshot as field F_NATIVE. Concatenating protobuf
 * messages merges them. */
static int append_native(attach__blob *bytes, const uint32_t *os_tids, size_t n, attach_error *err)
{
    uint8_t *column = malloc(n * 5 + NATIVE_SPARE), *inner = malloc(n * 5 + NATIVE_SPARE);
    char *longer = realloc(bytes->p, bytes->n + n * 5 + 2 * (size_t)NATIVE_SPARE);
    if (longer != NULL)
        bytes->p = longer;
    if (column == NULL || inner == NULL || longer == NULL) {
        free(column);
        free(inner);
        return attach__fail(err, ATTACH_ERR_NOMEM, "no memory for a thread snapshot");
    }
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        length += attach__pb_put_varint(column + length, os_tids[i]);
    size_t inner_length = attach__pb_put_bytes(inner, F_NATIVE_OS_TID, column, length);
    bytes->n += attach__pb_put_bytes((uint8_t *)bytes->p + bytes->n, F_NATIVE, inner, inner_length);
    free(column);
    free(inner);
    return ATTACH_OK;
}

static int join_native(attach__blob *bytes, attach__tasks *tasks, const attach_target *target,
                       attach_error *err)
{
    attach_threads *threads = NULL;
    attach__tasks_read_again(tasks, target);
    int rc = attach_threads_decode(&threads, (const uint8_t *)bytes->p, bytes->n, err);
    if (rc != ATTACH_OK)
        return rc;
    size_t n = attach_threads_count(threads);
    uint32_t *os_tids = calloc(n + 1, sizeof(*os_tids));
    if (os_tids == NULL) {
        rc = attach__fail(err, ATTACH_ERR_NOMEM, "no memory for a thread snapshot");
    } else {
        attach__tasks_join(os_tids, tasks, threads);
        rc = append_native(bytes, os_tids, n, err);
    }
    free(os_tids);
    attach_threads_free(threads);
    return rc;
}

/* ---- the calls ---- */

static int hand_over(const attach__blob *bytes, attach_piece_fn piece, void *ctx, attach_error *err)
{
    for (size_t at = 0; at < bytes->n; at += ATTACH_PIECE_MAX) {
        size_t n = bytes->n - at < ATTACH_PIECE_MAX ? bytes->n - at : ATTACH_PIECE_MAX;
        if (piece(ctx, (const uint8_t *)bytes->p + at, n) != 0)
            return attach__fail(err, ATTACH_ERR_IO, "the snapshot's bytes were refused");
    }
    return ATTACH_OK;
}

static int take(attach__agent *a, attach_piece_fn piece, void *ctx, attach_error *err)
{
    attach__blob bytes = {NULL, 0};
    attach__tasks tasks = {NULL, 0};
    bool native = a->options->flags & ATTACH_THREADS_NATIVE_IDS;
    if (native)
        attach__tasks_read(&tasks, a->target);
    int rc = ask_agent(&bytes, a, err);
    if (rc == ATTACH_OK && native)
        rc = join_native(&bytes, &tasks, a->target, err);
    if (rc == ATTACH_OK)
        rc = hand_over(&bytes, piece, ctx, err);
    free(tasks.list);
    free(bytes.p);
    return rc;
}

int attach_threads_take(attach_target *target, const attach_threads_options *options,
                        attach_piece_fn piece, void *ctx, uint64_t deadline_ns, attach_error *err)
{
    attach__agent a;
    if (piece == NULL)
        return attach__fail(err, ATTACH_ERR_USAGE,
                            "no receiver was given for the snapshot's bytes");
    int rc = attach__agent_open(&a, target, options, deadline_ns, err);
    if (rc == ATTACH_OK)
        rc = take(&a, piece, ctx, err);
    attach__agent_close(&a);
    return rc;
}

/* Closes the lease under the directory's lock, so that no other process starts an agent while the
 * files are removed. */
static int close_lease(attach__agent *a, attach_error *err)
{
    attach__blob nothing = {NULL, 0};
    uint32_t leases = 0;
    int fd = -1;
    int rc = attach__agent_lock(a, err);
    if (rc != ATTACH_OK)
        return rc == ATTACH__NO_AGENT ? ATTACH_OK : rc;
    rc = attach__agent_connect(&fd, a, err);
    if (rc == ATTACH_OK) {
        rc = exchange(&nothing, &leases, fd, THREADS_OP_CLOSE, a, err);
        (void)close(fd);
        free(nothing.p);
    }
    bool ended = rc == ATTACH__NO_AGENT || (rc == ATTACH_OK && leases == 0);
    if (ended)
        attach__agent_remove(a);
    return ended ? ATTACH_OK : rc;
}

int attach_threads_close(attach_target *target, const attach_threads_options *options,
                         uint64_t deadline_ns, attach_error *err)
{
    attach__agent a;
    int rc = attach__agent_open(&a, target, options, deadline_ns, err);
    if (rc == ATTACH_OK && a.place.fd >= 0)
        rc = close_lease(&a, err);
    attach__agent_close(&a);
    return rc;
}
