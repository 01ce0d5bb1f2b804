/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs an operation on a JVM in a worker process (hotstack-attach-worker). attachd and the command
 * line share it. The calling process needs only the privileges that the worker inherits. It may
 * have threads, because posix_spawn starts the worker.
 */
#ifndef ATTACHCLIENT_H
#define ATTACHCLIENT_H

#include <attach/attach.h>
#include <catalogue/event.h>

typedef struct attachclient_options {
    size_t size;
    const char *worker; /* path of the program; NULL = attachclient_find_worker's */
    /*
     * A descriptor (an eventfd or a pipe), or -1. When it becomes readable, the worker is killed
     * and the result is ATTACH_ERR_IO. Changes that the worker has made in the JVM remain.
     */
    int cancel_fd;
} attachclient_options;

#define ATTACHCLIENT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(attachclient_options), NULL, -1                                                     \
    }

/*
 * Starts a worker for `request`, passes data bytes to `piece` as they arrive (at most
 * ATTACH_PIECE_MAX per call; with NULL an answer that has data is an error), and waits for the
 * result and the worker's end. The worker must answer within request->timeout_ms. Two seconds later
 * it is killed: if it has not answered, the reason is attach_timeout; otherwise its answer holds.
 *
 * Returns the worker's result code if it answered; `err` then has its message and reason. Otherwise
 * returns ATTACH_ERR_IO (the program could not be started, died or was cancelled, or `piece`
 * failed), ATTACH_ERR_FORMAT (the answer violates the protocol), ATTACH_ERR_TARGET
 * (attach_timeout), ATTACH_ERR_LIMIT (see attachclient_unreaped) or ATTACH_ERR_USAGE. *out is
 * filled in every case. Thread rule: any number of threads may call it at once.
 */
ATTACH_MUST_USE int attachclient_run(attach_result *out, const attach_request *request,
                                     attach_piece_fn piece, void *ctx,
                                     const attachclient_options *options, attach_error *err);

/* Sets the events that a session records. async-profiler finds live objects among sampled
 * allocations, so that a recording with EVENT_LIVE has both. */
void attachclient_set_events(attach_request *request, const event_intervals *events);

#define ATTACHCLIENT_UNREAPED_MAX 16

/*
 * Reaps killed workers that have ended, and returns how many have not, because they hang in the
 * kernel. With ATTACHCLIENT_UNREAPED_MAX of them attachclient_run starts no worker and returns
 * ATTACH_ERR_LIMIT. Thread rule: any number of threads may call it at once.
 */
size_t attachclient_unreaped(void);

/*
 * Find an installed file: the worker program, libasyncProfiler.so or libhotstackthreads.so. Each
 * function tries, in this order, the environment variable (HOTSTACK_ATTACH_WORKER,
 * HOTSTACK_ASYNC_PROFILER, HOTSTACK_THREAD_AGENT), the path relative to the running program (so
 * that an installation can be moved), and the path that the build was configured for. It writes the
 * first that exists to out[cap] and returns 0. If none exists, it writes the last path, for the
 * error message, and returns -1.
 */
ATTACH_MUST_USE int attachclient_find_worker(char *out, size_t cap);
ATTACH_MUST_USE int attachclient_find_profiler(char *out, size_t cap);
ATTACH_MUST_USE int attachclient_find_thread_agent(char *out, size_t cap);

#endif
