/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces the privileges of attachd to those that it needs. */
#ifndef ATTACHD_ADAPTERS_PRIVILEGE_H
#define ATTACHD_ADAPTERS_PRIVILEGE_H

#include <stddef.h>

/*
 * As root: drops every capability but SYS_PTRACE (another user's /proc/PID), KILL (SIGQUIT), SETUID
 * and SETGID (the worker becomes the target's user), from the bounding set as well, so that no
 * program that it starts has more; and sets no_new_privs. As another user: sets no_new_privs only.
 * Must be called before the first thread starts. Returns 0, or -1 with a sentence in message.
 */
int privilege_drop(char *message, size_t size);

#endif
