/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mode, the state and the session state of a target. The numbers are part of the contract and
 * the store, and are never reused. Pure functions, any thread.
 */
#ifndef CATALOGUE_STATE_H
#define CATALOGUE_STATE_H

enum target_state {
    TARGET_STATE_UNKNOWN = 0,
    TARGET_STATE_PROFILING = 1,   /* a session runs and windows arrive */
    TARGET_STATE_WAITING = 2,     /* opted in; starts by itself after warming up or cooling down */
    TARGET_STATE_OFF = 3,         /* nobody asked for this JVM to be profiled */
    TARGET_STATE_FAILED = 4,      /* opted in, but it is not possible: see the reason */
    TARGET_STATE_UNSUPPORTED = 5, /* not a JVM that we can profile */
    TARGET_STATE_EXITED = 6,      /* the process has ended */
    TARGET_STATE_END
};

enum session_state {
    SESSION_STATE_UNKNOWN = 0,
    SESSION_STATE_NONE = 1,     /* no profiler session in the JVM */
    SESSION_STATE_OWNED = 2,    /* started by this collector process */
    SESSION_STATE_ADOPTED = 3,  /* ours, found running after a restart and taken over */
    SESSION_STATE_ORPHANED = 4, /* ours, could not be adopted, stopped */
    SESSION_STATE_EXTERNAL = 5, /* of another profiler */
    SESSION_STATE_END
};

/* How a target is to be profiled. */
enum target_mode {
    TARGET_MODE_UNKNOWN = 0, /* its pod, and so the pod's wish, is unknown */
    TARGET_MODE_OFF = 1,
    TARGET_MODE_CONTINUOUS = 2,
    TARGET_MODE_TEMPORARY = 3, /* has an end */
    TARGET_MODE_END
};

/* Returns the stable name of a number ("profiling"), or NULL where it is not in the table. */
const char *target_state_name(unsigned number);
const char *session_state_name(unsigned number);
const char *target_mode_name(unsigned number);

#endif
