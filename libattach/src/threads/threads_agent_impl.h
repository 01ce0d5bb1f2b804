/* SPDX-License-Identifier: Apache-2.0 */
/* The thread agent in one JVM: finding its directory, loading it and connecting to it. */
#ifndef ATTACH_THREADS_AGENT_H
#define ATTACH_THREADS_AGENT_H

#include "profiler/ap_place_impl.h"
#include "protocol.h"
#include <attach/threads.h>

#define ATTACH__NO_AGENT 1 /* besides 0 and the error codes: no agent listens */

typedef struct attach__agent {
    attach_target *target;
    const attach_threads_options *options;
    attach_ap_options places; /* the directories to try, for attach__place_find */
    uint64_t deadline_ns;
    char mapped[ATTACH__PATH_MAX]; /* the library's path as the JVM sees it; empty = not mapped */
    bool unloadable;               /* its JDK was deleted, and libmanagement.so is not loaded */
    bool keep_library;             /* musl compares files: see docs/formats/attach.md */
    char name[96];                 /* of its directory; empty = not chosen */
    attach__place place;
} attach__agent;

/* Checks the options and the target and finds the agent's directory. Changes nothing. Close in
 * every case. */
int attach__agent_open(attach__agent *a, attach_target *target,
                       const attach_threads_options *options, uint64_t deadline_ns,
                       attach_error *err);
void attach__agent_close(attach__agent *a);

/* Connects to the running agent. Returns 0, ATTACH__NO_AGENT, or an error. */
int attach__agent_connect(int *fd, attach__agent *a, attach_error *err);

/* Connects as well, after loading the agent where it does not run. */
int attach__agent_bring_up(int *fd, attach__agent *a, attach_error *err);

/* Takes the directory's lock, until attach__agent_close. ATTACH__NO_AGENT when the directory is
 * gone. */
int attach__agent_lock(attach__agent *a, attach_error *err);

/* Removes the agent's files and its directory. The caller holds the lock. */
void attach__agent_remove(attach__agent *a);

#endif
