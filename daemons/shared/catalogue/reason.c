/* SPDX-License-Identifier: Apache-2.0 */
#include <catalogue/reason.h>

#include <stddef.h>
#include <string.h>

#define ENTRY(id, name, explanation, fix) [REASON_##id] = {REASON_##id, name, explanation, fix}

static const reason_info reasons[REASON_END] = {
    ENTRY(NONE, "none", "Nothing stands in the way.", ""),
    ENTRY(NO_EXEC_DIR, "no_exec_dir",
          "The JVM's file system has no writable place from which a library may be loaded.",
          "Mount an emptyDir without noexec in the container (/tmp serves), or give the profiler's "
          "library with the image."),
    ENTRY(ATTACH_DISABLED, "attach_disabled",
          "The JVM runs with -XX:+DisableAttachMechanism, so nobody can attach to it.",
          "Remove -XX:+DisableAttachMechanism from the JVM's options and restart it."),
    ENTRY(DYNAMIC_AGENT_LOADING_DISABLED, "dynamic_agent_loading_disabled",
          "The JVM runs with -XX:-EnableDynamicAgentLoading, so it loads no agent while it runs.",
          "Start the JVM with -XX:+EnableDynamicAgentLoading."),
    ENTRY(ATTACH_SOCKET_GONE, "attach_socket_gone",
          "The JVM's attach socket was removed from its /tmp, and HotSpot does not make a new one.",
          "Keep /tmp cleaners away from .java_pid*, and restart the JVM."),
    ENTRY(PERMISSION_DENIED, "permission_denied", "The kernel refused access to the process.",
          "Run as the JVM's own user, or give the agent SYS_PTRACE, KILL, SETUID and SETGID."),
    ENTRY(NOT_HOTSPOT, "not_hotspot", "The process is not a HotSpot JVM.",
          "Only HotSpot (OpenJDK and its builds) 11 and later can be profiled."),
    ENTRY(EXTERNAL_PROFILER, "external_profiler",
          "Another profiler is loaded in the JVM, and two cannot share it.",
          "Stop the other profiler, or leave this JVM to it."),
    ENTRY(WARMING_UP, "warming_up", "The start-up delay of the JVM has not passed yet.",
          "Wait, or shorten hotstack.dev/startup-delay."),
    ENTRY(DISABLED, "disabled", "Nobody asked for this JVM to be profiled.",
          "Set hotstack.dev/profile: \"continuous\" on the pod, or add a rule for the process."),
    ENTRY(EXPIRED, "expired", "The temporary profiling of this JVM has ended.",
          "Set hotstack.dev/profile-until to a later time, or hotstack.dev/profile-for to another "
          "value."),
    ENTRY(PROCESS_EXITED, "process_exited", "The process has ended.", ""),
    ENTRY(PARSE_FAILED, "parse_failed", "A recording of the JVM could not be read.",
          "Keep the recording that the log names and report it."),
    ENTRY(BUDGET_TRIPPED, "budget_tripped",
          "Profiling was stopped because it cost more than its budget.",
          "Raise the interval of the costly event, or the budget."),
    ENTRY(COOLDOWN, "cooldown", "A session failed a moment ago; the next try waits.",
          "Wait; the detail names the failure."),
    ENTRY(TARGET_STOPPED, "target_stopped", "The process is stopped (SIGSTOP, debugger, freezer).",
          "Let it go on: kill -CONT PID."),
    ENTRY(ATTACH_TIMEOUT, "attach_timeout", "The JVM did not answer within the time limit.",
          "See whether it hangs or is starved of CPU; the next try comes by itself."),
    ENTRY(LIBRARY_LOAD_FAILED, "library_load_failed",
          "The JVM could not load the profiler library.",
          "The detail holds the dynamic linker's words; a musl image needs a musl build."),
    ENTRY(PROFILER_ERROR, "profiler_error", "async-profiler refused the command.",
          "The detail holds its words."),
    ENTRY(DISK_FULL, "disk_full", "The JVM's file system has no room for the recording.",
          "Free space, or mount a larger emptyDir."),
    ENTRY(IDENTITY_CHANGED, "identity_changed",
          "The pid now belongs to another process than the one that was chosen.", ""),
    ENTRY(NO_PROFILER_LIBRARY, "no_profiler_library",
          "libasyncProfiler.so is not installed for this CPU and C library.",
          "Install it beside the agent, or name it with --profiler-library."),
    ENTRY(UNSUPPORTED_JVM, "unsupported_jvm", "The JVM is older than 11.",
          "Run the service on HotSpot 11 or later."),
    ENTRY(WORKER_FAILED, "worker_failed",
          "The process that works on the JVM ended without an answer.",
          "The detail holds its exit status; see the log of hotstack-attachd."),
    ENTRY(ATTACHD_UNREACHABLE, "attachd_unreachable",
          "The collector cannot reach hotstack-attachd on this node.",
          "Start hotstack-attachd, and give both the same socket path."),
    ENTRY(TARGET_LIMIT, "target_limit", "The node has more JVMs to profile than the limit allows.",
          "Raise limits.targets of the collector, or profile fewer."),
    ENTRY(QUEUE_FULL, "queue_full",
          "The retry queue was full, and its oldest batches were dropped.",
          "See why the backend does not take them, or raise limits.queue_bytes."),
    ENTRY(UPLOAD_FAILED, "upload_failed", "The backend does not accept this collector's data.",
          "The detail holds the backend's words."),
    ENTRY(COLLECTOR_SILENT, "collector_silent",
          "The collector of this node has not been heard of for a while.",
          "See whether hotstack-collector runs on the node."),
    ENTRY(CRASH_SUSPECTED, "crash_suspected",
          "A JVM of the same build ended abnormally while it was profiled.",
          "See its hs_err file; clear the breaker once the cause is known."),
    ENTRY(PROTOCOL_MISMATCH, "protocol_mismatch",
          "Collector and attachd are of different versions.",
          "Install both from the same release."),
    ENTRY(INTERNAL, "internal", "A step failed in a way that has no name of its own.",
          "The detail says which; please report it."),
    ENTRY(NO_THREAD_AGENT, "no_thread_agent",
          "libhotstackthreads.so is not installed, so there are no thread snapshots.",
          "Install it beside libasyncProfiler.so; a build without jni.h leaves it out."),
    ENTRY(THREAD_AGENT_ERROR, "thread_agent_error",
          "The thread-snapshot agent refused the request.",
          "The detail holds its words, or those of the Java exception."),
    ENTRY(SWITCHED_OFF, "switched_off", "A setting says that this JVM must not be profiled.",
          "Remove the setting that the detail names, or change it from \"off\"."),
    ENTRY(INVALID_SETTING, "invalid_setting",
          "A hotstack.dev annotation or label of the pod or its namespace, or an interval of an "
          "event, cannot be used.",
          "The detail says which, why, and what is allowed."),
    ENTRY(POD_UNKNOWN, "pod_unknown", "The JVM runs in a pod that the API server has not told of.",
          "The detail says why: see whether the collector reaches the API server and may list and "
          "watch pods and namespaces."),
    ENTRY(EVENT_REFUSED, "event_refused",
          "The profiler refused some of the events that were asked for; it records the others.",
          "The detail names each and holds the profiler's words: clear that away, or ask for the "
          "event no longer."),
    ENTRY(JDK_DELETED, "jdk_deleted",
          "The JDK was deleted while the JVM runs, which cannot load what is needed of it.",
          "Restart the JVM on a JDK that stays in its place; until then `hotstack jcmd PID "
          "Thread.print` shows its threads, and async-profiler works."),
    ENTRY(JVM_STARTING, "jvm_starting", "The JVM is still starting, and takes no profiler yet.",
          "Wait: the next try comes by itself. Where it happens often, lengthen the start-up "
          "delay."),
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
