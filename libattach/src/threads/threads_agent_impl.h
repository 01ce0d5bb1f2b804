/* SPDX-License-Identifier: Apache-2.0 */
/* Our agent in one JVM: where it lies, how it is loaded and reached. */
#ifndef ATTACH_THREADS_AGENT_H
#define ATTACH_THREADS_AGENT_H

#include "profiler/ap_place_impl.h"
#include "protocol.h"
#include <attach/threads.h>

#define ATTACH__NO_AGENT 1 /* beside 0 and the codes: no agent listens */

typedef struct attach__agent {
    attach_target *target;
    const attach_threads_options *options;
    attach_ap_options places; /* the directories to try, as ap_place.h wants them */
    uint64_t deadline_ns;
    char mapped[ATTACH__PATH_MAX]; /* the library's path as the JVM sees it; empty = not mapped */
    bool unloadable;               /* its JDK lacks what the agent needs */
    bool keep_library;             /* musl compares files: see docs/formats/attach.md */
    char name[96];                 /* of its directory; empty = not chosen */
    attach__place place;
} attach__agent;

/* Checks the options and the target and looks for the agent's directory. Nothing is changed. Close
 * in every case. */
int attach__agent_open(attach__agent *a, attach_target *target,
                       const attach_threads_options *options, uint64_t deadline_ns,
                       attach_error *err);
void attach__agent_close(attach__agent *a);

/* Connects to the running agent: 0, ATTACH__NO_AGENT, or an error. */
int attach__agent_connect(int *fd, attach__agent *a, attach_error *err);

/* The same, after loading the agent where it does not run. */
int attach__agent_bring_up(int *fd, attach__agent *a, attach_error *err);

/* Takes the directory's lock; ATTACH__NO_AGENT when the directory is gone. Given back by close. */
int attach__agent_lock(attach__agent *a, attach_error *err);

/* Removes the agent's files and its directory. The lock is held. */
void attach__agent_remove(attach__agent *a);

#endif
