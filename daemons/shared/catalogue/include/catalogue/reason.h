/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reasons: why a JVM has no data, or less than it should. One table owns each reason's number
 * (contract and store: never reused), stable name, one line of explanation and the fix. Collector,
 * API, UI, CLI and docs/reference/reasons.md all take them from here. Pure functions, any thread.
 */
#ifndef CATALOGUE_REASON_H
#define CATALOGUE_REASON_H

enum reason {
    REASON_NONE = 0,
    REASON_NO_EXEC_DIR = 1,
    REASON_ATTACH_DISABLED = 2,
    REASON_DYNAMIC_AGENT_LOADING_DISABLED = 3,
    REASON_ATTACH_SOCKET_GONE = 4,
    REASON_PERMISSION_DENIED = 5,
    REASON_NOT_HOTSPOT = 6,
    REASON_EXTERNAL_PROFILER = 7,
    REASON_WARMING_UP = 8,
    REASON_DISABLED = 9,
    REASON_EXPIRED = 10,
    REASON_PROCESS_EXITED = 11,
    REASON_PARSE_FAILED = 12,
    REASON_BUDGET_TRIPPED = 13,
    REASON_JVM_STARTING = 14,
    REASON_TARGET_STOPPED = 15,
    REASON_ATTACH_TIMEOUT = 16,
    REASON_LIBRARY_LOAD_FAILED = 17,
    REASON_PROFILER_ERROR = 18,
    REASON_DISK_FULL = 19,
    REASON_IDENTITY_CHANGED = 20,
    REASON_NO_PROFILER_LIBRARY = 21,
    REASON_UNSUPPORTED_JVM = 22,
    REASON_WORKER_FAILED = 23,
    REASON_ATTACHD_UNREACHABLE = 24,
    REASON_TARGET_LIMIT = 25,
    REASON_QUEUE_FULL = 26,
    REASON_EVENT_REFUSED = 27,
    REASON_COLLECTOR_SILENT = 28,
    REASON_JDK_DELETED = 29,
    REASON_PROTOCOL_MISMATCH = 30,
    REASON_INTERNAL = 31,
    REASON_NO_THREAD_AGENT = 32,
    REASON_THREAD_AGENT_ERROR = 33,
    REASON_SWITCHED_OFF = 34,
    REASON_INVALID_SETTING = 35,
    REASON_POD_UNKNOWN = 36,
    REASON_EVENT_LIMIT = 37,
    REASON_COLLECTOR_RESTARTED = 38,
    REASON_END
};

typedef struct reason_info {
    enum reason reason;
    const char *name;        /* stable word, e.g. "no_exec_dir" */
    const char *explanation; /* one sentence: the situation */
    const char *fix;         /* one sentence: what to do; "" where nothing is needed */
} reason_info;

/* Returns the entry of a number, or NULL where the number is not in the table (a newer
 * collector's). */
const reason_info *reason_get(unsigned number);

/* Returns the entry of a stable name, or NULL. */
const reason_info *reason_find(const char *name);

#endif
