/* SPDX-License-Identifier: Apache-2.0 */
/* Performs the commands. */
#include "core_impl.h"

#include <base/thread.h>
#include <catalogue/event.h>
#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

attachd *attachd_new(const attachd_ports *ports, const attachd_limits *limits)
{
    attachd *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return NULL;
    self->ports = *ports;
    self->limits = *limits;
    pthread_mutex_init(&self->lock, NULL);
    thread_condition_init(&self->freed);
    return self;
}

void attachd_free(attachd *self)
{
    if (self == NULL)
        return;
    attachd__drop_all_windows(self);
    while (self->targets != NULL) {
        target *next = self->targets->next;
        free(self->targets);
        self->targets = next;
    }
    pthread_cond_destroy(&self->freed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void attachd__say(attachd *self, const char *format, ...)
{
    char message[640];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    self->ports.log(self->ports.context, message);
}

attachd_counts attachd_count(attachd *self)
{
    pthread_mutex_lock(&self->lock);
    attachd_counts counts = {.windows = self->window_count,
                             .window_bytes = self->window_bytes,
                             .windows_dropped = self->windows_dropped};
    for (const target *one = self->targets; one != NULL; one = one->next)
        counts.targets += one->running;
    pthread_mutex_unlock(&self->lock);
    return counts;
}

static void fail(local_answer *answer, uint32_t reason, const char *detail)
{
    answer->reason = reason;
    (void)snprintf(answer->detail, sizeof(answer->detail), "%s", detail);
}

static void tell(local_answer *answer, const attachd_outcome *outcome)
{
    fail(answer, outcome->reason, outcome->detail);
    answer->session = outcome->session;
    answer->absent = outcome->absent;
    (void)snprintf(answer->absent_reason, sizeof(answer->absent_reason), "%s",
                   outcome->absent_reason);
    (void)snprintf(answer->engine, sizeof(answer->engine), "%s", outcome->engine);
    (void)snprintf(answer->engine_reason, sizeof(answer->engine_reason), "%s",
                   outcome->engine_reason);
}

/* The target and the deadline of a running operation. */
typedef struct operation {
    target *on;
    lane lane;
    uint32_t deadline_ms; /* the time left */
} operation;

static bool begin(attachd *self, const local_request *request, lane kind, operation *op,
                  local_answer *answer)
{
    uint32_t allowed = request->deadline_ms != 0 ? request->deadline_ms : DEADLINE_DEFAULT_MS;
    allowed = allowed < DEADLINE_MAX_MS ? allowed : DEADLINE_MAX_MS;
    uint64_t now = self->ports.monotonic_ms(self->ports.context);
    op->lane = kind;
    op->on = attachd__take(self, &request->jvm, kind, now + allowed);
    if (op->on == NULL) {
        fail(answer, REASON_ATTACH_TIMEOUT,
             "another operation on this JVM did not end before the deadline");
        return false;
    }
    uint64_t waited = self->ports.monotonic_ms(self->ports.context) - now;
    op->deadline_ms = waited < allowed ? allowed - (uint32_t)waited : 1;
    return true;
}

static void do_list(attachd *self, const local_request *request, local_answer *answer)
{
    (void)request;
    answer->reason = self->ports.list(self->ports.context, &answer->jvms, &answer->jvm_count,
                                      answer->detail, sizeof(answer->detail));
    answer->lack_count = self->ports.lack_count;
    for (size_t i = 0; i < answer->lack_count; i++)
        answer->lacks[i] = self->ports.lacks[i];
    answer->workers_unreaped = self->ports.unreaped(self->ports.context);
}

static void note_start(attachd *self, target *one, const local_request *request,
                       const attachd_outcome *outcome)
{
    one->wanted = *request;
    one->started_ms =
        outcome->started_ms != 0 ? outcome->started_ms : self->ports.now_ms(self->ports.context);
    one->asked_ms = self->ports.monotonic_ms(self->ports.context);
    one->last_bytes = 0;
}

/* Checks the intervals, whoever the client is: none may cost a JVM more than the product allows. */
static bool may_record(const local_request *request, local_answer *answer)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        const char *wanted = event_interval_objection((event_id)i, request->events.of[i]);
        if (wanted == NULL)
            continue;
        answer->reason = REASON_INVALID_SETTING;
        (void)snprintf(answer->detail, sizeof(answer->detail), "the interval of %s is %s",
                       event_name((event_id)i), wanted);
        return false;
    }
    return true;
}

static void do_start(attachd *self, const local_request *request, local_answer *answer)
{
    operation op;
    if (!may_record(request, answer) || !begin(self, request, LANE_SESSION, &op, answer))
        return;
    attachd_outcome outcome = {0};
    self->ports.start(self->ports.context, request, op.deadline_ms, &outcome);
    op.on->running = outcome.reason == REASON_NONE && outcome.running;
    if (op.on->running) {
        note_start(self, op.on, request, &outcome);
        bool adopted = outcome.session == SESSION_STATE_ADOPTED;
        uint64_t now = self->ports.now_ms(self->ports.context);
        if (op.on->covered_ms != 0 && !adopted)
            answer->gap_ms = now > op.on->covered_ms ? now - op.on->covered_ms : 0;
        if (!adopted)
            op.on->covered_ms = now;
        answer->window_start_ms = op.on->covered_ms;
        answer->session_ms = op.on->started_ms;
        answer->offset = outcome.offset;
    }
    tell(answer, &outcome);
    attachd__give_back(self, op.on, op.lane);
}

/* Ends the session and drops its bytes, because a recording that is too large or damaged cannot be
 * handed over. */
static void give_up(attachd *self, const operation *op, attachd_outcome *outcome)
{
    attachd_outcome ignored = {0};
    self->ports.stop(self->ports.context, &op->on->id, UINT64_MAX, -1, 0, STOP_DEADLINE_MS,
                     &ignored);
    op->on->running = ignored.running;
    outcome->session = ignored.session;
    if (!outcome->over_limit)
        return;
    outcome->reason = REASON_BUDGET_TRIPPED;
    (void)snprintf(
        outcome->detail, sizeof(outcome->detail),
        "the window was larger than %llu bytes (limits.window_bytes); the session was stopped",
        (unsigned long long)self->limits.window_bytes);
}

static void keep(attachd *self, int fd, uint64_t size, local_answer *answer)
{
    if (attachd__keep_window(self, fd, size, answer->handle) != 0) {
        fail(answer, REASON_INTERNAL, "out of memory");
        return;
    }
    answer->has_handle = true;
    answer->size = size;
}

/* Whether the session must be restarted: it is too old, or its chunks have become too large. */
static bool is_outgrown(const attachd *self, const target *one)
{
    const attachd_limits *limits = &self->limits;
    uint64_t now = self->ports.now_ms(self->ports.context);
    uint64_t age = now > one->started_ms ? now - one->started_ms : 0;
    if (!one->running || one->started_ms == 0)
        return false;
    /* Live objects are only recorded when a session ends. */
    if (one->wanted.events.of[EVENT_LIVE] != 0)
        return true;
    bool old = limits->restart_ms != 0 && age >= limits->restart_ms;
    bool large = limits->restart_bytes != 0 && one->last_bytes >= limits->restart_bytes;
    return old || (large && age >= RESTART_MIN_MS);
}

/* Starts the session again that was just stopped; the time between is a gap. */
static void begin_anew(attachd *self, const operation *op, local_answer *answer)
{
    target *one = op->on;
    attachd_outcome outcome = {0};
    local_request wanted = one->wanted;
    uint64_t stopped_ms = self->ports.now_ms(self->ports.context);
    self->ports.start(self->ports.context, &wanted, op->deadline_ms, &outcome);
    one->running = outcome.reason == REASON_NONE && outcome.running;
    uint64_t now = self->ports.now_ms(self->ports.context);
    if (!one->running) {
        attachd__say(self, "pid %u: the session could not be begun anew: %s", one->id.host_pid,
                     outcome.detail);
        return;
    }
    note_start(self, one, &wanted, &outcome);
    answer->session_ms = one->started_ms;
    answer->offset = outcome.offset;
    one->covered_ms = now;
    one->gap_ms = now > stopped_ms ? now - stopped_ms : 0;
}

/* Performs WINDOW and STOP: ends the window and keeps its bytes behind a handle. */
static void end_window(attachd *self, const local_request *request, local_answer *answer)
{
    operation op;
    if (!begin(self, request, LANE_SESSION, &op, answer))
        return;
    attachd_outcome outcome = {0};
    bool restarting = request->op == LOCAL_WINDOW && is_outgrown(self, op.on);
    bool stopping = request->op == LOCAL_STOP || restarting;
    op.on->asked_ms = self->ports.monotonic_ms(self->ports.context);
    uint64_t now = self->ports.now_ms(self->ports.context);
    int fd = self->ports.new_file(self->ports.context);
    if (fd < 0) {
        fail(answer, REASON_DISK_FULL, strerror(errno));
        attachd__give_back(self, op.on, op.lane);
        return;
    }
    if (stopping)
        self->ports.stop(self->ports.context, &op.on->id, request->offset, fd,
                         self->limits.window_bytes, op.deadline_ms, &outcome);
    else
        self->ports.window(self->ports.context, request, fd, self->limits.window_bytes,
                           op.deadline_ms, &outcome);
    if (outcome.over_limit || outcome.reason == REASON_PARSE_FAILED)
        give_up(self, &op, &outcome);
    tell(answer, &outcome);
    if (outcome.reason == REASON_NONE) {
        answer->window_start_ms = op.on->covered_ms;
        answer->window_end_ms = now;
        answer->gap_ms = op.on->gap_ms;
        answer->dropped_events = outcome.dropped_events;
        op.on->gap_ms = 0;
        op.on->covered_ms = now;
        answer->session_ms = outcome.started_ms;
        answer->offset = outcome.offset;
        op.on->running = outcome.running;
        op.on->last_bytes = outcome.bytes;
        keep(self, fd, outcome.bytes, answer);
        /* An earlier attachd started this session, so that its events are not known. Its owner
         * sends START, which tells them. */
        if (op.on->running && op.on->started_ms == 0)
            answer->session = SESSION_STATE_ADOPTED;
        if (restarting) {
            begin_anew(self, &op, answer);
            answer->session = op.on->running ? SESSION_STATE_OWNED : SESSION_STATE_NONE;
        }
    } else {
        self->ports.close_file(self->ports.context, fd);
        if (attachd__has_ended(outcome.reason))
            op.on->running = false;
    }
    attachd__give_back(self, op.on, op.lane);
}

static void do_threads(attachd *self, const local_request *request, local_answer *answer)
{
    operation op;
    if (!begin(self, request, LANE_SNAPSHOTS, &op, answer))
        return;
    attachd_outcome outcome = {0};
    int fd = self->ports.new_file(self->ports.context);
    if (fd < 0) {
        fail(answer, REASON_DISK_FULL, strerror(errno));
    } else {
        self->ports.threads(self->ports.context, request, fd, self->limits.window_bytes,
                            op.deadline_ms, &outcome);
        fail(answer, outcome.reason, outcome.detail);
        if (outcome.reason == REASON_NONE)
            keep(self, fd, outcome.bytes, answer);
        else
            self->ports.close_file(self->ports.context, fd);
    }
    attachd__give_back(self, op.on, op.lane);
}

static void do_session(attachd *self, const local_request *request, local_answer *answer)
{
    operation op;
    if (!begin(self, request, LANE_SESSION, &op, answer))
        return;
    attachd_outcome outcome = {0};
    self->ports.status(self->ports.context, &op.on->id, op.deadline_ms, &outcome);
    tell(answer, &outcome);
    attachd__give_back(self, op.on, op.lane);
}

static void do_read(attachd *self, const local_request *request, local_answer *answer)
{
    if (request->length > 0) {
        answer->data = malloc(request->length);
        long got = answer->data == NULL
                       ? -1
                       : attachd__read_window(self, request->handle, request->offset, answer->data,
                                              request->length);
        if (got < 0)
            fail(answer, REASON_INTERNAL,
                 "no window has this handle; it was fetched already, or dropped for newer windows");
        else
            answer->length = (size_t)got;
    }
    if (request->done)
        attachd__drop_window(self, request->handle);
}

static void refuse_status(attachd *self, const local_request *request, local_answer *answer)
{
    (void)self;
    (void)request;
    fail(answer, REASON_PROTOCOL_MISMATCH, "this is hotstack-attachd, not a collector");
}

void attachd_handle(attachd *self, const local_request *request, local_answer *answer)
{
    static void (*const commands[])(attachd *, const local_request *, local_answer *) = {
        [LOCAL_LIST] = do_list,       [LOCAL_START] = do_start,       [LOCAL_WINDOW] = end_window,
        [LOCAL_STOP] = end_window,    [LOCAL_READ] = do_read,         [LOCAL_SESSION] = do_session,
        [LOCAL_THREADS] = do_threads, [LOCAL_STATUS] = refuse_status,
    };
    commands[request->op](self, request, answer);
}
