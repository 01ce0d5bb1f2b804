/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's seccomp filter. The collector parses bytes that JVMs wrote and talks to the
 * network, but needs few system calls. */
#ifndef COLLECTOR_ADAPTERS_SANDBOX_H
#define COLLECTOR_ADAPTERS_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

/*
 * Puts the filter in force, permanently, for this thread and all that it starts; call it before any
 * other thread exists. A system call outside the list fails with EPERM. The log names each such
 * call once, if the kernel reports it (5.0 and later). Returns 0, or -1 with a sentence in message:
 * there is no filter.
 */
int sandbox_enter(char *message, size_t size);

/* Returns how many system calls were refused since the start. Any thread. */
uint64_t sandbox_refusals(void);

#endif
