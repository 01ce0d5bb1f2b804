/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a program wait for SIGINT and SIGTERM, so that it can stop what it started in a JVM before
 * it ends. */
#ifndef HOTSTACK_CLI_ENDING_H
#define HOTSTACK_CLI_ENDING_H

#include <signal.h>

/* Gets the two signals, for sigtimedwait. */
void ending_signals(sigset_t *out);

/* Blocks the two signals: from here on they no longer end the program, and it must wait for
 * them. */
void ending_block(void);

#endif
