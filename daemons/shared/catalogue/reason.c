/* SPDX-License-Identifier: Apache-2.0 */
#include <catalogue/reason.h>

#include <stddef.h>
#include <string.h>

#define ENTRY(id, name, explanation, fix) [REASON_##id] = {REASON_##id, name, explanation, fix}

static const reason_info reasons[REASON_END] = {
    ENTRY(NONE, "none", "No reason.", ""),
    ENTRY(NO_EXEC_DIR, "no_exec_dir",
          "The JVM's file system has no writable directory from which it can load a "
          "library.",
          "Mount an emptyDir without noexec in the container, for example at /tmp, or put "
          "the profiler's library into the image."),
    ENTRY(ATTACH_DISABLED, "attach_disabled",
          "The JVM runs with -XX:+DisableAttachMechanism, so no tool can attach to it.",
          "Remove -XX:+DisableAttachMechanism from the JVM's options and restart it."),
    ENTRY(DYNAMIC_AGENT_LOADING_DISABLED, "dynamic_agent_loading_disabled",
          "The JVM runs with -XX:-EnableDynamicAgentLoading, so it loads no agent after "
          "its start.",
          "Start the JVM with -XX:+EnableDynamicAgentLoading."),
    ENTRY(ATTACH_SOCKET_GONE, "attach_socket_gone",
          "The JVM's attach socket was removed from its /tmp, and HotSpot does not create "
          "another.",
          "Keep /tmp cleaners away from .java_pid*, and restart the JVM."),
    ENTRY(PERMISSION_DENIED, "permission_denied", "The kernel refused access to the process.",
          "Run as the JVM's own user, or give the agent SYS_PTRACE, KILL, SETUID and "
          "SETGID."),
    ENTRY(NOT_HOTSPOT, "not_hotspot", "The process is not a HotSpot JVM.",
          "Only HotSpot (OpenJDK and its builds) 11 and later can be profiled."),
    ENTRY(EXTERNAL_PROFILER, "external_profiler",
          "Another profiler is loaded in the JVM, and two profilers cannot share it.",
          "Stop the other profiler, or leave this JVM to it."),
    ENTRY(WARMING_UP, "warming_up", "The start-up delay of the JVM has not passed yet.",
          "Wait, or shorten hotstack.dev/startup-delay."),
    ENTRY(DISABLED, "disabled", "No annotation and no rule asks for profiling of this JVM.",
          "Set hotstack.dev/profile: \"continuous\" on the pod, or add a rule for the "
          "process."),
    ENTRY(EXPIRED, "expired", "The temporary profiling of this JVM has ended.",
          "Set hotstack.dev/profile-until to a later time, or hotstack.dev/profile-for to "
          "another value."),
    ENTRY(PROCESS_EXITED, "process_exited", "The process has ended.", ""),
    ENTRY(PARSE_FAILED, "parse_failed", "A recording of the JVM could not be read.",
          "Keep the recording that the log names, and report it."),
    ENTRY(BUDGET_TRIPPED, "budget_tripped",
          "Profiling was stopped because it cost more than its budget.",
          "Raise the interval of the costly event, or the budget."),
    ENTRY(JVM_STARTING, "jvm_starting",
          "The JVM is still starting and does not accept a profiler yet.",
          "Wait: the collector tries again by itself. If this happens often, lengthen the "
          "start-up delay."),
    ENTRY(TARGET_STOPPED, "target_stopped",
          "The process is stopped (by SIGSTOP, a debugger or the freezer).",
          "Resume it: kill -CONT PID."),
    ENTRY(ATTACH_TIMEOUT, "attach_timeout", "The JVM did not answer within the time limit.",
          "Check whether it hangs or lacks CPU; the collector tries again by itself."),
    ENTRY(LIBRARY_LOAD_FAILED, "library_load_failed",
          "The JVM could not load the profiler library.",
          "See the dynamic linker's message in the detail; a musl image needs a musl "
          "build."),
    ENTRY(PROFILER_ERROR, "profiler_error", "async-profiler refused the command.",
          "See its message in the detail."),
    ENTRY(DISK_FULL, "disk_full", "The JVM's file system has no room for the recording.",
          "Free space, or mount a larger emptyDir."),
    ENTRY(IDENTITY_CHANGED, "identity_changed",
          "The pid now belongs to another process than the one that was chosen.", ""),
    ENTRY(NO_PROFILER_LIBRARY, "no_profiler_library",
          "libasyncProfiler.so is not installed for this CPU and C library.",
          "Install it beside the agent, or name it with --profiler-library."),
    ENTRY(UNSUPPORTED_JVM, "unsupported_jvm", "The JVM is older than version 11.",
          "Run the service on HotSpot 11 or later."),
    ENTRY(WORKER_FAILED, "worker_failed",
          "The process that operates on the JVM ended without an answer.",
          "See its exit status in the detail, and the log of hotstack-attachd."),
    ENTRY(ATTACHD_UNREACHABLE, "attachd_unreachable",
          "The collector cannot reach hotstack-attachd on this node.",
          "Start hotstack-attachd, and give both programs the same socket path."),
    ENTRY(TARGET_LIMIT, "target_limit", "The node has more JVMs to profile than the limit allows.",
          "Raise limits.targets of the collector, or profile fewer JVMs."),
    ENTRY(QUEUE_FULL, "queue_full",
          "The collector's queue was full, and its oldest batches were dropped.",
          "Find out why the backend does not accept them, or raise limits.queue_bytes."),
    ENTRY(EVENT_REFUSED, "event_refused",
          "The profiler refused some of the requested events; it records the others.",
          "See the refused events and the profiler's message in the detail; remove the "
          "cause, or do not request these events."),
    ENTRY(COLLECTOR_SILENT, "collector_silent",
          "The backend has not heard from the collector of this node for a while.",
          "Check whether hotstack-collector runs on the node."),
    ENTRY(JDK_DELETED, "jdk_deleted",
          "The JDK was deleted while the JVM runs, so the JVM cannot load the library "
          "that this needs.",
          "Restart the JVM on a JDK that is not removed; until then `hotstack jcmd PID "
          "Thread.print` shows its threads, and async-profiler works."),
    ENTRY(PROTOCOL_MISMATCH, "protocol_mismatch",
          "Collector and attachd are of different versions.",
          "Install both from the same release."),
    ENTRY(INTERNAL, "internal", "A step failed for a reason without a name of its own.",
          "See the detail, and report it."),
    ENTRY(NO_THREAD_AGENT, "no_thread_agent",
          "libhotstackthreads.so is not installed, so there are no thread snapshots.",
          "Install it beside libasyncProfiler.so; a build without jni.h leaves it out."),
    ENTRY(THREAD_AGENT_ERROR, "thread_agent_error",
          "The thread-snapshot agent refused the request.",
          "See its message, or that of the Java exception, in the detail."),
    ENTRY(SWITCHED_OFF, "switched_off", "A setting says that this JVM must not be profiled.",
          "Remove the setting that the detail names, or change it from \"off\"."),
    ENTRY(INVALID_SETTING, "invalid_setting",
          "A hotstack.dev annotation or label of the pod or its namespace, or the "
          "interval of an event, is invalid.",
          "See in the detail which one, why, and what is allowed."),
    ENTRY(POD_UNKNOWN, "pod_unknown",
          "The API server has not reported the pod that the JVM runs in.",
          "See the detail; check that the collector reaches the API server and may list "
          "and watch pods and namespaces."),
    ENTRY(EVENT_LIMIT, "event_limit",
          "The JVM produced more events in a window than the limit allows; the stacks of the rest "
          "are summed as [dropped].",
          "Lengthen the intervals of its events, or raise limits.events of the collector."),
    ENTRY(COLLECTOR_RESTARTED, "collector_restarted",
          "The collector ended without notice, and what it had not put into its queue could not be "
          "read again.",
          "Look for the reason of its end, such as its memory limit, in the pod's status or in the "
          "log."),
};

const reason_info *reason_get(unsigned number)
{
    return number < REASON_END ? &reasons[number] : NULL;
}

const reason_info *reason_find(const char *name)
{
    for (unsigned i = 0; i < REASON_END; i++) {
        if (strcmp(reasons[i].name, name) == 0)
            return &reasons[i];
    }
    return NULL;
}
