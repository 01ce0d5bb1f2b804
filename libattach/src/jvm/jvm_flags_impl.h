/* SPDX-License-Identifier: Apache-2.0 */
/* The -XX flags that decide whether a JVM can be served, from every source that can set them. */
#ifndef ATTACH_JVM_FLAGS_H
#define ATTACH_JVM_FLAGS_H

#include "files/text_impl.h"

/* The last setting of a flag counts, as it does for the JVM. */
typedef struct attach__flags {
    bool attach_disabled;        /* -XX:+DisableAttachMechanism */
    bool agent_loading_disabled; /* -XX:-EnableDynamicAgentLoading */
    bool perf_data_off;          /* -XX:+PerfDisableSharedMem or -XX:-UsePerfData */
} attach__flags;

/* Records one argument of the command line. */
void attach__flags_note(attach__flags *flags, attach__span argument);

/* Records the arguments in one text. White space separates them, unless it is in single or double
 * quotes. */
void attach__flags_note_words(attach__flags *flags, attach__span text);

/*
 * Records the arguments in one variable of /proc/PID/environ ("NAME=value" entries, each ending in
 * NUL). JAVA_TOOL_OPTIONS comes before the command line and _JAVA_OPTIONS after it (HotSpot's
 * arguments.cpp). The `java` launcher puts JDK_JAVA_OPTIONS before its own arguments.
 */
void attach__flags_note_variable(attach__flags *flags, attach__span environment, const char *name);

#endif
