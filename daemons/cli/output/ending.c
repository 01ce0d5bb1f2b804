/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/ending.h"

#include <stddef.h>

void ending_signals(sigset_t *out)
{
    (void)sigemptyset(out);
    (void)sigaddset(out, SIGINT);
    (void)sigaddset(out, SIGTERM);
}

void ending_block(void)
{
    sigset_t ending;
    ending_signals(&ending);
    (void)sigprocmask(SIG_BLOCK, &ending, NULL);
}
