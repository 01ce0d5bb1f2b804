/* SPDX-License-Identifier: Apache-2.0 */
/* One profiling session of one JVM, for `hotstack profile`. */
#ifndef HOTSTACK_CLI_PROFILE_SESSION_H
#define HOTSTACK_CLI_PROFILE_SESSION_H

#include <attachclient/attachclient.h>

#include "cli/options/options.h"

typedef struct profile_session {
    attach_jvm jvm;
    attach_request request;
    char directory[256];     /* of the session, in the JVM's file system */
    int pid_fd;              /* readable once the JVM has ended; -1 = the kernel has none */
    attach_target *target;   /* with `held`: NULL where the recording cannot be held */
    attach_ap_held *held;    /* what it has recorded can be read after its end */
    char absent_reason[256]; /* which of the events are not recorded, and why; or empty */
    uint64_t dropped;        /* events of the stopped session that the profiler dropped */
} profile_session;

/* Looks at the JVM. Complains and returns false when it cannot be profiled. */
bool profile_session_open(profile_session *out, const cli_options *o);

/* Starts the session. Complains and returns false when it cannot. */
bool profile_session_start(profile_session *session, const cli_options *o);

/*
 * Waits for the duration, SIGINT or SIGTERM (which must be blocked), or the JVM's end; shows
 * progress on a terminal. Returns whether it was the duration.
 */
bool profile_session_wait(const profile_session *session, const cli_options *o);

/* Stops the session, writes its recording to fd and removes what is ours from the JVM; of a JVM
 * that has ended, what it recorded until then. Complains and returns false when that fails. */
bool profile_session_stop(profile_session *session, int fd);

#endif
