/* SPDX-License-Identifier: Apache-2.0 */
/* The -XX flags that decide whether we can serve a JVM, from everything that can set them. */
#ifndef ATTACH_JVM_FLAGS_H
#define ATTACH_JVM_FLAGS_H

#include "files/text_impl.h"

/* The last word on a flag counts, as it does for the JVM. */
typedef struct attach__flags {
    bool attach_disabled;        /* -XX:+DisableAttachMechanism */
    bool agent_loading_disabled; /* -XX:-EnableDynamicAgentLoading */
    bool perf_data_off;          /* -XX:+PerfDisableSharedMem or -XX:-UsePerfData */
} attach__flags;

/* One argument of the command line. */
void attach__flags_note(attach__flags *flags, attach__span argument);

/* Arguments in one text, parted by white space; single or double quotes keep a word together. */
void attach__flags_note_words(attach__flags *flags, attach__span text);

/*
 * The value of one variable in /proc/PID/environ ("NAME=value" entries, each ending in NUL) noted
 * as words: JAVA_TOOL_OPTIONS comes before the command line, _JAVA_OPTIONS after it
 * (HotSpot's arguments.cpp); the `java` launcher puts JDK_JAVA_OPTIONS before its own arguments.
 */
void attach__flags_note_variable(attach__flags *flags, attach__span environment, const char *name);

#endif
