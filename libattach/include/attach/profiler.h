/* SPDX-License-Identifier: Apache-2.0 */
/* async-profiler sessions in a JVM: start them, read windows from them, stop them, find their
 * state. */
#ifndef ATTACH_PROFILER_H
#define ATTACH_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <attach/target.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTACH_INSTALLATION_MAX 32 /* characters of an installation id: [a-z0-9]+ */
#define ATTACH_PIECE_MAX        ((size_t)1 << 20)
#define ATTACH_OWNER_MAX        63
#define ATTACH_RATE_LIMIT_MAX   INT32_MAX

/* The state and owner of the session in a JVM. Names: attach_ap_state_name. */
typedef enum attach_ap_state {
    ATTACH_AP_NONE = 0, /* no session */
    ATTACH_AP_OWNED,    /* ours, started by this call */
    ATTACH_AP_ADOPTED,  /* ours, found running and taken over with its data */
    ATTACH_AP_ORPHANED, /* ours, found running, could not be taken over and was stopped */
    ATTACH_AP_EXTERNAL, /* another profiler, or another installation's session */
    ATTACH_AP_UNKNOWN
} attach_ap_state;

typedef enum attach_ap_engine {
    ATTACH_AP_ENGINE_AUTO = 0, /* perf events, else ctimer, else itimer */
    ATTACH_AP_ENGINE_PERF,
    ATTACH_AP_ENGINE_CTIMER,
    ATTACH_AP_ENGINE_ITIMER,
    ATTACH_AP_ENGINE_OFF, /* no CPU profile */
    ATTACH_AP_ENGINE_JFR  /* in answers only: the JDK's own recorder runs */
} attach_ap_engine;

/* The recorder of a session. Names: attach_ap_recorder_name. */
typedef enum attach_ap_recorder {
    /*
     * async-profiler, or the JDK's own recorder where async-profiler cannot be loaded (no_exec_dir,
     * library_load_failed, dynamic_agent_loading_disabled, no_profiler_library); engine_reason then
     * says so
     */
    ATTACH_AP_RECORDER_AUTO = 0,
    ATTACH_AP_RECORDER_ASYNC_PROFILER, /* async-profiler, or an error with the reason */
    ATTACH_AP_RECORDER_JFR
} attach_ap_recorder;

/* The events of a session, as bits. */
enum attach_ap_event {
    ATTACH_AP_CPU = 1,
    ATTACH_AP_ALLOC = 2,
    ATTACH_AP_LOCK = 4,
    ATTACH_AP_WALL = 8,
    ATTACH_AP_LIVE = 16,
    ATTACH_AP_NATIVEMEM = 32,
    ATTACH_AP_EVENTS = 63 /* all */
};

typedef struct attach_ap_options {
    size_t size;                 /* sizeof(attach_ap_options) */
    const char *installation_id; /* required: 1..ATTACH_INSTALLATION_MAX of [a-z0-9] */
    int library_fd;              /* start: the installed libasyncProfiler.so, open for reading */
    attach_ap_engine engine;
    uint64_t cpu_interval_ns; /* 0 = 10 ms; timers (CTIMER, ITIMER) take the kernel's tick where
                                 that is longer, and engine_reason says so */
    uint64_t alloc_bytes;     /* 0 = no allocation profile */
    uint64_t lock_ns;         /* 0 = no lock profile */
    uint64_t memlimit_bytes;  /* the profiler's stack storage; 0 = 64 MiB */
    const char *const *dirs;  /* absolute directories to try before the usual ones, or NULL */
    size_t n_dirs;
    uint32_t max_seconds; /* the profiler stops by itself after that time, even if all of our
                             processes were killed; 0 = never */
    attach_ap_recorder recorder;
    const char *owner;   /* the caller's name, shown to other programs that want this JVM: "hotstack
                            profile (pid 17)"; at most ATTACH_OWNER_MAX bytes, or NULL */
    uint32_t rate_limit; /* the most events of one kind that async-profiler records per second; it
                            drops further ones and counts them. 0 = 10,000 */
    /* For async-profiler only: */
    uint64_t wall_ns; /* 0 = no wall-clock profile; else the time between two looks at a thread */
    uint64_t nativemem_bytes; /* 0 = no profile of native memory */
    bool live; /* with alloc_bytes: also record which of the sampled objects (1,024 at most) are
                  still reachable when the session is stopped. Windows do not contain them */
    uint64_t settled; /* attach_ap_window: the offset before which no caller will request bytes of
                         the recording again, so that their disk space is freed. 0 = none;
                         UINT64_MAX = `offset` */
} attach_ap_options;

#define ATTACH_AP_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(attach_ap_options), NULL, -1, ATTACH_AP_ENGINE_AUTO, 0, 0, 0, 0, NULL, 0, 0,        \
            ATTACH_AP_RECORDER_AUTO, NULL, 0, 0, 0, false, 0                                       \
    }

/* The state of a session after a call. */
typedef struct attach_ap_info {
    attach_ap_state state;
    bool running;
    attach_ap_engine engine; /* the CPU engine in use; OFF without a CPU profile; JFR */
    char engine_reason[256]; /* why no better engine is in use; empty for the best one */
    int64_t started_ms;      /* Unix time at which the session began; 0 = unknown */
    uint64_t offset; /* recording bytes passed to `piece` so far: where the next window begins */
    char directory[256]; /* our directory in the target's file system; empty = none */
    int64_t until_ms;    /* Unix time at which it ends by itself; 0 = never, or not known */
    char installation[ATTACH_INSTALLATION_MAX +
                      1]; /* the installation that the session belongs to; empty = not known */
    char owner[ATTACH_OWNER_MAX + 1]; /* attach_ap_options.owner of its starter */
    char profiler[32];          /* the profiler whose library is mapped, as attach_jvm.profiler */
    char profiler_library[256]; /* its path in the target's file system */
    uint64_t dropped; /* after a window or stop: events of all kinds that async-profiler dropped
                         since the last call that returned bytes, because of rate_limit or because
                         it was busy. Dropped batches of idle wall-clock samples are not counted */
    uint32_t absent;  /* enum attach_ap_event: events that were requested and are not recorded */
    char absent_reason[256]; /* which events, and why: "live: ..."; empty when absent is 0 */
} attach_ap_info;

/*
 * Takes recording bytes, in order, at most ATTACH_PIECE_MAX at once. The bytes of one successful
 * call are a whole number of JFR chunks. Returns 0, or another number to end the call with
 * ATTACH_ERR_IO.
 */
typedef int (*attach_piece_fn)(void *ctx, const uint8_t *bytes, size_t n);

/* Stable lower-case names; never NULL. */
ATTACH_EXPORT const char *attach_ap_state_name(attach_ap_state state);
ATTACH_EXPORT const char *attach_ap_engine_name(attach_ap_engine engine);
ATTACH_EXPORT const char *attach_ap_recorder_name(attach_ap_recorder recorder);

/*
 * Starts a session, or takes over the running session of this installation (state adopted). A
 * session with other settings, or without its recording, is stopped first; the state is then
 * orphaned and the new session runs. The profiler library is put into a private directory
 * "hotstack-<installation id>-<random>" of the target; a copy that the JVM has mapped before, even
 * a deleted one, is used again under its path, and so is an idle async-profiler (4.0 or later) that
 * another program has loaded. Of two callers at once on one JVM, the second waits for the first. It
 * then adopts the session (same installation), or its error says whose session runs and until when.
 * Where async-profiler refuses some of the events, the others are recorded (attach_ap_info.absent).
 *
 * Errors: those of attach_command and attach_load, and ATTACH_ERR_TARGET with external_profiler,
 * no_exec_dir (the message lists the mounts tried), disk_full, no_profiler_library, profiler_error.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_ap_start(attach_ap_info *out, attach_target *target,
                                                  const attach_ap_options *options,
                                                  uint64_t deadline_ns, attach_error *err);

/*
 * Ends a window without stopping: finishes the recording's chunk and passes the finished chunks
 * from byte `offset` on to `piece`; out->offset is where the next window begins. Any offset from
 * options->settled on can be requested again, by another process too. offset UINT64_MAX = where the
 * last finished call ended.
 * A session that has ended by itself returns its remaining bytes, with running false.
 *
 * Errors: as attach_ap_start; profiler_error when no session of ours runs; ATTACH_ERR_USAGE when
 * the offset lies outside the recording.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_ap_window(attach_ap_info *out, attach_target *target,
                                                   const attach_ap_options *options,
                                                   uint64_t offset, attach_piece_fn piece,
                                                   void *ctx, uint64_t deadline_ns,
                                                   attach_error *err);

/*
 * Stops our session, passes the remaining bytes from `offset` on to `piece` (as attach_ap_window;
 * NULL drops them), and removes all of our files from the target's file system. Without a session
 * of ours it only removes files and returns 0 with state none, so calling it twice does no harm.
 * When `piece` fails, the files are kept and the call can be repeated.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_ap_stop(attach_ap_info *out, attach_target *target,
                                                 const attach_ap_options *options, uint64_t offset,
                                                 attach_piece_fn piece, void *ctx,
                                                 uint64_t deadline_ns, attach_error *err);

/*
 * Finds the state of the session without loading a library: owned (ours, running), external, none,
 * or unknown (a session with our name that does not answer as it should). Needs only
 * installation_id.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_ap_status(attach_ap_info *out, attach_target *target,
                                                   const attach_ap_options *options,
                                                   uint64_t deadline_ns, attach_error *err);

/*
 * The recording of a running session, held open for the time after its JVM has ended.
 * async-profiler finishes the recording when the JVM exits normally, and no process is left to ask
 * for it. One thread at a time.
 */
typedef struct attach_ap_held attach_ap_held;

/*
 * Opens the recording of the session in `directory` (attach_ap_info.directory). Changes
 * nothing in the target, which must outlive *out; the caller closes that. Errors: ATTACH_ERR_IO
 * where there is no recording; the JDK's recorder writes one only on request.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_ap_hold(attach_ap_held **out, attach_target *target,
                                                 const char *directory, attach_error *err);

/*
 * Called once the JVM has ended: passes the finished chunks from byte `offset` on to `piece` (as
 * attach_ap_window), and removes the session's files. A JVM that was killed has finished no chunk;
 * the call then returns 0 without bytes. When `piece` fails, the files are kept.
 *
 * Errors: ATTACH_ERR_FORMAT when the file is not a recording, ATTACH_ERR_IO, attach_timeout.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_ap_held_take(attach_ap_held *held, uint64_t offset,
                                                      attach_piece_fn piece, void *ctx,
                                                      uint64_t deadline_ns, attach_error *err);

/* Closes the recording, also after attach_ap_held_take; NULL is allowed. */
ATTACH_EXPORT void attach_ap_held_close(attach_ap_held *held);

#ifdef __cplusplus
}
#endif

#endif
