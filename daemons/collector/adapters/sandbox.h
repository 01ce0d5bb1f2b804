/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's own seccomp filter: it parses what JVMs wrote and talks to the network, and gets
 * by with few system calls. */
#ifndef COLLECTOR_ADAPTERS_SANDBOX_H
#define COLLECTOR_ADAPTERS_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

/*
 * Puts the filter in force for this thread and all that it starts, for good: before any other is
 * started. A system call outside the list fails with EPERM; the log names it, once for each, where
 * the kernel tells of it (5.0 and later). 0, or -1 with a sentence in message: there is no filter.
 */
int sandbox_enter(char *message, size_t size);

/* System calls that were refused, since the start; any thread. */
uint64_t sandbox_refusals(void);

#endif
