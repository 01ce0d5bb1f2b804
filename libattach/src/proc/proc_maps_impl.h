/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a process from the files that it has mapped: /proc/PID/maps (proc(5)). */
#ifndef ATTACH_PROC_MAPS_H
#define ATTACH_PROC_MAPS_H

#include "files/text_impl.h"
#include "jvm/profilers_impl.h"
#include <attach/jvm.h>

#define ATTACH__PATH_MAX 1024

/* The facts that this library uses. Paths are those that the process sees, with newlines decoded
 * and without the suffix " (deleted)", which sets a flag; empty = none. */
typedef struct attach__map_facts {
    char libjvm[ATTACH__PATH_MAX];
    bool libjvm_deleted;
    bool management; /* the JDK's libmanagement.so, which thread snapshots need */
    bool openj9;
    attach_libc libc;
    char profiler[ATTACH__PATH_MAX]; /* a library that a Hotstack installation loaded */
    bool profiler_deleted;
    char thread_agent[ATTACH__PATH_MAX];   /* the thread agent, loaded by any installation */
    char external[ATTACH__PATH_MAX];       /* the first profiler library that no Hotstack loaded */
    const attach__profiler *external_kind; /* which profiler it is; NULL without one */
} attach__map_facts;

/*
 * Reads the maps. Never fails: lines that do not map a file are ignored. The kernel writes paths as
 * the reader sees them. `root` is the path of the process's root for that reader, and is removed
 * from the paths; "" where both have the same root.
 */
void attach__maps_read(attach__map_facts *out, attach__span text, const char *root);

/* Returns whether this is the name of a Hotstack directory, "hotstack-<installation id>-<16 hex
 * digits>"; *id gets the installation id. */
bool attach__is_our_directory(attach__span name, attach__span *id);

/* Returns the same for a directory of the thread agent, "hotstack-threads-<installation id>-<16 hex
 * digits>". */
bool attach__is_agent_directory(attach__span name, attach__span *id);

#define ATTACH__LIBRARY_NAME "libasyncProfiler.so"
#define ATTACH__AGENT_NAME   "libhotstackthreads.so"
#define ATTACH__AGENT_PREFIX "hotstack-threads-"

#endif
