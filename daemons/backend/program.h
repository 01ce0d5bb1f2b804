/* SPDX-License-Identifier: Apache-2.0 */
/* program.h: builds the backend from its settings, and runs it. */
#ifndef BACKEND_PROGRAM_H
#define BACKEND_PROGRAM_H

#include <config/config.h>

typedef struct program program;

/* Where the settings come from; they are read again when they change. */
typedef struct program_sources {
    int argc;
    char *const *argv;
    char *const *envp;
} program_sources;

/*
 * Opens the store, starts the writer and serves. Returns NULL, with a sentence on stderr, on
 * failure. settings and sources must outlive the program.
 */
program *program_start(const config *settings, const program_sources *sources);

/*
 * Waits for SIGTERM or SIGINT on the signalfd `signals`. On SIGHUP, or when the file of the
 * settings or of a secret changes, the tokens in it come into force.
 */
void program_run(program *p, int signals);

/* Stops the program: finishes the calls that run (10 s at most), then closes the store. */
void program_stop(program *p);

#endif
