/* SPDX-License-Identifier: Apache-2.0 */
/* Reaps killed workers. A worker that hangs in the kernel may never end. */
#ifndef ATTACHCLIENT_REAPER_H
#define ATTACHCLIENT_REAPER_H

#include <sys/types.h>

/* Waits a bounded time for a killed child. If it does not end, a later call of
 * attachclient_unreaped reaps it. Any thread may call it. */
void attachclient__reap(pid_t pid);

#endif
