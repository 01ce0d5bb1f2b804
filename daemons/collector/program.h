/* SPDX-License-Identifier: Apache-2.0 */
/* All adapters put together: what main starts, runs and ends. */
#ifndef COLLECTOR_PROGRAM_H
#define COLLECTOR_PROGRAM_H

#include <config/config.h>
#include <localrpc/message.h>

typedef struct program program;

/* What the configuration was read from, to read it again, and what the process lacks. */
typedef struct program_sources {
    int argc;
    char *const *argv;
    char *const *envp;
    const local_finding *lacks; /* what the self-check found */
    size_t lack_count;
} program_sources;

/* Makes everything; nothing runs yet. `loaded` and what the sources point to are borrowed. NULL
 * with a sentence in message. */
program *program_new(const config *loaded, const program_sources *sources, char *message,
                     size_t size);

/*
 * Runs until `signals` (a signalfd) gives another signal than SIGHUP, which has the configuration
 * read again, as a change of its file has; the rules are then in force at once. Ends in order: last
 * windows, sessions, last uploads within upload.grace. 0, or -1 with a sentence in message.
 */
int program_run(program *self, int signals, char *message, size_t size);

void program_free(program *self);

#endif
