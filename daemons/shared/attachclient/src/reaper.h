/* SPDX-License-Identifier: Apache-2.0 */
/* The end of killed workers, which one that hangs in the kernel may put off for ever. */
#ifndef ATTACHCLIENT_REAPER_H
#define ATTACHCLIENT_REAPER_H

#include <sys/types.h>

/* Waits for a killed child for a bounded time. One that does not end is remembered, and reaped by a
 * later attachclient_unreaped. Any thread. */
void attachclient__reap(pid_t pid);

#endif
