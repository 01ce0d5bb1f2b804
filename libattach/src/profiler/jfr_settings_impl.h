/* SPDX-License-Identifier: Apache-2.0 */
/* The settings file that the JDK's own recorder is started with. Format: a .jfc file (JDK's
 * lib/jfr/default.jfc), which every version since 11 takes by path. */
#ifndef ATTACH_JFR_SETTINGS_H
#define ATTACH_JFR_SETTINGS_H

#include <stddef.h>

#include "profiler/ap_marker_impl.h"

#define ATTACH__JFR_SETTINGS_MAX 4096

/*
 * Writes the events for a session as the marker describes it: cpu = jdk.ExecutionSample (10 ms at
 * best), alloc = jdk.ObjectAllocationSample from 16 on and the TLAB events before (never both: they
 * would count twice), lock = jdk.JavaMonitorEnter and jdk.ThreadPark. Returns the length.
 */
size_t attach__jfr_settings(char out[ATTACH__JFR_SETTINGS_MAX], const attach__marker *marker,
                            unsigned java_release);

/* "JDK 17.0.9" somewhere in the answer to VM.version -> 17; 8 for "JDK 8..."; 0 when not found. */
unsigned attach__jfr_java_release(attach__span text);

#endif
