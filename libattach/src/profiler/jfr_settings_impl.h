/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the settings file with which the JDK's own recorder is started. Format: a .jfc file (JDK's
 * lib/jfr/default.jfc), which every version since 11 accepts by path. */
#ifndef ATTACH_JFR_SETTINGS_H
#define ATTACH_JFR_SETTINGS_H

#include <stddef.h>

#include "profiler/ap_marker_impl.h"

#define ATTACH__JFR_SETTINGS_MAX 4096

/*
 * Writes the events for a session with this marker: cpu = jdk.ExecutionSample (10 ms at best),
 * alloc = jdk.ObjectAllocationSample from 16 on and the TLAB events before (never both, since they
 * would count allocations twice), lock = jdk.JavaMonitorEnter and jdk.ThreadPark. Returns the
 * length.
 */
size_t attach__jfr_settings(char out[ATTACH__JFR_SETTINGS_MAX], const attach__marker *marker,
                            unsigned java_release);

/* Finds the release in the answer to VM.version: "JDK 17.0.9" -> 17, "JDK 8..." -> 8; 0 when not
 * found. */
unsigned attach__jfr_java_release(attach__span text);

#endif
