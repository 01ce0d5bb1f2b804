/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/doctor_checks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/attach_call.h"

/* The greatest perf_event_paranoid at which a process may count its own user-space events. */
#define PARANOID_MAX 2
/* Room for the profiler and for the recording of one window. */
#define NEEDED_HEADROOM ((uint64_t)96 << 20)

__attribute__((format(printf, 5, 6))) static void note(doctor_report *r, const char *name,
                                                       doctor_status status, attach_reason reason,
                                                       const char *format, ...)
{
    if (r->n == DOCTOR_CHECKS_MAX)
        return;
    doctor_check *check = &r->checks[r->n++];
    va_list args;
    check->name = name;
    check->status = status;
    check->reason = reason;
    va_start(args, format);
    (void)vsnprintf(check->detail, sizeof(check->detail), format, args);
    va_end(args);
    bool blocks = status == DOCTOR_FAIL && r->reason == ATTACH_REASON_NONE;
    if (blocks)
        r->reason = reason;
}

static void check_process(doctor_report *r)
{
    const attach_jvm *jvm = &r->jvm;
    if (jvm->reason == ATTACH_REASON_NOT_HOTSPOT)
        note(r, "process", DOCTOR_FAIL, jvm->reason, "the process %s", jvm->detail);
    else
        note(r, "process", DOCTOR_OK, ATTACH_REASON_NONE, "HotSpot %s%s%s%s",
             jvm->version[0] == '\0' ? "of a version that it does not tell" : jvm->version,
             jvm->vendor[0] == '\0' ? "" : " of ", jvm->vendor,
             jvm->libc == ATTACH_LIBC_MUSL ? ", on musl" : "");
    if (jvm->reason == ATTACH_REASON_TARGET_STOPPED)
        note(r, "state", DOCTOR_FAIL, jvm->reason, "the process %s", jvm->detail);
    bool old = strncmp(jvm->version, "1.8", 3) == 0 || strncmp(jvm->version, "8", 2) == 0;
    if (old)
        note(r, "version", DOCTOR_NOTE, ATTACH_REASON_NONE,
             "Java 8 is served as well as it goes: no thread snapshots of bounded depth");
}

static void check_jdk(doctor_report *r)
{
    if (r->jvm.jdk_deleted)
        note(r, "jdk", DOCTOR_NOTE, ATTACH_REASON_JDK_DELETED,
             "its JDK was deleted while it runs (%.200s): no thread snapshots, unless its "
             "management library was loaded before, and not the JDK's own recorder",
             r->jvm.libjvm);
}

static void check_permission(doctor_report *r)
{
    if (r->examined)
        note(r, "permission", DOCTOR_OK, ATTACH_REASON_NONE,
             "this user may look into the process, which runs as uid %" PRIu32 ", gid %" PRIu32,
             r->jvm.uid, r->jvm.gid);
    else if (r->not_examined.reason != ATTACH_REASON_NONE)
        note(r, "permission", DOCTOR_FAIL, r->not_examined.reason, "%s", r->not_examined.message);
    else
        note(r, "worker", DOCTOR_FAIL, ATTACH_REASON_PERMISSION_DENIED, "%s",
             r->not_examined.message);
}

static void check_attach(doctor_report *r)
{
    const attach_examination *seen = &r->seen;
    if (r->jvm.attach_disabled)
        note(r, "attach", DOCTOR_FAIL, ATTACH_REASON_ATTACH_DISABLED,
             "the JVM runs with -XX:+DisableAttachMechanism");
    else if (seen->listener)
        note(r, "attach", DOCTOR_OK, ATTACH_REASON_NONE, "its listener is there: no signal needed");
    else if (!seen->catches_quit)
        note(r, "attach", DOCTOR_FAIL, ATTACH_REASON_ATTACH_DISABLED,
             "no listener, and the JVM does not handle SIGQUIT: it is still starting, or runs with "
             "-Xrs and its socket was removed");
    else if (!seen->trigger_possible)
        note(r, "attach", DOCTOR_FAIL, ATTACH_REASON_NO_EXEC_DIR,
             "neither its /tmp nor its working directory can be written, so that its listener "
             "cannot be started");
    else if (seen->had_listener)
        note(r, "attach", DOCTOR_NOTE, ATTACH_REASON_NONE,
             "its socket in /tmp was removed; HotSpot 11 and later makes it anew when asked");
    else
        note(r, "attach", DOCTOR_OK, ATTACH_REASON_NONE, "it will start its listener when asked");
}

static void check_agents(doctor_report *r)
{
    if (r->jvm.agent_loading_disabled)
        note(r, "agents", DOCTOR_FAIL, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED,
             "the JVM runs with -XX:-EnableDynamicAgentLoading");
    else
        note(r, "agents", DOCTOR_OK, ATTACH_REASON_NONE, "the JVM may load a profiler");
}

static void check_profilers(doctor_report *r)
{
    const attach_jvm *jvm = &r->jvm;
    if (jvm->reason == ATTACH_REASON_EXTERNAL_PROFILER)
        note(r, "profilers", DOCTOR_FAIL, jvm->reason, "it %s", jvm->detail);
    else if (jvm->profiler[0] == '\0')
        note(r, "profilers", DOCTOR_OK, ATTACH_REASON_NONE, "no profiler is loaded");
    else
        note(r, "profilers", DOCTOR_OK, ATTACH_REASON_NONE,
             "the library of %s is loaded already and is used again: %s", jvm->profiler,
             jvm->profiler_library);
    if (r->seen.jfr_used)
        note(r, "recorder", DOCTOR_NOTE, ATTACH_REASON_NONE,
             "the JDK's own recorder has been used in this JVM: `hotstack jcmd %d JFR.check` says "
             "whether it runs",
             jvm->identity.pid);
}

static void check_places(doctor_report *r)
{
    char tried[300] = "";
    const char *recording = NULL;
    for (size_t i = 0; i < r->seen.n_places; i++) {
        const attach_place_view *place = &r->seen.places[i];
        if (place->library[0] == '\0') {
            (void)snprintf(r->library_place, sizeof(r->library_place), "%s", place->path);
            note(r, "place", DOCTOR_OK, ATTACH_REASON_NONE, "files go to %s of the JVM",
                 place->path);
            return;
        }
        if (recording == NULL && place->recording[0] == '\0')
            recording = place->path;
        size_t n = strlen(tried);
        (void)snprintf(tried + n, sizeof(tried) - n, "%s%s: %s", n == 0 ? "" : ", ", place->path,
                       place->library);
    }
    if (r->jvm.profiler[0] != '\0' && recording != NULL) {
        note(r, "place", DOCTOR_OK, ATTACH_REASON_NONE, "recordings go to %s of the JVM",
             recording);
        return;
    }
    note(r, "place", DOCTOR_FAIL, ATTACH_REASON_NO_EXEC_DIR,
         "no place takes the profiler's library (%s)%s%s", tried,
         recording == NULL ? "" : "; recordings could go to ", recording == NULL ? "" : recording);
}

static void check_engine(doctor_report *r)
{
    const attach_examination *seen = &r->seen;
    if (seen->seccomp == 2)
        note(r, "engine", DOCTOR_NOTE, ATTACH_REASON_NONE,
             "CPU time by ctimer, most likely: a seccomp filter is on, and the usual ones forbid "
             "perf events");
    else if (seen->perf_event_paranoid > PARANOID_MAX)
        note(r, "engine", DOCTOR_NOTE, ATTACH_REASON_NONE,
             "CPU time by ctimer: kernel.perf_event_paranoid is %d", seen->perf_event_paranoid);
    else
        note(r, "engine", DOCTOR_OK, ATTACH_REASON_NONE,
             "CPU time by perf events (kernel stacks too, if perf_event_paranoid were 1), else by "
             "ctimer");
}

static void check_installation(doctor_report *r)
{
    char path[ATTACH_REQUEST_PATH_MAX];
    if (attachclient_find_profiler(path, sizeof(path)) == 0)
        note(r, "library", DOCTOR_OK, ATTACH_REASON_NONE, "%s", path);
    else
        note(r, "library", DOCTOR_FAIL, ATTACH_REASON_NO_PROFILER_LIBRARY,
             "libasyncProfiler.so is not at %s; HOTSTACK_ASYNC_PROFILER names another place", path);
}

static void check_memory(doctor_report *r)
{
    const attach_jvm *jvm = &r->jvm;
    if (jvm->memory_limit == 0) {
        note(r, "memory", DOCTOR_OK, ATTACH_REASON_NONE, "no limit is set");
        return;
    }
    uint64_t left = jvm->memory_limit > jvm->memory_used ? jvm->memory_limit - jvm->memory_used : 0;
    note(r, "memory", left < NEEDED_HEADROOM ? DOCTOR_NOTE : DOCTOR_OK, ATTACH_REASON_NONE,
         "%" PRIu64 " of %" PRIu64 " MiB are in use%s", jvm->memory_used >> 20,
         jvm->memory_limit >> 20,
         left < NEEDED_HEADROOM ? ": little is left for the profiler's 64 MiB at most; record less "
                                  "(-e cpu), or raise the limit"
                                : "");
}

static bool failed(const doctor_report *r, attach_reason reason)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->checks[i].status == DOCTOR_FAIL && r->checks[i].reason == reason)
            return true;
    return false;
}

/* The JDK's recorder needs attach, a JDK that has not been deleted and a directory for the
 * recording, but no library. */
static bool recorder_works(const doctor_report *r)
{
    bool any_place = r->library_place[0] != '\0';
    if (r->jvm.jdk_deleted || (!r->seen.listener && !r->seen.trigger_possible))
        return false;
    for (size_t i = 0; i < r->seen.n_places; i++)
        any_place = any_place || r->seen.places[i].recording[0] == '\0';
    return r->examined && any_place && !failed(r, ATTACH_REASON_ATTACH_DISABLED) &&
           !failed(r, ATTACH_REASON_PERMISSION_DENIED) &&
           !failed(r, ATTACH_REASON_TARGET_STOPPED) && !failed(r, ATTACH_REASON_NOT_HOTSPOT) &&
           !failed(r, ATTACH_REASON_EXTERNAL_PROFILER);
}

static void look(doctor_report *r)
{
    static attach_request request;
    attach_result result;
    attach_text text = {NULL, 0};
    if (r->jvm.reason == ATTACH_REASON_NOT_HOTSPOT ||
        r->jvm.reason == ATTACH_REASON_PERMISSION_DENIED) {
        r->not_examined.reason = r->jvm.reason;
        (void)snprintf(r->not_examined.message, sizeof(r->not_examined.message),
                       "the process %.200s", r->jvm.detail);
        return;
    }
    r->examined = attach_call_prepare(&request, &r->jvm, ATTACH_OP_EXAMINE) &&
                  attachclient_run(&result, &request, attach_text_collect, &text, NULL,
                                   &r->not_examined) == ATTACH_OK &&
                  attach_examination_parse(&r->seen, text.p == NULL ? "" : text.p, text.n,
                                           &r->not_examined) == ATTACH_OK;
    free(text.p);
}

void doctor_examine(doctor_report *out)
{
    look(out);
    check_process(out);
    if (out->jvm.reason == ATTACH_REASON_NOT_HOTSPOT)
        return;
    check_jdk(out);
    check_permission(out);
    if (out->examined) {
        check_attach(out);
        check_agents(out);
        check_profilers(out);
        check_places(out);
        check_engine(out);
    }
    check_installation(out);
    check_memory(out);
    if (out->reason == ATTACH_REASON_NONE)
        out->recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    else if (recorder_works(out))
        out->recorder = ATTACH_AP_RECORDER_JFR;
}

const char *doctor_paste(char *buf, size_t cap, const doctor_report *report, attach_reason reason)
{
    int pid = report->jvm.identity.pid;
    switch (reason) {
    case ATTACH_REASON_NO_EXEC_DIR:
        return "volumes: [{name: profiler, emptyDir: {}}]   and in the container   volumeMounts: "
               "[{name: profiler, mountPath: /profiler}]";
    case ATTACH_REASON_ATTACH_DISABLED:
        return report->jvm.attach_disabled ? "_JAVA_OPTIONS=-XX:-DisableAttachMechanism" : "";
    case ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED:
        return "_JAVA_OPTIONS=-XX:+EnableDynamicAgentLoading";
    case ATTACH_REASON_PERMISSION_DENIED:
        (void)snprintf(buf, cap, "sudo hotstack doctor %d", pid);
        return buf;
    case ATTACH_REASON_TARGET_STOPPED:
        (void)snprintf(buf, cap, "kill -CONT %d", pid);
        return buf;
    case ATTACH_REASON_JDK_DELETED:
        (void)snprintf(buf, cap, "hotstack jcmd %d Thread.print", pid);
        return buf;
    default:
        return "";
    }
}
