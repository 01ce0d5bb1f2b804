/* SPDX-License-Identifier: Apache-2.0 */
/* Takes snapshots of one JVM repeatedly, for `hotstack threads`. */
#ifndef HOTSTACK_CLI_THREADS_ASK_H
#define HOTSTACK_CLI_THREADS_ASK_H

#include <attachclient/attachclient.h>

#include "cli/threads/threads.h"

typedef struct threads_asking {
    attach_jvm jvm;
    attach_request request;
    const cli_options *options;
} threads_asking;

/* Finds the JVM and the installed agent, and takes no snapshot yet. Complains and returns false
 * when that fails. */
bool threads_ask_open(threads_asking *out, const cli_options *o);

/* Takes one snapshot, with the stacks that the options ask for or with numbers only; NULL after a
 * complaint. Free it with attach_threads_free. */
attach_threads *threads_ask(threads_asking *a, bool stacks);

/* Gives the lease back. Complains and returns false when that fails. */
bool threads_ask_end(threads_asking *a);

#endif
