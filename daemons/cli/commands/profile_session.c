/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/profile_session.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/commands/attach_call.h"
#include "cli/commands/jvm_find.h"
#include "cli/output/ending.h"

#define OPERATION_MS 60000
/* How many seconds after the asked duration the profiler ends by itself, in case this program was
 * killed. */
#define SPARE_SECONDS 60

static bool run(profile_session *s, attach_result *result)
{
    attach_error err = {0};
    if (attachclient_run(result, &s->request, NULL, NULL, NULL, &err) == ATTACH_OK)
        return true;
    attach_call_complain(&err);
    return false;
}

/* Whether the reason rules a profile out. For other reasons the attempt itself gives a better
 * message. */
static bool is_hopeless(attach_reason reason)
{
    return reason == ATTACH_REASON_NOT_HOTSPOT || reason == ATTACH_REASON_ATTACH_DISABLED ||
           reason == ATTACH_REASON_TARGET_STOPPED;
}

bool profile_session_open(profile_session *out, const cli_options *o)
{
    memset(out, 0, sizeof(*out));
    out->pid_fd = -1;
    if (!jvm_find(&out->jvm, o->operands[0]))
        return false;
    out->pid_fd = (int)syscall(SYS_pidfd_open, out->jvm.identity.pid, 0);
    if (!is_hopeless(out->jvm.reason))
        return true;
    attach_error err = {.reason = out->jvm.reason};
    (void)snprintf(err.message, sizeof(err.message), "the process %d %.200s", out->jvm.identity.pid,
                   out->jvm.detail);
    attach_call_complain(&err);
    return false;
}

static void describe(attach_request *r, const profile_session *s, const cli_options *o)
{
    r->op = ATTACH_OP_START;
    r->identity = s->jvm.identity;
    r->timeout_ms = OPERATION_MS;
    r->recorder = (attach_ap_recorder)o->recorder;
    (void)snprintf(r->owner, sizeof(r->owner), "hotstack profile (pid %d)", (int)getpid());
    attachclient_set_events(r, &o->record);
    r->rate_limit = o->rate_limit;
    r->max_seconds = (o->duration_ms + 999) / 1000 + SPARE_SECONDS;
}

static void let_go(profile_session *s)
{
    attach_ap_held_close(s->held);
    attach_target_close(s->target);
    s->held = NULL;
    s->target = NULL;
}

/* Takes hold of the recording, which would otherwise vanish when the JVM ends. Nothing else depends
 * on it, so that errors are ignored. */
static void hold(profile_session *s)
{
    if (attach_target_open(&s->target, &s->jvm.identity, NULL, NULL) != ATTACH_OK ||
        attach_ap_hold(&s->held, s->target, s->directory, NULL) != ATTACH_OK)
        let_go(s);
}

bool profile_session_start(profile_session *session, const cli_options *o)
{
    attach_request *r = &session->request;
    attach_result result;
    describe(r, session, o);
    if (attachclient_find_profiler(r->library, sizeof(r->library)) != 0) {
        complain("libasyncProfiler.so is not at %s: set HOTSTACK_ASYNC_PROFILER to where it is",
                 r->library);
        if (o->recorder == ATTACH_AP_RECORDER_ASYNC_PROFILER)
            return false;
        r->library[0] = '\0';
    }
    if (!attach_call_id(r->installation_id) || !run(session, &result))
        return false;
    if (result.info.engine == ATTACH_AP_ENGINE_JFR && result.info.engine_reason[0] != '\0')
        complain("note: recorded with the JDK's own recorder: %s", result.info.engine_reason);
    else if (result.info.engine_reason[0] != '\0')
        complain("note: CPU time is taken with %s: %s", attach_ap_engine_name(result.info.engine),
                 result.info.engine_reason);
    if (result.info.absent != 0)
        complain("note: not everything is recorded (event_refused): %s", result.info.absent_reason);
    memcpy(session->absent_reason, result.info.absent_reason, sizeof(session->absent_reason));
    memcpy(session->directory, result.info.directory, sizeof(session->directory));
    hold(session);
    return true;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void show(const profile_session *s, double elapsed, double seconds)
{
    (void)fprintf(stderr, "\rprofiling %.60s (pid %d): %.0f of %.0f s, Ctrl-C ends early ",
                  s->jvm.main_class, s->jvm.identity.pid, elapsed, seconds);
    (void)fflush(stderr);
}

/* Whether the JVM has ended. A JVM that its parent has not waited for yet has ended, too. */
static bool is_gone(const profile_session *s)
{
    struct pollfd ended = {.fd = s->pid_fd, .events = POLLIN};
    if (s->pid_fd >= 0)
        return poll(&ended, 1, 0) > 0;
    return kill(s->jvm.identity.pid, 0) != 0 && errno == ESRCH;
}

bool profile_session_wait(const profile_session *session, const cli_options *o)
{
    bool ended = false;
    double seconds = o->duration_ms / 1000.0;
    struct timespec start;
    sigset_t ending;
    bool terminal = isatty(STDERR_FILENO) == 1;
    ending_signals(&ending);
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        double elapsed = seconds_since(&start);
        double left = seconds - elapsed;
        if (terminal)
            show(session, elapsed, seconds);
        ended = is_gone(session);
        if (left <= 0 || ended)
            break;
        struct timespec slice = {.tv_sec = left >= 1 ? 1 : 0,
                                 .tv_nsec = left >= 1 ? 0 : (long)(left * 1e9)};
        if (sigtimedwait(&ending, NULL, &slice) > 0) {
            ended = true;
            break;
        }
    }
    if (terminal)
        (void)fputc('\n', stderr);
    return !ended;
}

static int write_piece(void *ctx, const uint8_t *bytes, size_t n)
{
    const int *fd = ctx;
    while (n > 0) {
        ssize_t put = write(*fd, bytes, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            complain("cannot write the recording: %s", strerror(errno));
            return -1;
        }
        bytes += put;
        n -= (size_t)put;
    }
    return 0;
}

/* Saves the recording that async-profiler wrote when the JVM ended. A killed JVM has written
 * nothing. */
static bool take_held(profile_session *s, int fd)
{
    struct stat st;
    attach_error err = {0};
    if (attach_ap_held_take(s->held, 0, write_piece, &fd, attach_deadline_in(OPERATION_MS), &err) !=
        ATTACH_OK) {
        attach_call_complain(&err);
        return false;
    }
    if (fstat(fd, &st) != 0 || st.st_size == 0) {
        complain("process %d ended without finishing its recording; it may have been killed",
                 s->jvm.identity.pid);
        return false;
    }
    complain("note: process %d has ended; the output holds what it recorded until then",
             s->jvm.identity.pid);
    return true;
}

static void discard(profile_session *s)
{
    attach_result result;
    s->request.op = ATTACH_OP_DISCARD;
    if (attachclient_run(&result, &s->request, NULL, NULL, NULL, NULL) != ATTACH_OK)
        complain("cannot end the session: it ends by itself %u s after its start, and %s stays in "
                 "the file system of process %d",
                 s->request.max_seconds, s->directory, s->jvm.identity.pid);
}

static bool stop(profile_session *session, int fd)
{
    attach_result result;
    attach_error err = {0};
    session->request.op = ATTACH_OP_STOP;
    session->request.offset = 0;
    if (attachclient_run(&result, &session->request, write_piece, &fd, NULL, &err) == ATTACH_OK) {
        session->dropped = result.info.dropped;
        return true;
    }
    if (err.reason == ATTACH_REASON_PROCESS_EXITED && session->held != NULL)
        return take_held(session, fd);
    attach_call_complain(&err);
    /* The session is ended whatever failed, and a recording that cannot be kept is removed. */
    if (err.reason != ATTACH_REASON_PROCESS_EXITED)
        discard(session);
    return false;
}

bool profile_session_stop(profile_session *session, int fd)
{
    session->dropped = 0;
    bool stopped = stop(session, fd);
    let_go(session);
    if (session->dropped > 0)
        complain("note: async-profiler dropped %" PRIu64
                 " events, which are missing in the profile: "
                 "it records at most %" PRIu32 " of one kind in a second (--rate-limit); longer "
                 "intervals (--events) make fewer events",
                 session->dropped, session->request.rate_limit);
    return stopped;
}
