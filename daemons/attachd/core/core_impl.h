/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of attachd's core share. */
#ifndef ATTACHD_CORE_IMPL_H
#define ATTACHD_CORE_IMPL_H

#include "attachd.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    DEADLINE_DEFAULT_MS = 30000,
    DEADLINE_MAX_MS = 600000,
    STOP_DEADLINE_MS = 20000,
    RESTART_MIN_MS = 600000 /* the youngest session that its size alone restarts */
};

/* What runs on a JVM side by side. */
typedef enum lane { LANE_SESSION, LANE_SNAPSHOTS, LANES } lane;

/* One JVM that was worked on. */
typedef struct target {
    local_identity id;
    bool busy[LANES];     /* an operation runs on it */
    unsigned users;       /* threads that hold or wait for it */
    atomic_bool running;  /* our session, as far as known */
    uint64_t covered_ms;  /* Unix ms up to which windows were taken; 0 = not known */
    local_request wanted; /* the START that began the session */
    uint64_t started_ms;  /* Unix ms of its begin; 0 = no START succeeded */
    uint64_t asked_ms;    /* monotonic: when its owner last asked for something */
    uint64_t last_bytes;  /* of its last window */
    uint64_t gap_ms;      /* lost by a restart, to be told with the next window */
    struct target *next;
} target;

/* A finished window that waits to be fetched. */
typedef struct window {
    uint8_t handle[LOCAL_ID_SIZE];
    int fd;
    uint64_t size;
    struct window *next; /* newer */
} window;

struct attachd {
    attachd_ports ports;
    attachd_limits limits;
    pthread_mutex_t lock;
    pthread_cond_t freed; /* a target became free */
    target *targets;
    window *oldest;
    window *newest;
    unsigned window_count;
    uint64_t window_bytes;
    uint64_t windows_dropped;
};

/* The target, taken for one operation of that kind; NULL when it stayed busy until the deadline, or
 * no memory. */
target *attachd__take(attachd *self, const local_identity *jvm, lane on,
                      uint64_t deadline_monotonic_ms);
void attachd__give_back(attachd *self, target *one, lane on);

/* Keeps a window's file behind a new handle; the descriptor is the table's from here on. */
int attachd__keep_window(attachd *self, int fd, uint64_t size, uint8_t handle[LOCAL_ID_SIZE]);
/* Reads a piece. Bytes read, or -1: no such handle. */
long attachd__read_window(attachd *self, const uint8_t handle[LOCAL_ID_SIZE], uint64_t offset,
                          uint8_t *to, size_t length);
void attachd__drop_window(attachd *self, const uint8_t handle[LOCAL_ID_SIZE]);
void attachd__drop_all_windows(attachd *self);

void attachd__say(attachd *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
