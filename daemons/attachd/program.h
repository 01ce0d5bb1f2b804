/* SPDX-License-Identifier: Apache-2.0 */
/* Composes hotstack-attachd. */
#ifndef ATTACHD_PROGRAM_H
#define ATTACHD_PROGRAM_H

#include <config/config.h>
#include <signal.h>

/* Drops privilege, wires and serves until one of `signals`, which are blocked. 0, or -1 with a
 * sentence in message. */
int program_run(const config_section *settings, const sigset_t *signals, char *message,
                size_t size);

#endif
