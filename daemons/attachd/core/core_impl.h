/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of attachd's core share. */
#ifndef ATTACHD_CORE_IMPL_H
#define ATTACHD_CORE_IMPL_H

#include "attachd.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    DEADLINE_DEFAULT_MS = 30000,
    DEADLINE_MAX_MS = 600000,
    STOP_DEADLINE_MS = 20000,
    RESTART_MIN_MS = 600000 /* the least age at which a session is restarted because of its size */
};

/* The kinds of operations that may run on one JVM at the same time. */
typedef enum lane { LANE_SESSION, LANE_SNAPSHOTS, LANES } lane;

/* A JVM on which operations were performed. */
typedef struct target {
    local_identity id;
    bool busy[LANES];     /* an operation runs on it */
    unsigned users;       /* threads that use it or wait for it */
    atomic_bool running;  /* our session runs, as far as known */
    uint64_t covered_ms;  /* Unix ms up to which windows were taken; 0 = unknown */
    local_request wanted; /* the START that began the session */
    uint64_t started_ms;  /* Unix ms of its begin; 0 = no START succeeded */
    uint64_t asked_ms;    /* monotonic: when its owner last asked for something */
    uint64_t last_bytes;  /* of its last window */
    uint64_t gap_ms;      /* lost by a restart; reported with the next window */
    struct target *next;
} target;

/* A finished window that has not been fetched. */
typedef struct window {
    uint8_t handle[LOCAL_ID_SIZE];
    int fd;
    uint64_t size;
    struct window *next; /* the next newer one */
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

/* Takes the target for one operation of that kind; NULL when it was busy until the deadline, or
 * without memory. */
target *attachd__take(attachd *self, const local_identity *jvm, lane on,
                      uint64_t deadline_monotonic_ms);
void attachd__give_back(attachd *self, target *one, lane on);

/* Whether the reason says that the process has ended; its pid may belong to another one now. */
bool attachd__has_ended(uint32_t reason);

/* Keeps a window's file under a new handle; the table owns the descriptor from then on. */
int attachd__keep_window(attachd *self, int fd, uint64_t size, uint8_t handle[LOCAL_ID_SIZE]);
/* Reads a piece of a window. Returns the number of bytes, or -1: there is no such handle. */
long attachd__read_window(attachd *self, const uint8_t handle[LOCAL_ID_SIZE], uint64_t offset,
                          uint8_t *to, size_t length);
void attachd__drop_window(attachd *self, const uint8_t handle[LOCAL_ID_SIZE]);
void attachd__drop_all_windows(attachd *self);

void attachd__say(attachd *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
