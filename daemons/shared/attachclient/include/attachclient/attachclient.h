/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one operation on one JVM in a worker process (hotstack-attach-worker): what attachd and the
 * CLI share. The calling process needs no privilege of its own beyond what the worker shall
 * inherit, may have threads, and never forks: the worker is started by posix_spawn.
 */
#ifndef ATTACHCLIENT_H
#define ATTACHCLIENT_H

#include <attach/attach.h>
#include <catalogue/event.h>

typedef struct attachclient_options {
    size_t size;
    const char *worker; /* path of the program; NULL = attachclient_find_worker's */
    /*
     * A descriptor that ends the operation early when it becomes readable (an eventfd, a pipe), or
     * -1: the worker is killed and the result is ATTACH_ERR_IO. What it did in the JVM up to then
     * stays.
     */
    int cancel_fd;
} attachclient_options;

#define ATTACHCLIENT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(attachclient_options), NULL, -1                                                     \
    }

/*
 * Starts a worker for `request`, hands data bytes to `piece` as they come (at most ATTACH_PIECE_MAX
 * at once; NULL refuses an answer that has any) and waits for the result and the worker's end. The
 * worker has request->timeout_ms; one that has not answered 2 s after is killed and the reason is
 * attach_timeout. One that has answered and not ended by then is killed, too, and its answer holds.
 *
 * Returns 0 when the worker answered and its own result code is 0; the result's code when it
 * answered with an error (err then carries its message and reason); otherwise ATTACH_ERR_IO (the
 * program could not be started, died, was cancelled, or piece refused), ATTACH_ERR_FORMAT (its
 * answer breaks the protocol), ATTACH_ERR_TARGET (attach_timeout), ATTACH_ERR_LIMIT (see
 * attachclient_unreaped), ATTACH_ERR_USAGE. *out is filled
 * in every case. Any number of threads may call it at once.
 */
ATTACH_MUST_USE int attachclient_run(attach_result *out, const attach_request *request,
                                     attach_piece_fn piece, void *ctx,
                                     const attachclient_options *options, attach_error *err);

/* Sets what a session is to record. Live objects are found among sampled allocations: with
 * EVENT_LIVE the recording has those, too. */
void attachclient_set_events(attach_request *request, const event_intervals *events);

#define ATTACHCLIENT_UNREAPED_MAX 16

/*
 * How many workers were killed and have not ended: they hang in the kernel. Those that have ended
 * since the last call are reaped. With ATTACHCLIENT_UNREAPED_MAX of them attachclient_run starts no
 * other and returns ATTACH_ERR_LIMIT. Any number of threads may call it at once.
 */
size_t attachclient_unreaped(void);

/*
 * Where the installed parts are: the worker program, libasyncProfiler.so and libhotstackthreads.so.
 * Each looks, in this order, at the environment (HOTSTACK_ATTACH_WORKER, HOTSTACK_ASYNC_PROFILER,
 * HOTSTACK_THREAD_AGENT), at the place relative to the running program (so that an installation can
 * be moved), and at the place that the build was configured for. Writes the first that exists to
 * out[cap] and returns 0; -1 when none does, with out holding the last place, for the error
 * message.
 */
ATTACH_MUST_USE int attachclient_find_worker(char *out, size_t cap);
ATTACH_MUST_USE int attachclient_find_profiler(char *out, size_t cap);
ATTACH_MUST_USE int attachclient_find_thread_agent(char *out, size_t cap);

#endif
