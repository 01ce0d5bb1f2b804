/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the collector from its adapters, runs and ends it. */
#ifndef COLLECTOR_PROGRAM_H
#define COLLECTOR_PROGRAM_H

#include <config/config.h>
#include <localrpc/message.h>

typedef struct program program;

/* Where the configuration comes from, so that it can be read again, and the findings about the
 * process. */
typedef struct program_sources {
    int argc;
    char *const *argv;
    char *const *envp;
    const local_finding *lacks; /* findings of the self-check */
    size_t lack_count;
} program_sources;

/* Builds everything; nothing runs yet. `loaded` and the members of sources are borrowed. NULL with
 * a sentence in message. */
program *program_new(const config *loaded, const program_sources *sources, char *message,
                     size_t size);

/*
 * Runs until `signals` (a signalfd) gives a signal other than SIGHUP. On SIGHUP, or when the file
 * changes, the configuration is read again and its rules apply at once. At the end it takes the
 * last windows, stops the sessions and uploads the last batches within upload.grace, in this order.
 * 0, or -1 with a sentence in message.
 */
int program_run(program *self, int signals, char *message, size_t size);

void program_free(program *self);

#endif
