/* SPDX-License-Identifier: Apache-2.0 */
#include <attach/command.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error_impl.h"
#include <attach/listener_impl.h>
#include <attach/load_answer_impl.h>

/* version, size (protocol 2), name and arguments, each with its NUL */
#define PAYLOAD_MAX (ATTACH_NAME_MAX + 1 + ATTACH_COMMAND_ARGS * (ATTACH_ARG_MAX + 1))
#define REQUEST_MAX (2 + 12 + PAYLOAD_MAX)
#define FIRST_READ  4096

typedef struct request {
    const char *name;
    const char *const *args;
    size_t n_args;
} request;

struct attach_reply {
    int code;
    size_t length;
    char *text; /* within buffer */
    char *buffer;
};

int attach_reply_code(const attach_reply *reply)
{
    return reply->code;
}

const char *attach_reply_text(const attach_reply *reply)
{
    return reply->text;
}

size_t attach_reply_length(const attach_reply *reply)
{
    return reply->length;
}

void attach_reply_free(attach_reply *reply)
{
    if (reply == NULL)
        return;
    free(reply->buffer);
    free(reply);
}

static int check_request(const request *r, attach_error *err)
{
    size_t n = strnlen(r->name, ATTACH_NAME_MAX + 1);
    if (r->n_args > ATTACH_COMMAND_ARGS)
        return attach__fail(err, ATTACH_ERR_USAGE, "an attach command takes at most %d arguments",
                            ATTACH_COMMAND_ARGS);
    if (n == 0 || n > ATTACH_NAME_MAX)
        return attach__fail(err, ATTACH_ERR_USAGE,
                            "an attach command's name has 1 to %d characters", ATTACH_NAME_MAX);
    for (size_t i = 0; i < r->n_args; i++)
        if (strnlen(r->args[i], ATTACH_ARG_MAX + 1) > ATTACH_ARG_MAX)
            return attach__fail(err, ATTACH_ERR_USAGE,
                                "argument %zu of attach command %s is longer than %d bytes", i,
                                r->name, ATTACH_ARG_MAX);
    return ATTACH_OK;
}

static bool fits_version_1(const request *r)
{
    for (size_t i = 0; i < r->n_args; i++)
        if (strlen(r->args[i]) > ATTACH_ARG_V1_MAX)
            return false;
    return true;
}

static void append(char *buf, size_t *n, const char *text)
{
    size_t length = strlen(text);
    memcpy(buf + *n, text, length + 1);
    *n += length + 1;
}

/* "1\0name\0arg\0arg\0arg\0" */
static size_t build_version_1(char buf[REQUEST_MAX], const request *r)
{
    size_t n = 0;
    append(buf, &n, "1");
    append(buf, &n, r->name);
    for (size_t i = 0; i < ATTACH_COMMAND_ARGS; i++)
        append(buf, &n, i < r->n_args ? r->args[i] : "");
    return n;
}

/* "2\0<bytes that follow>\0name\0" and as many arguments as there are */
static size_t build_version_2(char buf[REQUEST_MAX], const request *r)
{
    char size[12];
    size_t n = 0, payload = strlen(r->name) + 1;
    for (size_t i = 0; i < r->n_args; i++)
        payload += strlen(r->args[i]) + 1;
    (void)snprintf(size, sizeof(size), "%zu", payload);
    append(buf, &n, "2");
    append(buf, &n, size);
    append(buf, &n, r->name);
    for (size_t i = 0; i < r->n_args; i++)
        append(buf, &n, r->args[i]);
    return n;
}

static int send_request(int fd, const char *bytes, size_t n, const attach_target *target,
                        uint64_t deadline_ns, attach_error *err)
{
    while (n > 0) {
        ssize_t put = send(fd, bytes, n, MSG_NOSIGNAL);
        if (put >= 0) {
            bytes += put;
            n -= (size_t)put;
        } else if (errno == EAGAIN) {
            int rc = attach__wait_for(fd, POLLOUT, target, deadline_ns, err);
            if (rc != ATTACH_OK)
                return rc;
        } else if (errno != EINTR) {
            return errno == EPIPE || errno == ECONNRESET
                       ? attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                                        "process %d closed our connection: it serves only its own "
                                        "user and group, or it is exiting",
                                        target->identity.pid)
                       : attach__fail(err, ATTACH_ERR_IO, "sending to process %d: %s",
                                      target->identity.pid, strerror(errno));
        }
    }
    return ATTACH_OK;
}

static int grow(attach_reply *reply, size_t *cap, attach_error *err)
{
    if (*cap >= ATTACH_REPLY_MAX)
        return attach__fail_at(err, ATTACH_ERR_LIMIT, reply->length,
                               "the JVM's answer is longer than %zu bytes", ATTACH_REPLY_MAX);
    size_t wanted = *cap == 0 ? FIRST_READ : *cap * 2;
    char *bigger = realloc(reply->buffer, wanted + 1);
    if (bigger == NULL)
        return attach__fail(err, ATTACH_ERR_NOMEM, "no memory for the JVM's answer");
    reply->buffer = bigger;
    *cap = wanted;
    return ATTACH_OK;
}

/* Reads until the JVM closes the connection, because the protocol has no length. */
static int read_answer(attach_reply *reply, int fd, const attach_target *target,
                       uint64_t deadline_ns, attach_error *err)
{
    size_t cap = 0;
    for (;;) {
        if (reply->length == cap) {
            int rc = grow(reply, &cap, err);
            if (rc != ATTACH_OK)
                return rc;
        }
        ssize_t got = recv(fd, reply->buffer + reply->length, cap - reply->length, 0);
        if (got == 0)
            return ATTACH_OK;
        if (got > 0) {
            reply->length += (size_t)got;
        } else if (errno == EAGAIN) {
            int rc = attach__wait_for(fd, POLLIN, target, deadline_ns, err);
            if (rc != ATTACH_OK)
                return rc;
        } else if (errno != EINTR) {
            int rc = attach__target_check(target, err);
            return rc != ATTACH_OK ? rc
                                   : attach__fail(err, ATTACH_ERR_IO, "reading from process %d: %s",
                                                  target->identity.pid, strerror(errno));
        }
    }
}

/* HotSpot sends an empty answer to a client of another user, and when it exits. */
static int parse_answer(attach_reply *reply, const attach_target *target, attach_error *err)
{
    attach__span code, rest = attach__span_of(reply->buffer, reply->length);
    if (reply->length == 0) {
        int rc = attach__target_check(target, err);
        return rc != ATTACH_OK ? rc
                               : attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                                                "process %d closed the connection without an "
                                                "answer: it serves only its own user and group",
                                                target->identity.pid);
    }
    if (!attach__next_line(&rest, &code) || !attach__parse_code(code, &reply->code))
        return attach__fail_at(err, ATTACH_ERR_FORMAT, 0,
                               "the answer of process %d does not begin with a number",
                               target->identity.pid);
    reply->text = reply->buffer + (reply->length - rest.n);
    reply->buffer[reply->length] = '\0';
    reply->length = rest.n;
    return ATTACH_OK;
}

static int exchange(attach_reply *reply, attach_target *target, const char *bytes, size_t n,
                    uint64_t deadline_ns, attach_error *err)
{
    int fd = -1;
    int rc = attach__listener_connect(&fd, target, deadline_ns, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = send_request(fd, bytes, n, target, deadline_ns, err);
    if (rc == ATTACH_OK)
        rc = read_answer(reply, fd, target, deadline_ns, err);
    if (rc == ATTACH_OK)
        rc = parse_answer(reply, target, err);
    (void)close(fd);
    return rc;
}

static int send_and_receive(attach_reply **out, attach_target *target, const char *bytes, size_t n,
                            uint64_t deadline_ns, attach_error *err)
{
    attach_reply *reply = calloc(1, sizeof(*reply));
    if (reply == NULL)
        return attach__fail(err, ATTACH_ERR_NOMEM, "no memory for the JVM's answer");
    int rc = exchange(reply, target, bytes, n, deadline_ns, err);
    if (rc != ATTACH_OK) {
        attach_reply_free(reply);
        return rc;
    }
    *out = reply;
    return ATTACH_OK;
}

/* JDK 24 and later answer getversion with "2"; older ones do not know the command. */
static int check_version_2(attach_target *target, uint64_t deadline_ns, attach_error *err)
{
    static const request question = {"getversion", NULL, 0};
    char buf[REQUEST_MAX];
    attach_reply *reply = NULL;
    attach__span text, version;
    uint32_t number = 0;
    size_t n = build_version_1(buf, &question);
    int rc = send_and_receive(&reply, target, buf, n, deadline_ns, err);
    if (rc != ATTACH_OK)
        return rc;
    text = attach__span_of(reply->text, reply->length);
    bool known = reply->code == 0 && attach__next_line(&text, &version) &&
                 attach__parse_u32(version, &number) && number >= 2;
    attach_reply_free(reply);
    return known ? ATTACH_OK
                 : attach__fail(err, ATTACH_ERR_LIMIT,
                                "the JVM of process %d takes arguments of at most %d bytes (JDK 24 "
                                "and later take longer ones)",
                                target->identity.pid, ATTACH_ARG_V1_MAX);
}

int attach_command(attach_reply **out, attach_target *target, const char *name,
                   const char *const *args, size_t n_args, uint64_t deadline_ns, attach_error *err)
{
    char buf[REQUEST_MAX];
    const request r = {name, args, n_args};
    *out = NULL;
    int rc = check_request(&r, err);
    if (rc != ATTACH_OK)
        return rc;
    bool version_1 = fits_version_1(&r);
    if (!version_1)
        rc = check_version_2(target, deadline_ns, err);
    if (rc != ATTACH_OK)
        return rc;
    size_t n = version_1 ? build_version_1(buf, &r) : build_version_2(buf, &r);
    return send_and_receive(out, target, buf, n, deadline_ns, err);
}

int attach_properties(attach_reply **out, attach_target *target, uint64_t deadline_ns,
                      attach_error *err)
{
    return attach_command(out, target, "properties", NULL, 0, deadline_ns, err);
}

int attach_jcmd(attach_reply **out, attach_target *target, const char *command,
                uint64_t deadline_ns, attach_error *err)
{
    return attach_command(out, target, "jcmd", &command, 1, deadline_ns, err);
}

int attach_threaddump(attach_reply **out, attach_target *target, const char *flags,
                      uint64_t deadline_ns, attach_error *err)
{
    return attach_command(out, target, "threaddump", &flags, flags == NULL ? 0 : 1, deadline_ns,
                          err);
}

int attach_load(int *agent_code, attach_target *target, const char *library, const char *options,
                uint64_t deadline_ns, attach_error *err)
{
    attach_reply *reply = NULL;
    const char *const args[] = {library, "true", options};
    int rc = attach_command(&reply, target, "load", args, 3, deadline_ns, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = attach__load_answer_read(agent_code, reply->code,
                                  attach__span_of(reply->text, reply->length), err);
    attach_reply_free(reply);
    return rc;
}
