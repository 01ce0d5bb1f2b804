/* SPDX-License-Identifier: Apache-2.0 */
/* Finds one JVM by the text that a user types: a process id or a name. */
#ifndef HOTSTACK_CLI_JVM_FIND_H
#define HOTSTACK_CLI_JVM_FIND_H

#include <attach/attach.h>

/*
 * A number is a process id. Anything else is a name: the main class or jar whole, else its last
 * part ("Main" of com.acme.Main, "app" of /srv/app.jar), else any part of it; the first of these
 * that fits exactly one JVM. Complains and returns false when none or several fit.
 */
bool jvm_find(attach_jvm *out, const char *wanted);

/* "com.acme.Main" -> "Main", "/app/service.jar" -> "service.jar". */
void jvm_short_name(char *out, size_t cap, const char *main_class);

#endif
