/* SPDX-License-Identifier: Apache-2.0 */
/* Builds hotstack-attachd from its parts and runs it. */
#ifndef ATTACHD_PROGRAM_H
#define ATTACHD_PROGRAM_H

#include <config/config.h>
#include <signal.h>

/* Drops privileges, builds the program and serves until one of `signals`, which must be blocked.
 * Returns 0, or -1 with a sentence in message. */
int program_run(const config_section *settings, const sigset_t *signals, char *message,
                size_t size);

#endif
