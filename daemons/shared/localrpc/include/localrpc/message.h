/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between the collector, the command line and attachd on one host. Their encoding is
 * daemons/shared/localrpc/local.proto, which only the codec includes.
 *
 * Thread rule: a request or an answer is used by one thread at a time.
 */
#ifndef LOCALRPC_MESSAGE_H
#define LOCALRPC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <catalogue/event.h>

enum {
    LOCAL_PROTOCOL = 1,
    LOCAL_ID_SIZE = 16,
    LOCAL_PIECE_MAX = 64 * 1024,   /* bytes of a READ answer, small enough to be sent in one part */
    LOCAL_REQUEST_MAX = 16 * 1024, /* bytes of an encoded request */
    LOCAL_STATUS_MAX = 8 * 1024 * 1024,  /* bytes of a STATUS answer's document */
    LOCAL_ANSWER_MAX = 16 * 1024 * 1024, /* bytes of an encoded answer */
    LOCAL_JVMS_MAX = 4096,
};

/* Identifies a process. A pid is not enough, because the kernel uses it again. */
typedef struct local_identity {
    char boot_id[40];
    uint32_t host_pid;
    uint64_t start_ticks; /* /proc/PID/stat field 22 */
} local_identity;

typedef enum local_op {
    LOCAL_LIST = 1,    /* every JVM of the host */
    LOCAL_START = 2,   /* start a session, or adopt the running one if it is ours */
    LOCAL_WINDOW = 3,  /* end a window without stopping; a handle gives access to its bytes */
    LOCAL_STOP = 4,    /* stop our session; a handle gives access to the rest of its bytes */
    LOCAL_READ = 5,    /* read bytes of a handle; `done` frees them */
    LOCAL_SESSION = 6, /* tell which session runs, if any */
    LOCAL_THREADS = 7, /* take a thread snapshot; a handle gives access to its bytes */
    LOCAL_STATUS = 8,  /* the state of a collector, a JSON document */
} local_op;

typedef struct local_request {
    uint8_t id[LOCAL_ID_SIZE]; /* random; the server runs a request with the same id only once */
    local_op op;
    uint32_t deadline_ms; /* from the moment that the server receives the request */
    local_identity jvm;   /* all but LIST, READ and STATUS */
    /* START */
    event_intervals events;
    uint64_t memlimit_bytes; /* 0 = the engine's default */
    uint32_t rate_limit;     /* events of one kind in a second; 0 = the engine's default */
    /* THREADS */
    uint32_t lease_ms;
    bool contention;
    uint32_t max_threads; /* 0 = the agent's default */
    uint64_t settled;     /* WINDOW: an offset in the recording; no request needs bytes before it */
    /* WINDOW, STOP: the offset in the recording at which the handle's bytes begin, UINT64_MAX =
     * where the last window ended. READ: the offset in the handle's bytes. */
    uint64_t offset;
    /* READ */
    uint8_t handle[LOCAL_ID_SIZE];
    uint32_t length; /* at most LOCAL_PIECE_MAX; 0 with done */
    bool done;
} local_request;

typedef struct local_jvm {
    local_identity id;
    uint32_t ns_pid;
    uint32_t uid;
    uint32_t gid;
    uint64_t start_ms;
    char main_class[256];
    char command_line[1024];
    char version[64];
    char vendor[64];
    char cgroup[512];
    char container_id[80];
    char pod_uid[40];
    uint32_t verdict; /* enum reason: 0 = nothing known prevents profiling */
    char detail[256];
} local_jvm;

enum { LOCAL_FINDINGS_MAX = 8 };

/* Something that a program needs and lacks. Its self-check found it at the start. */
typedef struct local_finding {
    char check[24];    /* stable word: "capability" */
    char message[256]; /* what is missing, and what does not work without it */
    char fix[160];     /* what to do */
} local_finding;

typedef struct local_answer {
    uint8_t id[LOCAL_ID_SIZE];
    uint32_t reason; /* enum reason; 0 = success */
    char detail[512];
    local_jvm *jvms; /* LIST; owned */
    size_t jvm_count;
    bool has_handle; /* WINDOW, STOP, THREADS */
    uint8_t handle[LOCAL_ID_SIZE];
    uint64_t size; /* bytes of the handle */
    uint8_t *data; /* READ, STATUS; owned */
    size_t length;
    uint64_t window_start_ms;
    uint64_t window_end_ms;
    char engine[16]; /* START: the CPU engine that runs; "" without a CPU profile */
    char engine_reason[256];
    /* enum session_state. Of WINDOW, SESSION_STATE_ADOPTED: no START of this attachd gave the
     * session out, which its owner does next. */
    uint32_t session;
    uint64_t session_ms; /* START, WINDOW: Unix ms at which the running session began */
    uint64_t offset;     /* in the session's recording: where the next window begins */
    uint64_t gap_ms;     /* recording time lost before this window */
    local_finding lacks[LOCAL_FINDINGS_MAX]; /* LIST: findings of attachd's self-check */
    size_t lack_count;
    uint32_t workers_unreaped; /* LIST: killed attach workers that have not ended */
    uint64_t dropped_events;   /* WINDOW, STOP: events of this window that the profiler dropped */
    uint32_t absent; /* START: 1 << event_id for each requested event that is not recorded */
    char absent_reason[256]; /* which events, and why */
} local_answer;

/* Frees the memory that the answer owns and zeroes the answer. */
void local_answer_clear(local_answer *answer);

/* Returns whether both identify the same process. */
bool local_identity_equal(const local_identity *a, const local_identity *b);

/*
 * Encoders return 0, or -1 without memory or if a field of the request is out of range. The caller
 * frees *out, which has *length bytes, with free(). Decoders return 0, or -1 with an empty *out if
 * the bytes are not such a message or exceed a limit. local_request_decode returns 1 and fills
 * out->id if only the protocol is not LOCAL_PROTOCOL.
 */
int local_request_encode(uint8_t **out, size_t *length, const local_request *request);
int local_request_decode(local_request *out, const uint8_t *bytes, size_t length);
int local_answer_encode(uint8_t **out, size_t *length, const local_answer *answer);
int local_answer_decode(local_answer *out, const uint8_t *bytes, size_t length);

#endif
