/* SPDX-License-Identifier: Apache-2.0 */
/* Return codes, reasons and the error record of libattach. */
#ifndef ATTACH_ERROR_H
#define ATTACH_ERROR_H

#include <stdint.h>

#include <attach/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every fallible function returns 0 or one of these. */
enum {
    ATTACH_OK = 0,
    ATTACH_ERR_IO = -1,     /* a system call failed */
    ATTACH_ERR_FORMAT = -2, /* bytes that are not what their format says */
    ATTACH_ERR_LIMIT = -3,  /* larger than a documented limit */
    ATTACH_ERR_USAGE = -4,  /* the caller's arguments are wrong */
    ATTACH_ERR_NOMEM = -5,
    ATTACH_ERR_TARGET = -6 /* the JVM cannot be served: attach_error.reason says why */
};

/*
 * Why a JVM cannot be attached to or profiled. The names of attach_reason_name() are stable and
 * shared by all parts of Hotstack; the numbers are not stable, so store and send the names.
 */
typedef enum attach_reason {
    ATTACH_REASON_NONE = 0,
    ATTACH_REASON_NO_EXEC_DIR,     /* no mount of the target takes an executable file */
    ATTACH_REASON_ATTACH_DISABLED, /* -XX:+DisableAttachMechanism */
    ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED, /* -XX:-EnableDynamicAgentLoading */
    ATTACH_REASON_ATTACH_SOCKET_GONE,             /* the listener's socket file was removed */
    ATTACH_REASON_PERMISSION_DENIED,
    ATTACH_REASON_NOT_HOTSPOT,
    ATTACH_REASON_EXTERNAL_PROFILER, /* another program's profiler or session */
    ATTACH_REASON_PROCESS_EXITED,
    ATTACH_REASON_TARGET_STOPPED, /* SIGSTOP or a debugger */
    ATTACH_REASON_ATTACH_TIMEOUT,
    ATTACH_REASON_LIBRARY_LOAD_FAILED,
    ATTACH_REASON_PROFILER_ERROR, /* async-profiler refused; the message quotes it */
    ATTACH_REASON_DISK_FULL,
    ATTACH_REASON_IDENTITY_CHANGED,    /* the pid now belongs to another process */
    ATTACH_REASON_NO_PROFILER_LIBRARY, /* libasyncProfiler.so is not installed where it was expected
                                        */
    ATTACH_REASON_NO_THREAD_AGENT, /* libhotstackthreads.so is not installed where it was expected
                                    */
    ATTACH_REASON_THREAD_AGENT_ERROR, /* the agent refused; the message quotes it */
    ATTACH_REASON_JDK_DELETED, /* the JDK's files were deleted while the JVM runs, which needs
                                  another one of them */
    ATTACH_REASON_JVM_STARTING /* the JVM accepts no profiler yet; a later try succeeds */
} attach_reason;

/*
 * The details of an error. offset is the byte at which hostile or damaged input was refused (0
 * where it does not apply). message is a sentence that says what failed, where, and what to do.
 */
typedef struct attach_error {
    int code;
    uint64_t offset;
    char message[256];
    attach_reason reason;
} attach_error;

/* Returns the stable name ("no_exec_dir" ...; "none" for ATTACH_REASON_NONE). Never NULL.
 * Thread-safe. */
ATTACH_EXPORT const char *attach_reason_name(attach_reason reason);

/* Returns the reason of that name; ATTACH_REASON_NONE when the name is unknown or NULL.
 * Thread-safe. */
ATTACH_EXPORT attach_reason attach_reason_from_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
