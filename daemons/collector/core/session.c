/* SPDX-License-Identifier: Apache-2.0 */
/* The session of one target: start, windows, failures. The functions are jobs; they do not hold the
 * lock while they work. */
#include "collector_impl.h"
#include "spans.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

job collector__begin(target *one)
{
    collector *self = one->owner;
    pthread_mutex_lock(&self->lock);
    job now = {.self = self,
               .began_cpu_ns = self->ports.thread_cpu_ns(self->ports.context),
               .on = one,
               .jvm = one->jvm,
               .rule = one->rule,
               .phase = one->phase,
               .absent = one->absent,
               .session = one->session,
               .jitter_ms = one->jitter_ms,
               .window_ms = one->window_ms,
               .window_start_ms = one->window_start_ms,
               .due_ms = one->due_ms,
               .clock_moved_ms = self->clock_moved_ms,
               .session_ms = one->session_ms,
               .offset = one->offset,
               .settled = one->settled,
               .memory = one->memory};
    pthread_mutex_unlock(&self->lock);
    return now;
}

local_request collector__about(const job *now, local_op op)
{
    local_request request = {
        .op = op, .deadline_ms = now->self->options.call_ms, .jvm = now->jvm.id};
    for (size_t i = 0; i < LOCAL_ID_SIZE; i++)
        request.id[i] = (uint8_t)now->self->ports.random(now->self->ports.context);
    return request;
}

int collector__ask(const job *now, const local_request *request, local_answer *answer)
{
    char message[256] = "";
    const collector_ports *ports = &now->self->ports;
    int rc = ports->call(ports->context, request, answer, message, sizeof(message));
    if (rc == CALL_TIMED_OUT)
        rc = ports->call(ports->context, request, answer, message, sizeof(message));
    if (rc == CALL_DONE)
        return 0;
    answer->reason = rc == CALL_UNREACHABLE ? REASON_ATTACHD_UNREACHABLE : REASON_ATTACH_TIMEOUT;
    (void)snprintf(answer->detail, sizeof(answer->detail), "%s", message);
    return -1;
}

/* Sets the time of the next try: the wait doubles with each failure, and is random in part. */
static void cool_down(target *one, uint32_t reason, const char *detail)
{
    collector *self = one->owner;
    uint64_t wait = one->backoff_ms == 0 ? self->options.cooldown_min_ms : one->backoff_ms * 2;
    if (wait > self->options.cooldown_max_ms)
        wait = self->options.cooldown_max_ms;
    if (reason == REASON_ATTACHD_UNREACHABLE) /* the JVM is not at fault: try again soon */
        wait = self->options.discovery_ms;
    else
        one->backoff_ms = wait;
    uint64_t spread = wait / 4 + 1;
    one->due_ms = self->ports.now_ms(self->ports.context) + wait - spread / 2 +
                  self->ports.random(self->ports.context) % spread;
    collector__set_state(one, PHASE_COOLDOWN, reason, detail);
}

/* Sets the state of a target whose session runs now. */
static void tell_start(target *one, const local_answer *answer)
{
    char detail[512] = "";
    one->absent = answer->absent;
    (void)snprintf(one->absent_reason, sizeof(one->absent_reason), "%s", answer->absent_reason);
    if (answer->engine_reason[0] != '\0')
        (void)snprintf(detail, sizeof(detail), "engine %s: %s", answer->engine,
                       answer->engine_reason);
    if (one->absent != 0)
        collector__set_state(one, PHASE_PROFILING, REASON_EVENT_REFUSED, one->absent_reason);
    else
        collector__set_state(one, PHASE_PROFILING, REASON_NONE,
                             detail[0] != '\0' ? detail : one->warning);
}

/* Makes the answer's session the one whose recording is read from now on. */
static void note_session(target *one, const local_answer *answer)
{
    if (one->session_ms == answer->session_ms)
        return;
    one->session_ms = answer->session_ms;
    one->offset = one->settled = answer->offset;
}

/*
 * An earlier collector was killed. If the session that it read still runs, reading continues where
 * the queue's windows end. Any other session is read from its beginning, and the recording that the
 * earlier session made after those windows is lost.
 */
static void inherit(target *one, local_answer *answer, uint64_t time)
{
    bool adopted = answer->session == SESSION_STATE_ADOPTED;
    bool same = adopted && answer->session_ms == one->session_ms;
    uint64_t told_ms = one->told_ms;
    one->inherited = false;
    if (!same)
        answer->offset = 0;
    if (told_ms == 0 || told_ms >= time)
        return;
    collector__lose_snapshots(one, time);
    one->window_start_ms = told_ms;
    if (same)
        return;
    bool began_since = adopted && answer->session_ms > told_ms && answer->session_ms < time;
    one->window_start_ms = began_since ? answer->session_ms : time;
    collector__add_lost(one, &one->rule.events, told_ms, one->window_start_ms,
                        REASON_COLLECTOR_RESTARTED);
}

static void start(const job *now)
{
    collector *self = now->self;
    local_request request = collector__about(now, LOCAL_START);
    request.events = now->rule.events;
    request.memlimit_bytes = self->options.memlimit_bytes;
    request.rate_limit = self->options.rate_limit;
    local_answer answer = {0};
    collector__ask(now, &request, &answer);
    uint64_t time = self->ports.now_ms(self->ports.context);
    pthread_mutex_lock(&self->lock);
    target *one = now->on;
    self->stats.starts++;
    if (answer.reason == REASON_NONE) {
        if (one->inherited)
            inherit(one, &answer, time);
        /* An adopted session continues the window that was open. Any other window begins now, not
         * at the last border: a session that ended since that border has sent a window that begins
         * there, and a target has at most one window with one start. */
        if (answer.session != SESSION_STATE_ADOPTED || one->window_start_ms == 0) {
            collector__lose_gap(one, time, one->reason);
            one->window_start_ms = time;
        }
        one->told_ms = one->window_start_ms;
        one->session = answer.session;
        note_session(one, &answer);
        one->due_ms = span_next(time, one->window_ms, one->jitter_ms);
        if (one->snapshot_due_ms == 0)
            one->snapshot_due_ms = time;
        tell_start(one, &answer);
    } else {
        self->stats.start_failures++;
        collector__count_failure(self, &now->rule.labels, answer.reason);
        one->session = answer.session;
        /* A later session may still adopt the recording of an earlier one. */
        bool may_be_adopted = one->window_start_ms != 0 || (one->inherited && one->told_ms != 0);
        if (!may_be_adopted) {
            collector__lose_gap(one, time, answer.reason);
            one->told_ms = one->failing_since_ms = time;
        }
        cool_down(one, answer.reason, answer.detail);
    }
    pthread_mutex_unlock(&self->lock);
    local_answer_clear(&answer);
}

int collector__fetch(const job *now, const local_answer *answer, int fd, char *message, size_t size)
{
    const collector_ports *ports = &now->self->ports;
    int rc = 0;
    for (uint64_t at = 0; at < answer->size && rc == 0;) {
        local_request request = collector__about(now, LOCAL_READ);
        memcpy(request.handle, answer->handle, LOCAL_ID_SIZE);
        request.offset = at;
        request.length = LOCAL_PIECE_MAX;
        local_answer piece = {0};
        rc = collector__ask(now, &request, &piece);
        if (rc != 0 || piece.reason != REASON_NONE || piece.length == 0) {
            (void)snprintf(message, size, "it could not be fetched from attachd: %.300s",
                           piece.detail);
            rc = -1;
        } else if (ports->append(ports->context, fd, piece.data, piece.length) != 0) {
            (void)snprintf(message, size, "it could not be stored: no space left");
            rc = -1;
        }
        at += piece.length;
        local_answer_clear(&piece);
    }
    local_request done = collector__about(now, LOCAL_READ);
    memcpy(done.handle, answer->handle, LOCAL_ID_SIZE);
    done.done = true;
    local_answer ignored = {0};
    collector__ask(now, &done, &ignored);
    local_answer_clear(&ignored);
    return rc;
}

/* Returns the window of a recording that begins at `first_ms` (0 = unknown) and ended at
 * `end_ms`. */
static window_span span_of(const job *now, uint64_t first_ms, uint64_t end_ms)
{
    uint64_t start_ms = now->window_start_ms;
    /* An adopted session has recorded before it was known here. Any other session began during the
     * request; the time until the answer is reported as lost or belongs to the window before. */
    if (now->session == SESSION_STATE_ADOPTED && first_ms != 0 && first_ms < start_ms)
        start_ms = first_ms;
    if (end_ms <= start_ms) /* the clock was set back */
        end_ms = span_next(start_ms, now->window_ms, now->jitter_ms);
    uint64_t midnight = (start_ms / MS_PER_DAY + 1) * MS_PER_DAY;
    if (end_ms > midnight)
        end_ms = midnight;
    return (window_span){.start_ms = start_ms, .length_ms = (uint32_t)(end_ms - start_ms)};
}

/* Notes that the current batch contains the answer's window. With the lock held. */
static void note_read(target *one, const local_answer *answer)
{
    if (one->session_ms == answer->session_ms)
        one->offset = answer->offset;
    else
        note_session(one, answer);
}

static void note_failure(const job *now, const window_span *span, const local_answer *answer,
                         const char *detail)
{
    collector *self = now->self;
    pthread_mutex_lock(&self->lock);
    collector__workload(self, &now->rule.labels)->parse_failures++;
    collector__say(self, "pid %u: a window is lost: %s", now->jvm.id.host_pid, detail);
    collector__add_lost(now->on, &now->rule.events, span->start_ms,
                        span->start_ms + span->length_ms, REASON_PARSE_FAILED);
    note_read(now->on, answer);
    collector__set_state(now->on, now->on->phase, REASON_PARSE_FAILED, detail);
    pthread_mutex_unlock(&self->lock);
}

/* Adds the events that the profiler dropped. It counts them for all kinds together, so that each
 * type may have lost as many. */
static void add_dropped(profile *found, uint64_t dropped)
{
    for (size_t i = 0; i < found->part_count; i++)
        found->parts[i].lost_events += dropped;
}

/* Sets the target's state after a window was read. */
static void tell_window(target *one, const profile *found)
{
    char excess[160];
    const char *detail = one->reason == REASON_NONE ? one->detail : "";
    (void)snprintf(excess, sizeof(excess),
                   "%llu events of the last window came after limits.events were reached, and are "
                   "summed as [dropped]",
                   (unsigned long long)found->excess_events);
    if (one->absent != 0)
        collector__set_state(one, one->phase, REASON_EVENT_REFUSED, one->absent_reason);
    else if (found->excess_events > 0)
        collector__set_state(one, one->phase, REASON_EVENT_LIMIT, excess);
    else
        collector__set_state(one, one->phase, REASON_NONE, detail);
}

static void deliver(const job *now, window_span *span, profile *found, const local_answer *answer)
{
    collector *self = now->self;
    add_dropped(found, answer->dropped_events);
    span->covered_ms =
        found->covered_ms < span->length_ms ? (uint32_t)found->covered_ms : span->length_ms;
    pthread_mutex_lock(&self->lock);
    if (profile_fold(found, self->options.max_rows_per_part) != 0 ||
        collector__add_profile(self, &now->jvm, &now->rule.labels, span, found) != 0)
        collector__say(self, "pid %u: a window is lost: out of memory", now->jvm.id.host_pid);
    note_read(now->on, answer);
    now->on->told_ms = span->start_ms + span->length_ms;
    self->stats.windows++;
    self->stats.recording_bytes += answer->size;
    self->stats.dropped_events += answer->dropped_events;
    self->stats.excess_events += found->excess_events;
    self->stats.window_ms += span->length_ms;
    self->stats.covered_ms += span->covered_ms;
    workload_stats *of = collector__workload(self, &now->rule.labels);
    of->windows++;
    of->window_ms += span->length_ms;
    of->covered_ms += span->covered_ms;
    if (found->profiler[0] != '\0')
        memcpy(self->engine, found->profiler, sizeof(self->engine));
    now->on->last_window_ms = span->start_ms;
    now->on->last_length_ms = span->length_ms;
    now->on->last_covered_ms = span->covered_ms;
    now->on->last_collector_ns =
        self->ports.thread_cpu_ns(self->ports.context) - now->began_cpu_ns + 1;
    now->on->backoff_ms = 0;
    tell_window(now->on, found);
    pthread_mutex_unlock(&self->lock);
}

/* Returns the events of the session without those that the profiler refused: missing data is not a
 * zero. */
static event_intervals recorded_events(const job *now)
{
    event_intervals recorded = now->rule.events;
    for (unsigned i = 0; i < EVENTS; i++)
        if ((now->absent >> i & 1) != 0)
            recorded.of[i] = 0;
    return recorded;
}

/*
 * Handles a finished window: fetches, reads and adds it to the batch. A recording that cannot be
 * read costs this window only. Returns -1 when it cannot be fetched, with the answer's reason and
 * detail filled: its bytes can be asked for again.
 */
static int take(job *now, local_answer *answer, uint64_t end_ms)
{
    collector *self = now->self;
    const collector_ports *ports = &self->ports;
    char message[400] = "";
    int fd = ports->new_file(ports->context);
    if (fd < 0 || collector__fetch(now, answer, fd, message, sizeof(message)) != 0) {
        answer->reason = REASON_INTERNAL;
        (void)snprintf(answer->detail, sizeof(answer->detail), "the recording was not read: %s",
                       fd < 0 ? "no file for it" : message);
        if (fd >= 0)
            ports->close_file(ports->context, fd);
        return -1;
    }
    uint64_t first_ms = ports->recording_start_ms(ports->context, fd);
    window_span span = span_of(now, first_ms, end_ms);
    const queue_position from = {
        .jvm = now->jvm, .session_ms = now->session_ms, .offset = now->offset};
    if (ports->keep != NULL)
        ports->keep(ports->context, fd, answer->size, &from);
    profile found = {0};
    event_intervals recorded = recorded_events(now);
    if (ports->parse(ports->context, &now->memory, fd, answer->size, &span, &recorded, &found,
                     message, sizeof(message)) == 0) {
        /* The window before this one contains the time up to the recording's first byte. */
        if (now->offset > 0 && first_ms > span.start_ms)
            found.covered_ms += first_ms - span.start_ms;
        deliver(now, &span, &found, answer);
    } else {
        note_failure(now, &span, answer, message);
    }
    profile_clear(&found);
    ports->close_file(ports->context, fd);
    pthread_mutex_lock(&self->lock);
    now->on->memory = now->memory;
    pthread_mutex_unlock(&self->lock);
    return 0;
}

static void window(job *now)
{
    collector *self = now->self;
    local_request request = collector__about(now, LOCAL_WINDOW);
    request.offset = now->offset;
    request.settled = now->settled;
    local_answer answer = {0};
    uint64_t asked_ms = self->ports.now_ms(self->ports.context);
    uint64_t border = span_last(asked_ms, now->window_ms, now->jitter_ms);
    collector__ask(now, &request, &answer);
    if (border < now->due_ms) /* the clock was set back, or the window ended early */
        border = now->due_ms;
    bool has_bytes = answer.reason == REASON_NONE && answer.has_handle && answer.size > 0;
    if (has_bytes)
        (void)take(now, &answer, border); /* sets the answer's reason on failure */
    pthread_mutex_lock(&self->lock);
    target *one = now->on;
    if (answer.reason == REASON_NONE) {
        one->window_start_ms =
            (uint64_t)((int64_t)border + self->clock_moved_ms - now->clock_moved_ms);
        one->due_ms = span_next(one->window_start_ms, one->window_ms, one->jitter_ms);
        one->session = answer.session;
        if (!has_bytes)
            note_read(one, &answer);
    } else {
        self->stats.windows_failed++;
        collector__count_failure(self, &now->rule.labels, answer.reason);
        cool_down(one, answer.reason, answer.detail);
    }
    pthread_mutex_unlock(&self->lock);
    /* attachd was restarted and does not know the session's events, so that it could not restart an
     * old session. START tells it. */
    if (answer.reason == REASON_NONE && answer.session == SESSION_STATE_ADOPTED)
        start(now);
    local_answer_clear(&answer);
}

static void end_session(job *now)
{
    if (now->phase != PHASE_PROFILING && now->phase != PHASE_COOLDOWN &&
        now->phase != PHASE_STOPPING)
        return;
    local_request request = collector__about(now, LOCAL_STOP);
    request.offset = now->window_start_ms != 0 ? now->offset : UINT64_MAX;
    local_answer answer = {0};
    collector__ask(now, &request, &answer);
    uint64_t time = now->self->ports.now_ms(now->self->ports.context);
    if (answer.reason == REASON_NONE && answer.has_handle && answer.size > 0 &&
        now->window_start_ms != 0)
        (void)take(now, &answer, time); /* sets the answer's reason on failure */
    pthread_mutex_lock(&now->self->lock);
    if (answer.reason != REASON_NONE)
        collector__count_failure(now->self, &now->rule.labels, answer.reason);
    if (answer.reason != REASON_NONE && now->window_start_ms != 0)
        collector__add_lost(now->on, &now->rule.events, now->window_start_ms, time, answer.reason);
    if (answer.reason == REASON_NONE)
        now->on->session_ms = now->on->told_ms = 0;
    pthread_mutex_unlock(&now->self->lock);
    local_answer_clear(&answer);
}

/* Ends the session with its last window; the current decision says what follows. */
static void stop(job *now)
{
    collector *self = now->self;
    now->rule.events = now->on->stopping_events;
    end_session(now);
    pthread_mutex_lock(&self->lock);
    now->on->session = SESSION_STATE_NONE;
    now->on->window_start_ms = now->on->failing_since_ms = 0;
    now->on->backoff_ms = 0;
    collector__judge(self, now->on);
    pthread_mutex_unlock(&self->lock);
}

static void job_done(target *one)
{
    collector *self = one->owner;
    pthread_mutex_lock(&self->lock);
    one->busy = false;
    self->jobs--;
    pthread_mutex_unlock(&self->lock);
    self->ports.wake(self->ports.context);
}

void collector__end_session(void *argument)
{
    target *one = argument;
    job now = collector__begin(one);
    end_session(&now);
    job_done(one);
}

void collector__step(void *argument)
{
    target *one = argument;
    job now = collector__begin(one);
    switch (now.phase) {
    case PHASE_WARMING:
    case PHASE_STARTING:
    case PHASE_COOLDOWN:
        start(&now);
        break;
    case PHASE_PROFILING:
        window(&now);
        break;
    case PHASE_STOPPING:
        stop(&now);
        break;
    case PHASE_OFF:
        break;
    }
    job_done(one);
}
