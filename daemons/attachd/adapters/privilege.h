/* SPDX-License-Identifier: Apache-2.0 */
/* What attachd keeps of root's power. */
#ifndef ATTACHD_ADAPTERS_PRIVILEGE_H
#define ATTACHD_ADAPTERS_PRIVILEGE_H

#include <stddef.h>

/*
 * As root: drops every capability but SYS_PTRACE (another user's /proc/PID), KILL (SIGQUIT),
 * SETUID and SETGID (the worker becomes the target's user), from the bounding set as well, so that
 * no program it starts has more; and sets no_new_privs. As another user: no_new_privs only.
 * Call before the first thread. 0, or -1 with a sentence in message.
 */
int privilege_drop(char *message, size_t size);

#endif
