/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const reason_names[] = {
    [ATTACH_REASON_NONE] = "none",
    [ATTACH_REASON_NO_EXEC_DIR] = "no_exec_dir",
    [ATTACH_REASON_ATTACH_DISABLED] = "attach_disabled",
    [ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED] = "dynamic_agent_loading_disabled",
    [ATTACH_REASON_ATTACH_SOCKET_GONE] = "attach_socket_gone",
    [ATTACH_REASON_PERMISSION_DENIED] = "permission_denied",
    [ATTACH_REASON_NOT_HOTSPOT] = "not_hotspot",
    [ATTACH_REASON_EXTERNAL_PROFILER] = "external_profiler",
    [ATTACH_REASON_PROCESS_EXITED] = "process_exited",
    [ATTACH_REASON_TARGET_STOPPED] = "target_stopped",
    [ATTACH_REASON_ATTACH_TIMEOUT] = "attach_timeout",
    [ATTACH_REASON_LIBRARY_LOAD_FAILED] = "library_load_failed",
    [ATTACH_REASON_PROFILER_ERROR] = "profiler_error",
    [ATTACH_REASON_DISK_FULL] = "disk_full",
    [ATTACH_REASON_IDENTITY_CHANGED] = "identity_changed",
    [ATTACH_REASON_NO_PROFILER_LIBRARY] = "no_profiler_library",
    [ATTACH_REASON_NO_THREAD_AGENT] = "no_thread_agent",
    [ATTACH_REASON_THREAD_AGENT_ERROR] = "thread_agent_error",
    [ATTACH_REASON_JDK_DELETED] = "jdk_deleted",
    [ATTACH_REASON_JVM_STARTING] = "jvm_starting",
};

#define N_REASONS (sizeof(reason_names) / sizeof(reason_names[0]))

const char *attach_reason_name(attach_reason reason)
{
    return (unsigned)reason < N_REASONS ? reason_names[reason] : "none";
}

attach_reason attach_reason_from_name(const char *name)
{
    if (name == NULL)
        return ATTACH_REASON_NONE;
    for (size_t i = 0; i < N_REASONS; i++)
        if (strcmp(reason_names[i], name) == 0)
            return (attach_reason)i;
    return ATTACH_REASON_NONE;
}

__attribute__((format(printf, 5, 0))) static void fill(attach_error *err, int code,
                                                       attach_reason reason, uint64_t offset,
                                                       const char *format, va_list args)
{
    if (err == NULL)
        return;
    err->code = code;
    err->reason = reason;
    err->offset = offset;
    (void)vsnprintf(err->message, sizeof(err->message), format, args);
}

int(attach__fail)(attach_error *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, code, ATTACH_REASON_NONE, 0, format, args);
    va_end(args);
    return code;
}

int(attach__fail_at)(attach_error *err, int code, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, code, ATTACH_REASON_NONE, offset, format, args);
    va_end(args);
    return code;
}

int(attach__refuse)(attach_error *err, attach_reason reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, ATTACH_ERR_TARGET, reason, 0, format, args);
    va_end(args);
    return ATTACH_ERR_TARGET;
}
