/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises other programs' profilers in JVMs by the path of their library. */
#ifndef ATTACH_PROFILERS_H
#define ATTACH_PROFILERS_H

#include "files/text_impl.h"

typedef struct attach__profiler {
    const char *name; /* "Datadog", "Pyroscope", ...; "async-profiler" without a known agent */
    /*
     * Set for an async-profiler that was loaded by hand. While it is idle, Hotstack uses its
     * library, and its user can see Hotstack's session. The profilers of agents are left alone,
     * because an agent may start its own at any time.
     */
    bool shareable;
} attach__profiler;

/* Returns the profiler whose library has that path, or NULL when it is none. Static memory. */
const attach__profiler *attach__profiler_of(attach__span path);

#endif
