/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread snapshots of a JVM, taken by an agent that is loaded once and then asked over its own
 * socket. Format: docs/formats/threads.md.
 */
#ifndef ATTACH_THREADS_H
#define ATTACH_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <attach/profiler.h>
#include <attach/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- asking ---- */

enum {
    ATTACH_THREADS_FULL = 1,     /* the stacks of all threads, by one call of dumpAllThreads */
    ATTACH_THREADS_MONITORS = 2, /* stacks come with the monitors that they hold */
    ATTACH_THREADS_SYNCHRONIZERS =
        4, /* with FULL: the j.u.c. locks that threads hold, too. This walks the heap in a pause of
              0.1 s and more per GB; owners of locks are known without it */
    ATTACH_THREADS_CONTENTION = 8, /* blocked and waited times: contention monitoring is on for the
                                      time of the lease, then as it was before */
    ATTACH_THREADS_NATIVE_IDS =
        16 /* os_tid, by a join with /proc/PID/task, where the join is certain */
};

#define ATTACH_THREADS_MAX_DEFAULT   10000
#define ATTACH_STACKS_MAX_DEFAULT    64
#define ATTACH_DEPTH_MAX_DEFAULT     256
#define ATTACH_THREADS_BYTES_DEFAULT ((uint32_t)8 << 20)
#define ATTACH_THREADS_BYTES_MAX     ((uint32_t)64 << 20)
#define ATTACH_LEASE_MS_DEFAULT      60000
#define ATTACH_LEASE_MS_MAX          600000
#define ATTACH_PAUSE_MS_DEFAULT      10
#define ATTACH_PAUSE_MS_MAX          60000

typedef struct attach_threads_options {
    size_t size;                 /* sizeof(attach_threads_options) */
    const char *installation_id; /* required, as in attach_ap_options */
    const char *lease_id;        /* the caller's name, of [a-z0-9]; NULL = the installation id */
    int library_fd;              /* the installed libhotstackthreads.so, open for reading */
    uint32_t flags;              /* ATTACH_THREADS_* */
    uint32_t max_threads; /* 0 = 10,000; of more threads, deadlocked ones, then those with the most
                             CPU time since the last snapshot */
    uint32_t max_stacks;  /* threads of step two: 0 = 64, UINT32_MAX = none; at most 4,096 */
    uint32_t max_depth;   /* frames of a stack: 0 = 256, at most 2,048 */
    uint32_t max_bytes;   /* of the answer: 0 = 8 MiB, at most 64 MiB */
    uint32_t
        lease_ms; /* the agent ends that long after the last request: 0 = 1 min, at most 10 min */
    const char *const *dirs; /* absolute directories to try before the usual ones, or NULL */
    size_t n_dirs;
    uint32_t pause_ms; /* bound on the sum of step two's pauses: 0 = 10, at most 60,000. FULL is not
                          bounded */
} attach_threads_options;

#define ATTACH_THREADS_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(attach_threads_options), NULL, NULL, -1, 0, 0, 0, 0, 0, 0, NULL, 0, 0               \
    }

/*
 * Takes a snapshot and passes its bytes to `piece` (hotstack.threads.v1; attach_threads_decode
 * reads them). An agent that does not run yet is loaded from a private directory
 * "hotstack-threads-<installation id>-<random>" of the target; a copy that the JVM has mapped
 * already is used, whichever program loaded it. The agent keeps the CPU times for the lease's next
 * snapshot. When the last lease ends, by attach_threads_close or by time, the agent ends and
 * removes its files. The library stays mapped.
 *
 * Step one asks for the state, lock, owner and CPU time of all threads without stopping them, and
 * for deadlocks; step two stops the JVM for the stacks of max_stacks threads: deadlocked ones,
 * owners, the busiest since the lease's last snapshot, stalled ones, blocked ones, and others in
 * turn. The agent takes a few stacks at a time, in that order, each group in a short pause of its
 * own. It stops when the pauses have taken pause_ms together, which the meta's `cut` then says; the
 * first eight stacks are always taken. A thread's state, lock, owner and stack are of one moment;
 * those of two threads may be of two moments.
 *
 * Returns 0; the errors of attach_load; ATTACH_ERR_TARGET with no_exec_dir, disk_full,
 * no_thread_agent, thread_agent_error (the message has the agent's or Java's words),
 * permission_denied, attach_timeout; ATTACH_ERR_FORMAT, ATTACH_ERR_USAGE, ATTACH_ERR_NOMEM, and
 * ATTACH_ERR_IO when `piece` refused. The bytes passed to `piece` are a snapshot only on success.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_threads_take(attach_target *target,
                                                      const attach_threads_options *options,
                                                      attach_piece_fn piece, void *ctx,
                                                      uint64_t deadline_ns, attach_error *err);

/*
 * Gives the lease back. When the last lease ends, so does the agent's thread, and its socket and
 * files are removed. Returns 0 also when there is no lease; errors as attach_threads_take. Only the
 * ids of the options are used.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_threads_close(attach_target *target,
                                                       const attach_threads_options *options,
                                                       uint64_t deadline_ns, attach_error *err);

/* ---- reading ---- */

#define ATTACH_THREADS_UNKNOWN UINT64_MAX /* a counter that the JVM does not offer */

typedef enum attach_thread_state {
    ATTACH_THREAD_UNKNOWN = 0,
    ATTACH_THREAD_NEW,
    ATTACH_THREAD_RUNNABLE,
    ATTACH_THREAD_BLOCKED,
    ATTACH_THREAD_WAITING,
    ATTACH_THREAD_TIMED_WAITING,
    ATTACH_THREAD_TERMINATED
} attach_thread_state;

enum { /* attach_thread.flags */
       ATTACH_THREAD_DAEMON = 1,
       ATTACH_THREAD_NATIVE = 2, /* in native code */
       ATTACH_THREAD_SUSPENDED = 4,
       ATTACH_THREAD_CARRIER = 8, /* a carrier of virtual threads; virtual threads are not listed */
       ATTACH_THREAD_STACK_CUT =
           16, /* deeper than max_depth, or there was no room for more frames */
       ATTACH_THREAD_DEADLOCKED = 32,
       ATTACH_THREAD_OWNER_ENDED = 64, /* the owner of what it waits for has ended */
       ATTACH_THREAD_OWNER_GONE = 128  /* that owner has ended, or is a virtual thread */
};

enum { /* attach_thread.why: why the stack was taken; 0 = it was not taken */
       ATTACH_STACK_BUSY = 1,
       ATTACH_STACK_BLOCKED = 2,
       ATTACH_STACK_OWNER = 4,
       ATTACH_STACK_DEADLOCKED = 8,
       ATTACH_STACK_SAMPLED = 16,
       ATTACH_STACK_FULL = 32,
       ATTACH_STACK_STALLED = 64 /* runnable Java code that used no CPU since the last snapshot */
};

enum { /* attach_threads_meta.cut: what is missing */
       ATTACH_CUT_THREADS = 1,
       ATTACH_CUT_STACKS = 2,
       ATTACH_CUT_DEPTH = 4,
       ATTACH_CUT_BYTES = 8,
       ATTACH_CUT_TIME = 16,
       ATTACH_CUT_PAUSE = 32 /* pause_ms was spent: other threads were not sampled; with CUT_STACKS,
                                threads that matter lack their stacks, too */
};

/* The class and identity hash of an object, which name a lock. Two objects may have one hash. */
typedef struct attach_thread_lock {
    const char *class_name;
    uint32_t identity_hash;
} attach_thread_lock;

typedef struct attach_thread_frame {
    const char *class_name;
    const char *method;
    const char *file; /* empty = not known */
    uint32_t line;    /* 0 = not known */
    bool native;
} attach_thread_frame;

typedef struct attach_held_lock {
    const attach_thread_lock *lock;
    uint32_t depth;    /* depth of the frame that locked it, leaf = 0; 0 for a synchronizer */
    bool synchronizer; /* a j.u.c. lock; false = a monitor */
} attach_held_lock;

/* A platform thread. Counters may be ATTACH_THREADS_UNKNOWN. */
typedef struct attach_thread {
    uint64_t java_tid;
    uint32_t os_tid; /* in the host's pid namespace; 0 = not requested, or not certain */
    const char *name;
    attach_thread_state state;
    uint32_t flags;
    uint32_t why;
    uint64_t cpu_ns;
    uint64_t user_ns;
    uint64_t allocated_bytes;
    uint64_t blocked_count;
    uint64_t waited_count;
    uint64_t blocked_ms;
    uint64_t waited_ms;
    const attach_thread_lock *lock; /* the lock that it waits for; NULL = none */
    uint64_t owner_tid;     /* java_tid of the thread that holds it; 0 = none, or not known */
    const char *owner_name; /* as the JVM reports it, also for an owner that has ended */
    const struct attach_thread *owner; /* NULL also when the owner is not in the snapshot */
    uint64_t carries_tid; /* the virtual thread that a carrier runs; 0 = none. The carrier's state
                             is then the one that the JVM reports, and it waits for no lock */
    const char *carries_name; /* often empty */
    bool has_stack;
    const uint32_t *frames; /* leaf first: attach_threads_frame */
    size_t n_frames;
    const attach_held_lock *held;
    size_t n_held;
} attach_thread;

typedef struct attach_threads_meta {
    uint64_t wall_ms;     /* Unix time at the start */
    uint64_t cpu_read_ns; /* CLOCK_MONOTONIC when the CPU times were read */
    uint64_t interval_ns; /* since the lease's last snapshot; 0 = this is the first */
    uint32_t threads_total;
    uint32_t
        stacks_wanted; /* threads whose stacks were wanted; where `cut` says so, fewer have one */
    uint32_t cut;      /* ATTACH_CUT_*; 0 = whole */
    bool cpu_time;     /* the JVM offers CPU times */
    bool allocated;
    bool contention; /* blocked and waited times count */
    bool full;
    uint64_t info_took_ns; /* the call of step one */
    uint64_t deadlock_took_ns;
    uint64_t stacks_took_ns; /* all calls of step two */
    uint64_t total_took_ns;
    uint32_t pauses;           /* how often the snapshot stopped the JVM */
    uint64_t paused_ns;        /* an upper bound of the sum of these pauses */
    uint64_t longest_pause_ns; /* an upper bound of the longest pause */
} attach_threads_meta;

/* A cycle: each thread waits for a lock that the next one holds, and the last thread for one that
 * the first holds. */
typedef struct attach_deadlock {
    const attach_thread *const *threads;
    size_t n;
} attach_deadlock;

typedef struct attach_threads attach_threads;

/*
 * Reads the bytes of a snapshot. They may be hostile, since the JVM wrote them. Allocates at most
 * about ten times n bytes. Returns 0, ATTACH_ERR_FORMAT (err->offset is the byte refused),
 * ATTACH_ERR_LIMIT (n exceeds ATTACH_THREADS_BYTES_MAX by more than the room for an envelope) or
 * ATTACH_ERR_NOMEM. *out: caller frees with attach_threads_free; everything reached through it is
 * borrowed until then. Thread-safe. The result is read-only: any number of threads may read it.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_threads_decode(attach_threads **out, const uint8_t *bytes,
                                                        size_t n, attach_error *err);
ATTACH_EXPORT void attach_threads_free(attach_threads *threads);

ATTACH_EXPORT const attach_threads_meta *attach_threads_meta_of(const attach_threads *threads);
ATTACH_EXPORT size_t attach_threads_count(const attach_threads *threads);
/* Returns the thread at `index`, sorted by java_tid; NULL past the end. */
ATTACH_EXPORT const attach_thread *attach_threads_at(const attach_threads *threads, size_t index);
/* Returns the thread with that id, or NULL. */
ATTACH_EXPORT const attach_thread *attach_threads_find(const attach_threads *threads,
                                                       uint64_t java_tid);
/* Returns the frame that an entry of attach_thread.frames names; NULL for other numbers. */
ATTACH_EXPORT const attach_thread_frame *attach_threads_frame(const attach_threads *threads,
                                                              uint32_t frame);
ATTACH_EXPORT size_t attach_threads_deadlock_count(const attach_threads *threads);
/* Returns the deadlock at `index`; NULL past the end. */
ATTACH_EXPORT const attach_deadlock *attach_threads_deadlock_at(const attach_threads *threads,
                                                                size_t index);
/* Returns "runnable", "blocked" ...; never NULL. */
ATTACH_EXPORT const char *attach_thread_state_name(attach_thread_state state);

/*
 * Returns the CPU time of `now` since the snapshot `before` of the same JVM, in ns; for a thread
 * that is not in `before`, all of its CPU time. ATTACH_THREADS_UNKNOWN when either is unknown.
 */
ATTACH_EXPORT uint64_t attach_thread_cpu_since(const attach_thread *now,
                                               const attach_threads *before);

#ifdef __cplusplus
}
#endif

#endif
