/* SPDX-License-Identifier: Apache-2.0 */
/* Profilers that others put into JVMs, told by the path of their library. */
#ifndef ATTACH_PROFILERS_H
#define ATTACH_PROFILERS_H

#include "files/text_impl.h"

typedef struct attach__profiler {
    const char *name; /* "Datadog", "Pyroscope", ...; "async-profiler" for one of no known agent */
    /*
     * An async-profiler that was loaded by hand: while it is idle its library serves us, and
     * it then sees our session as we would see its own. Agents that start theirs whenever they
     * like are left alone.
     */
    bool shareable;
} attach__profiler;

/* The profiler whose library lies at that path, or NULL when it is none. Static memory. */
const attach__profiler *attach__profiler_of(attach__span path);

#endif
