/* SPDX-License-Identifier: Apache-2.0 */
/* One profiling session of one JVM, for `hotstack profile`. */
#ifndef HOTSTACK_CLI_PROFILE_SESSION_H
#define HOTSTACK_CLI_PROFILE_SESSION_H

#include <attachclient/attachclient.h>

#include "cli/options/options.h"

typedef struct profile_session {
    attach_jvm jvm;
    attach_request request;
    char directory[256]; /* the session's, in the JVM's file system */
    int pid_fd;          /* readable once the JVM has ended; -1 = the kernel does not support it */
    attach_target *target;   /* set together with `held`; NULL where the recording cannot be held */
    attach_ap_held *held;    /* keeps the recording readable after the JVM's end */
    char absent_reason[256]; /* which of the events are not recorded, and why; "" = all are */
    uint64_t dropped;        /* events that the profiler dropped until the session was stopped */
} profile_session;

/* Examines the JVM. Complains and returns false when it cannot be profiled. */
bool profile_session_open(profile_session *out, const cli_options *o);

/* Starts the session. Complains and returns false when it cannot. */
bool profile_session_start(profile_session *session, const cli_options *o);

/*
 * Waits for the duration, SIGINT or SIGTERM (which must be blocked), or the JVM's end; shows
 * progress on a terminal. Returns whether the duration ended the wait.
 */
bool profile_session_wait(const profile_session *session, const cli_options *o);

/* Stops the session, writes its recording to fd and removes the session's files from the JVM. For a
 * JVM that has ended, writes what it recorded until then. Complains and returns false when that
 * fails. */
bool profile_session_stop(profile_session *session, int fd);

#endif
