/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/maps (proc(5)): which files a process has mapped, and what they say about it. */
#ifndef ATTACH_PROC_MAPS_H
#define ATTACH_PROC_MAPS_H

#include "files/text_impl.h"
#include "jvm/profilers_impl.h"
#include <attach/jvm.h>

#define ATTACH__PATH_MAX 1024

/* The part of the maps that this library asks about. Paths are as the process sees them, newlines
 * undone, " (deleted)" cut off and noted; empty = none. */
typedef struct attach__map_facts {
    char libjvm[ATTACH__PATH_MAX];
    bool libjvm_deleted;
    bool management; /* the JDK's libmanagement.so, which thread snapshots need */
    bool openj9;
    attach_libc libc;
    char profiler[ATTACH__PATH_MAX]; /* a library that a Hotstack installation loaded */
    bool profiler_deleted;
    char thread_agent[ATTACH__PATH_MAX]; /* our snapshot agent, whichever installation loaded it */
    char external[ATTACH__PATH_MAX];     /* the first profiler library that none of ours loaded */
    const attach__profiler *external_kind; /* whose it is; NULL without one */
} attach__map_facts;

/*
 * Never fails: lines that are no mappings of a file are passed over. The kernel writes paths as the
 * reader sees them: `root` is the path of the process's root for that reader, which is cut off; ""
 * where both have the same root.
 */
void attach__maps_read(attach__map_facts *out, attach__span text, const char *root);

/* "hotstack-<installation id>-<16 hex digits>": the directory name of ours; *id gets the middle. */
bool attach__is_our_directory(attach__span name, attach__span *id);

/* "hotstack-threads-<installation id>-<16 hex digits>": the thread agent's. */
bool attach__is_agent_directory(attach__span name, attach__span *id);

#define ATTACH__LIBRARY_NAME "libasyncProfiler.so"
#define ATTACH__AGENT_NAME   "libhotstackthreads.so"
#define ATTACH__AGENT_PREFIX "hotstack-threads-"

#endif
