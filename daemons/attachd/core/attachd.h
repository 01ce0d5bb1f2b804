/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotstack-attachd's core: the commands of local.proto on the JVMs of this host.
 *
 * All targets go side by side. On one target an operation on its session and a thread snapshot may
 * run at the same time, two of one kind never: a request waits for the one before it, at most until
 * its own deadline. Finished windows lie behind handles,
 * within byte caps; the oldest go when they are not fetched. The core knows nothing of nng,
 * protobuf, processes or libattach: those are behind attachd_ports.
 */
#ifndef ATTACHD_CORE_ATTACHD_H
#define ATTACHD_CORE_ATTACHD_H

#include <localrpc/message.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one operation on a JVM came to. Zeroed before the port is called. */
typedef struct attachd_outcome {
    uint32_t reason; /* enum reason; 0 = done */
    char detail[512];
    uint32_t session; /* enum session_state, after the operation */
    bool running;     /* a session of ours runs now */
    bool has_files;   /* files of ours lie in the target */
    char engine[16];  /* CPU engine in use, "" without a CPU profile */
    char engine_reason[256];
    uint64_t offset;         /* where the recording's next window begins */
    uint64_t started_ms;     /* Unix ms of the session's start, 0 = not known */
    uint64_t bytes;          /* written to the descriptor */
    uint64_t dropped_events; /* by the profiler since the last window */
    uint32_t absent;         /* 1 << event_id of each event that is wanted and not recorded */
    char absent_reason[256];
    bool over_limit; /* the recording was larger than the window may be */
} attachd_outcome;

/* Everything outside. All functions may be called from several threads at once. */
typedef struct attachd_ports {
    void *context;
    /* Every JVM of the host: a malloc'd array. Returns an enum reason; detail on failure. */
    uint32_t (*list)(void *context, local_jvm **out, size_t *count, char *detail, size_t size);
    const char *lacks; /* what the self-check found, a sentence a line; told with every list */
    /* How many killed workers have not ended. */
    uint32_t (*unreaped)(void *context);
    void (*start)(void *context, const local_request *request, uint32_t deadline_ms,
                  attachd_outcome *out);
    /*
     * Ends a window, or the session, and writes the recording's bytes from `offset` on to `fd` (-1
     * = drop them), at most `limit` of them. offset UINT64_MAX = where the last finished call
     * ended.
     */
    void (*window)(void *context, const local_request *request, int fd, uint64_t limit,
                   uint32_t deadline_ms, attachd_outcome *out);
    void (*stop)(void *context, const local_identity *jvm, uint64_t offset, int fd, uint64_t limit,
                 uint32_t deadline_ms, attachd_outcome *out);
    void (*status)(void *context, const local_identity *jvm, uint32_t deadline_ms,
                   attachd_outcome *out);
    /* Takes a thread snapshot and writes its bytes to `fd`, at most `limit` of them. */
    void (*threads)(void *context, const local_request *request, int fd, uint64_t limit,
                    uint32_t deadline_ms, attachd_outcome *out);
    /* A descriptor of an empty, nameless file; -1 with errno set. */
    int (*new_file)(void *context);
    /* Bytes of it from `offset` on: how many, 0 at its end, or -1. */
    long (*read_file)(void *context, int file, uint64_t offset, uint8_t *to, size_t length);
    void (*close_file)(void *context, int file);
    uint64_t (*now_ms)(void *context); /* Unix ms */
    uint64_t (*monotonic_ms)(void *context);
    void (*random_id)(void *context, uint8_t id[LOCAL_ID_SIZE]);
    void (*log)(void *context, const char *message);
} attachd_ports;

typedef struct attachd_limits {
    uint64_t window_bytes; /* of one window, or snapshot */
    uint64_t spool_bytes;  /* of all windows not fetched yet */
    unsigned windows;      /* how many of them */
    uint64_t lease_ms;     /* a session that nobody asks about for so long is stopped; 0 = never */
    /*
     * A session is begun anew at the end of a window when it is that old, or when its windows are
     * that large and it is not quite young: each chunk of a recording carries every stack seen
     * since the start. 0 = never.
     */
    uint64_t restart_ms;
    uint64_t restart_bytes;
} attachd_limits;

typedef struct attachd attachd;

/* NULL where memory ran out. `ports` is copied. Free with attachd_free. */
attachd *attachd_new(const attachd_ports *ports, const attachd_limits *limits);
void attachd_free(attachd *self);

/* Does one request; `answer` is empty before. Any number of threads. */
void attachd_handle(attachd *self, const local_request *request, local_answer *answer);

/*
 * What an earlier run left: a session of ours that nobody has claimed by START since this run
 * began is stopped (orphaned), and files of ours without a session are removed. To be called once,
 * some time after the start. Returns how many JVMs were cleaned.
 */
unsigned attachd_sweep(attachd *self);

/*
 * Stops the sessions whose lease is over: whoever started them has asked for no window for that
 * long, and is gone for good. To be called from time to time. Returns how many were stopped; each
 * is logged.
 */
unsigned attachd_expire(attachd *self);

/*
 * Stops every session that START gave out and that runs still, several at once, and removes their
 * files. No request may be handled any more. Returns how many could not be stopped; each is logged.
 */
unsigned attachd_stop_sessions(attachd *self);

/* For tests and logs. */
typedef struct attachd_counts {
    unsigned targets; /* with a session */
    unsigned windows; /* not fetched yet */
    uint64_t window_bytes;
    uint64_t windows_dropped; /* by the caps, since the start */
} attachd_counts;
attachd_counts attachd_count(attachd *self);

#endif
