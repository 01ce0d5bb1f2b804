/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that find and identify the HotSpot JVMs of this host. */
#ifndef ATTACH_JVM_H
#define ATTACH_JVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <attach/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The identity of a process. A pid alone may be reused. */
typedef struct attach_identity {
    char boot_id[40];     /* /proc/sys/kernel/random/boot_id, NUL-terminated */
    int32_t pid;          /* in the pid namespace of proc_root */
    uint64_t start_ticks; /* field 22 of /proc/PID/stat: clock ticks since boot */
} attach_identity;

typedef struct attach_options {
    size_t size;           /* sizeof(attach_options) */
    const char *proc_root; /* NULL = "/proc"; a mounted host procfs, or a fake tree in tests */
    const char
        *cgroup_root; /* NULL = "/sys/fs/cgroup"; where the host's control groups are mounted */
} attach_options;

#define ATTACH_OPTIONS_INIT                                                                        \
    {                                                                                              \
        sizeof(attach_options), NULL, NULL                                                         \
    }

typedef enum attach_libc {
    ATTACH_LIBC_UNKNOWN = 0,
    ATTACH_LIBC_GLIBC,
    ATTACH_LIBC_MUSL
} attach_libc;

/*
 * One JVM. Strings are NUL-terminated UTF-8, cut to the size of their array and empty where
 * unknown; a '?' replaces bytes that are not printable. All fields but identity, ns_pid, uid, gid,
 * start_ms and cgroup come from the target itself and are for display only. So do the limits where
 * the host's control groups cannot be seen.
 */
typedef struct attach_jvm {
    attach_identity identity;
    int32_t ns_pid; /* the JVM's own view of its pid */
    uint32_t uid;   /* effective ids, as this host sees them */
    uint32_t gid;
    char main_class[256]; /* class, module/class or path of the jar; for a program other than `java`
                             that creates the JVM itself, its name */
    char command_line[1024];
    char version[64]; /* java.version, "17.0.9" */
    char vendor[64];
    char vm_name[64];      /* "OpenJDK 64-Bit Server VM" */
    char libjvm[512];      /* path in the target's root */
    char cgroup[512];      /* the path that names the container, else the first non-root path */
    char container_id[80]; /* 64 hex digits, or empty outside a container */
    char pod_uid[40];      /* with dashes, or empty outside Kubernetes */
    attach_libc libc;
    int64_t start_ms;            /* Unix time of the process's start */
    bool attach_disabled;        /* -XX:+DisableAttachMechanism */
    bool agent_loading_disabled; /* -XX:-EnableDynamicAgentLoading */
    bool perf_data_off;          /* -XX:+PerfDisableSharedMem, -XX:-UsePerfData: no hsperfdata */
    bool jdk_deleted;            /* the files of its JDK were deleted while it was running */
    uint64_t memory_limit;       /* bytes that its control groups allow; 0 = no limit seen */
    uint64_t memory_used;        /* bytes that its control group uses; 0 = not known */
    uint32_t cpu_millis; /* thousandths of a core that its groups allow; 0 = no limit seen */
    char profiler[32];   /* the profiler whose library is mapped: "Hotstack", "async-profiler",
                            "Datadog", "Pyroscope" ...; empty = none */
    char profiler_library[256]; /* its path in the target's file system */
    attach_reason reason; /* ATTACH_REASON_NONE: nothing was seen that would prevent attaching */
    char detail[256];     /* a sentence for the reason; empty without a reason */
} attach_jvm;

typedef struct attach_jvm_list attach_jvm_list;

/*
 * Lists the Java processes of the host, sorted by pid: every process that has a libjvm.so mapped,
 * OpenJ9 and GraalVM native images (reason not_hotspot), and processes called "java" whose maps
 * this user may not read (reason permission_denied). A process that exits during the call is left
 * out. Where hsperfdata is off or out of reach the version comes from the JDK's release file and
 * the main class from the command line. Files on a network or FUSE mount of a target are not read,
 * since that could wait for a server.
 *
 * The reason external_profiler means a profiler that is known to start by itself (Datadog,
 * Pyroscope ...), or an async-profiler that has run; attach_ap_start finds out whether the latter
 * still runs.
 *
 * options may be NULL. Returns 0, ATTACH_ERR_IO when proc_root cannot be read, ATTACH_ERR_NOMEM or
 * ATTACH_ERR_USAGE. *out: caller frees with attach_jvm_list_free. Thread-safe.
 * Sources: proc(5); hsperfdata: HotSpot's perfMemory.hpp.
 */
ATTACH_EXPORT ATTACH_MUST_USE int
attach_jvm_list_read(attach_jvm_list **out, const attach_options *options, attach_error *err);
ATTACH_EXPORT size_t attach_jvm_list_count(const attach_jvm_list *list);
/* Returns the JVM at `index`, borrowed until the list is freed; NULL past the end. */
ATTACH_EXPORT const attach_jvm *attach_jvm_list_at(const attach_jvm_list *list, size_t index);
ATTACH_EXPORT void attach_jvm_list_free(attach_jvm_list *list);

/*
 * Reads one process. Returns 0 with *out filled (its reason may still be not_hotspot or
 * permission_denied), ATTACH_ERR_TARGET with reason process_exited when there is no such process,
 * or not_hotspot when it is no JVM at all. Thread-safe.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_jvm_read(attach_jvm *out, int32_t pid,
                                                  const attach_options *options, attach_error *err);

#ifdef __cplusplus
}
#endif

#endif
