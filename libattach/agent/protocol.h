/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between libattach and the agent libhotstackthreads.so: one fixed request and one
 * answer over a unix socket in the agent's directory. Format: docs/formats/threads.md. Numbers are
 * in the machine's byte order, since both ends run on the same machine.
 */
#ifndef HOTSTACK_THREADS_PROTOCOL_H
#define HOTSTACK_THREADS_PROTOCOL_H

#include <stdint.h>

#define THREADS_VERSION      1u
#define THREADS_ASK          0x51545348u /* "HSTQ" */
#define THREADS_ANSWER       0x41545348u /* "HSTA" */
#define THREADS_LEASE_ID_MAX 32
#define THREADS_SOCKET       "socket"
#define THREADS_LIBRARY      "libhotstackthreads.so"
#define THREADS_MARKER       "session"
#define THREADS_MARKER_2     "session.new"

/* Optional prefix of the options of `load`, before the directory: the library stays when the agent
 * ends. */
#define THREADS_KEEP_LIBRARY "keep:"

enum threads_op { THREADS_OP_SNAPSHOT = 1, THREADS_OP_CLOSE = 2 };

enum threads_ask_flag {
    THREADS_FULL = 1 << 0,          /* all stacks, by dumpAllThreads */
    THREADS_MONITORS = 1 << 1,      /* with locked monitors */
    THREADS_SYNCHRONIZERS = 1 << 2, /* FULL only: with locked synchronizers, walks the heap */
    THREADS_CONTENTION = 1 << 3,    /* contention monitoring on while this lease lives */
};

enum threads_status {
    THREADS_DONE = 0,
    THREADS_BAD_REQUEST = 1,
    THREADS_NO_MEMORY = 2,
    THREADS_JAVA_ERROR = 3, /* the text holds the exception */
    THREADS_NO_HEADROOM = 4 /* a full dump would take too much of the Java heap */
};

typedef struct threads_ask {
    uint32_t magic;
    uint32_t version;
    uint32_t op;
    uint32_t flags;
    uint32_t max_threads;
    uint32_t max_stacks;
    uint32_t max_depth;
    uint32_t max_bytes; /* of the answer's payload */
    uint32_t time_limit_ms;
    uint32_t lease_ms; /* the lease ends this long after its last request */
    char lease_id[THREADS_LEASE_ID_MAX];
    uint32_t pause_ms;    /* bound on the sum of the pauses for stacks; 0 = 10. Not with FULL */
    uint32_t reserved[3]; /* zero */
} threads_ask;

typedef struct threads_answer {
    uint32_t magic;
    uint32_t version;
    uint32_t status;
    uint32_t length; /* of the payload: a ThreadSnapshot, or the text of an error */
    uint32_t leases; /* leases that are left; 0 after a close: the agent ends */
    uint32_t reserved[3];
} threads_answer;

/* Limits of every request. */
#define THREADS_THREADS_LIMIT 100000u
#define THREADS_STACKS_LIMIT  4096u
#define THREADS_DEPTH_LIMIT   2048u
#define THREADS_BYTES_LEAST   4096u
#define THREADS_BYTES_LIMIT   (64u << 20)
#define THREADS_BYTES_SPARE   65536u /* an answer exceeds max_bytes by less: its last entry */
#define THREADS_LEASE_LIMIT   600000u
#define THREADS_PAUSE_DEFAULT 10u
#define THREADS_PAUSE_LIMIT   60000u
#define THREADS_LEASES        8

/* Bits of ThreadSnapshot.meta.cut. */
enum threads_cut {
    THREADS_CUT_THREADS = 1 << 0, /* threads above max_threads are left out */
    THREADS_CUT_STACKS = 1 << 1,  /* stacks that were chosen are missing */
    THREADS_CUT_DEPTH = 1 << 2,   /* a stack is deeper than max_depth */
    THREADS_CUT_BYTES = 1 << 3,   /* max_bytes was reached */
    THREADS_CUT_TIME = 1 << 4,    /* time_limit_ms was reached */
    THREADS_CUT_PAUSE = 1 << 5    /* pause_ms was spent before all chosen stacks were taken */
};

/* Bits of ThreadSnapshot.meta.offers. */
enum threads_offer {
    THREADS_OFFER_CPU = 1 << 0,
    THREADS_OFFER_ALLOCATED = 1 << 1,
    THREADS_OFFER_CONTENTION = 1 << 2, /* monitoring is on: blocked and waited times count */
    THREADS_OFFER_BULK = 1 << 3        /* CPU times were read in one call */
};

enum threads_thread_flag {
    THREADS_DAEMON = 1 << 0,
    THREADS_NATIVE = 1 << 1,
    THREADS_SUSPENDED = 1 << 2,
    THREADS_CARRIER = 1 << 3,
    THREADS_DEPTH_CUT = 1 << 4,
    /* the reader uses bit 5: deadlocked */
    THREADS_OWNER_ENDED = 1 << 6, /* the owner of the lock it waits for has ended */
    THREADS_OWNER_GONE = 1 << 7   /* that owner has ended, or is a virtual thread */
};

/* Why a thread's stack was taken. */
enum threads_why {
    THREADS_WHY_BUSY = 1 << 0,
    THREADS_WHY_BLOCKED = 1 << 1,
    THREADS_WHY_OWNER = 1 << 2,
    THREADS_WHY_DEADLOCKED = 1 << 3,
    THREADS_WHY_SAMPLED = 1 << 4,
    THREADS_WHY_FULL = 1 << 5,
    THREADS_WHY_STALLED = 1 << 6
};

/* Field numbers of hotstack.threads.v1 (libattach/agent/threads.proto). */
enum {
    F_VERSION = 1,
    F_META = 2,
    F_STRINGS = 3,
    F_THREADS = 4,
    F_LOCKS = 5,
    F_FRAMES = 6,
    F_STACKS = 7,
    F_HELD = 8,
    F_DEADLOCKED = 9,
    F_NATIVE = 10
};
enum {
    F_META_WALL_MS = 1,
    F_META_CPU_READ_NS = 2,
    F_META_CPU_READ_TOOK_NS = 3,
    F_META_INTERVAL_NS = 4,
    F_META_THREADS_TOTAL = 5,
    F_META_STACKS_WANTED = 6,
    F_META_CUT = 7,
    F_META_OFFERS = 8,
    F_META_INFO_TOOK_NS = 9,
    F_META_DEADLOCK_TOOK_NS = 10,
    F_META_STACKS_TOOK_NS = 11,
    F_META_TOTAL_TOOK_NS = 12,
    F_META_FULL = 13,
    F_META_PAUSES = 14,
    F_META_PAUSED_NS = 15,
    F_META_LONGEST_PAUSE_NS = 16
};
enum { F_STRINGS_DATA = 1, F_STRINGS_LENGTH = 2 };
enum {
    F_THREAD_JAVA_TID = 1,
    F_THREAD_NAME = 2,
    F_THREAD_STATE = 3,
    F_THREAD_FLAGS = 4,
    F_THREAD_WHY = 5,
    F_THREAD_CPU = 6,
    F_THREAD_USER = 7,
    F_THREAD_ALLOCATED = 8,
    F_THREAD_BLOCKED_COUNT = 9,
    F_THREAD_WAITED_COUNT = 10,
    F_THREAD_BLOCKED_MS = 11,
    F_THREAD_WAITED_MS = 12,
    F_THREAD_LOCK = 13,
    F_THREAD_OWNER = 14,
    F_THREAD_OWNER_NAME = 15,
    F_THREAD_CARRIES = 16,
    F_THREAD_CARRIES_NAME = 17
};
enum { F_LOCK_CLASS = 1, F_LOCK_HASH = 2 };
enum {
    F_FRAME_CLASS = 1,
    F_FRAME_METHOD = 2,
    F_FRAME_FILE = 3,
    F_FRAME_LINE = 4,
    F_FRAME_NATIVE = 5
};
enum { F_STACK_THREAD = 1, F_STACK_DEPTH = 2, F_STACK_FRAME = 3 };
enum { F_HELD_THREAD = 1, F_HELD_KIND = 2, F_HELD_DEPTH = 3, F_HELD_LOCK = 4 };
enum { F_NATIVE_OS_TID = 1 };

enum { THREADS_HELD_MONITOR = 1, THREADS_HELD_SYNCHRONIZER = 2 };

#endif
