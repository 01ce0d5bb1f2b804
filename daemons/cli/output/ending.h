/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT and SIGTERM as something to wait for, where what runs in a JVM must be ended in any case.
 */
#ifndef HOTSTACK_CLI_ENDING_H
#define HOTSTACK_CLI_ENDING_H

#include <signal.h>

/* The two, for sigtimedwait. */
void ending_signals(sigset_t *out);

/* Blocks them: from here on they are waited for, not suffered. */
void ending_block(void);

#endif
