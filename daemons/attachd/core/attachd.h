/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotstack-attachd's core: performs the commands of local.proto on the JVMs of this host.
 *
 * All targets are served at the same time. On one target an operation on its session and a thread
 * snapshot may run at the same time, but two of one kind never: a request waits for the one before
 * it, at most until its own deadline. Finished windows have handles and are kept within limits on
 * their bytes; if they are not fetched, the oldest are dropped. The core does not know nng,
 * protobuf, processes or libattach: attachd_ports hides them.
 */
#ifndef ATTACHD_CORE_ATTACHD_H
#define ATTACHD_CORE_ATTACHD_H

#include <localrpc/message.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of an operation on a JVM. Zeroed before the port is called. */
typedef struct attachd_outcome {
    uint32_t reason; /* enum reason; 0 = done */
    char detail[512];
    uint32_t session; /* enum session_state, after the operation */
    bool running;     /* our session runs now */
    bool has_files;   /* the target has files of ours */
    char engine[16];  /* CPU engine in use, "" without a CPU profile */
    char engine_reason[256];
    uint64_t offset;         /* position in the recording at which the next window begins */
    uint64_t started_ms;     /* Unix ms of the session's start, 0 = unknown */
    uint64_t bytes;          /* bytes written to the descriptor */
    uint64_t dropped_events; /* dropped by the profiler since the last window */
    uint32_t absent;         /* 1 << event_id of each wanted event that is not recorded */
    char absent_reason[256];
    bool over_limit; /* the recording was larger than the limit of a window */
} attachd_outcome;

/* Everything outside of the core. Several threads may call all functions at the same time. */
typedef struct attachd_ports {
    void *context;
    /* Lists every JVM of the host: a malloc'd array. Returns an enum reason; detail on failure. */
    uint32_t (*list)(void *context, local_jvm **out, size_t *count, char *detail, size_t size);
    /* The findings of the self-check, which every list contains; at most LOCAL_FINDINGS_MAX. */
    const local_finding *lacks;
    size_t lack_count;
    /* Returns how many killed workers have not ended. */
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
    /* Returns a descriptor of an empty, nameless file; -1 with errno set. */
    int (*new_file)(void *context);
    /* Reads bytes of it from `offset` on. Returns how many, 0 at its end, or -1. */
    long (*read_file)(void *context, int file, uint64_t offset, uint8_t *to, size_t length);
    void (*close_file)(void *context, int file);
    uint64_t (*now_ms)(void *context); /* Unix ms */
    uint64_t (*monotonic_ms)(void *context);
    void (*random_id)(void *context, uint8_t id[LOCAL_ID_SIZE]);
    void (*log)(void *context, const char *message);
} attachd_ports;

typedef struct attachd_limits {
    uint64_t window_bytes; /* limit of one window or snapshot */
    uint64_t spool_bytes;  /* limit of all windows not fetched yet */
    unsigned windows;      /* most windows not fetched yet */
    uint64_t lease_ms;     /* time without a request after which a session is stopped; 0 = never */
    /*
     * A session is restarted at the end of a window when it is this old, or when its windows are
     * this large and it is not very young: each chunk of a recording has every stack since the
     * session's start. 0 = never.
     */
    uint64_t restart_ms;
    uint64_t restart_bytes;
} attachd_limits;

typedef struct attachd attachd;

/* Copies `ports`. Returns NULL without memory. Free with attachd_free. */
attachd *attachd_new(const attachd_ports *ports, const attachd_limits *limits);
void attachd_free(attachd *self);

/* Performs one request; `answer` must be empty. Any number of threads. */
void attachd_handle(attachd *self, const local_request *request, local_answer *answer);

/*
 * Cleans up after an earlier run: stops our sessions that nobody has claimed with START since this
 * run began (orphaned), and removes our files without a session. Call it once, some time after the
 * start. Returns how many JVMs were cleaned.
 */
unsigned attachd_sweep(attachd *self);

/*
 * Stops the sessions whose lease has ended: their owner has asked for no window for that long, and
 * will not come back. Call it at intervals. Returns how many were stopped; each is logged.
 */
unsigned attachd_expire(attachd *self);

/*
 * Stops every session that START returned and that still runs, several at the same time, and
 * removes their files. No request may be handled afterwards. Returns how many could not be stopped;
 * each is logged.
 */
unsigned attachd_stop_sessions(attachd *self);

/* Figures for tests and logs. */
typedef struct attachd_counts {
    unsigned targets; /* with a session */
    unsigned windows; /* not fetched yet */
    uint64_t window_bytes;
    uint64_t windows_dropped; /* dropped because of the limits, since the start */
} attachd_counts;
attachd_counts attachd_count(attachd *self);

#endif
