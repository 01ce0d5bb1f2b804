/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between a program and hotstack-attach-worker, the process that does one operation on
 * one JVM. Format: docs/formats/attach-worker.md. Every function here is bounded, allocates
 * nothing, and is thread-safe.
 */
#ifndef ATTACH_WORKER_H
#define ATTACH_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include <attach/command.h>
#include <attach/jvm.h>
#include <attach/profiler.h>
#include <attach/threads.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTACH_REQUEST_HEADER   8
#define ATTACH_REQUEST_MAX      ((size_t)32 << 10) /* header included */
#define ATTACH_FRAME_HEADER     8
#define ATTACH_FRAME_MAX        (ATTACH_FRAME_HEADER + ATTACH_PIECE_MAX)
#define ATTACH_REQUEST_PATH_MAX 512
#define ATTACH_REQUEST_DIRS     8
#define ATTACH_TIMEOUT_MAX_MS   600000

typedef enum attach_op {
    ATTACH_OP_START = 1,
    ATTACH_OP_WINDOW = 2,
    ATTACH_OP_STOP = 3,
    ATTACH_OP_STATUS = 4,
    ATTACH_OP_COMMAND = 5,        /* name and args as attach_command; data frames carry the text */
    ATTACH_OP_DISCARD = 6,        /* as STOP, but drops the recording, even a damaged one */
    ATTACH_OP_THREADS = 16,       /* attach_threads_take; data frames carry the snapshot's bytes */
    ATTACH_OP_THREADS_CLOSE = 17, /* attach_threads_close */
    ATTACH_OP_EXAMINE =
        20 /* attach_examine; a data frame carries attach_examination_format's text */
} attach_op;

/* One operation. Strings are NUL-terminated; unused fields are zero. */
typedef struct attach_request {
    attach_op op;
    attach_identity identity;
    uint32_t timeout_ms; /* 1..ATTACH_TIMEOUT_MAX_MS, counted from the moment at which the worker
                            has read the request */
    char proc_root[ATTACH_REQUEST_PATH_MAX];
    char installation_id[ATTACH_INSTALLATION_MAX + 1];
    char library[ATTACH_REQUEST_PATH_MAX]; /* the installed libasyncProfiler.so, or for
                                              ATTACH_OP_THREADS libhotstackthreads.so, on the
                                              worker's side */
    attach_ap_engine engine;
    uint64_t cpu_interval_ns;
    uint64_t alloc_bytes;
    uint64_t lock_ns;
    uint64_t memlimit_bytes;
    uint32_t rate_limit;
    uint64_t wall_ns;
    uint64_t nativemem_bytes;
    bool live;
    uint64_t offset;
    uint64_t settled;
    uint32_t max_seconds;
    attach_ap_recorder recorder;
    char owner[ATTACH_OWNER_MAX + 1];
    char command[ATTACH_NAME_MAX + 1];
    uint32_t n_args;
    char args[ATTACH_COMMAND_ARGS][ATTACH_ARG_MAX + 1];
    char lease_id[ATTACH_INSTALLATION_MAX +
                  1]; /* this and the following fields as in attach_threads_options */
    uint32_t threads_flags;
    uint32_t max_threads;
    uint32_t max_stacks;
    uint32_t max_depth;
    uint32_t max_bytes;
    uint32_t lease_ms;
    uint32_t pause_ms;
    uint32_t n_dirs;
    char dirs[ATTACH_REQUEST_DIRS][ATTACH_REQUEST_PATH_MAX];
} attach_request;

/* The last frame of an answer. */
typedef struct attach_result {
    int code; /* 0 or ATTACH_E_* */
    attach_reason reason;
    char message[256]; /* empty on success */
    attach_ap_info info;
    int32_t reply_code; /* ATTACH_OP_COMMAND: attach_reply_code */
    uint64_t bytes;     /* sum of the data frames before */
} attach_result;

typedef enum attach_frame_type { ATTACH_FRAME_DATA = 1, ATTACH_FRAME_RESULT = 2 } attach_frame_type;

/*
 * Writes the framed request to buf (cap >= ATTACH_REQUEST_MAX always suffices); *n gets its bytes.
 * ATTACH_ERR_USAGE names the field that is out of range, ATTACH_ERR_LIMIT when cap is too small.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_request_encode(uint8_t *buf, size_t cap, size_t *n,
                                                        const attach_request *request,
                                                        attach_error *err);
/* Sets *n to the bytes of body that follow this header. ATTACH_ERR_FORMAT, ATTACH_ERR_LIMIT. */
ATTACH_EXPORT ATTACH_MUST_USE int
attach_request_body_length(size_t *n, const uint8_t header[ATTACH_REQUEST_HEADER],
                           attach_error *err);
/* Reads a whole framed request; err->offset is the byte refused. */
ATTACH_EXPORT ATTACH_MUST_USE int attach_request_decode(attach_request *out, const uint8_t *buf,
                                                        size_t n, attach_error *err);

/* Writes the header of a frame whose payload has n <= ATTACH_PIECE_MAX bytes. */
ATTACH_EXPORT ATTACH_MUST_USE int attach_answer_header_encode(uint8_t header[ATTACH_FRAME_HEADER],
                                                              attach_frame_type type, size_t n,
                                                              attach_error *err);
ATTACH_EXPORT ATTACH_MUST_USE int
attach_answer_header_decode(attach_frame_type *type, size_t *n,
                            const uint8_t header[ATTACH_FRAME_HEADER], attach_error *err);
/* Writes the payload of a result frame; 2 KiB always suffice. */
ATTACH_EXPORT ATTACH_MUST_USE int attach_answer_result_encode(uint8_t *buf, size_t cap, size_t *n,
                                                              const attach_result *result,
                                                              attach_error *err);
ATTACH_EXPORT ATTACH_MUST_USE int
attach_answer_result_decode(attach_result *out, const uint8_t *buf, size_t n, attach_error *err);

#ifdef __cplusplus
}
#endif

#endif
