/* SPDX-License-Identifier: Apache-2.0 */
/* program.h: the backend's parts, made from its settings, wired together and run. */
#ifndef BACKEND_PROGRAM_H
#define BACKEND_PROGRAM_H

#include <config/config.h>

typedef struct program program;

/* What the settings were read from; they are read again when they change. */
typedef struct program_sources {
    int argc;
    char *const *argv;
    char *const *envp;
} program_sources;

/*
 * Opens the store, starts the writer and serves. NULL, with a sentence on stderr, when that cannot
 * be. settings and sources outlive the program.
 */
program *program_start(const config *settings, const program_sources *sources);

/*
 * Waits for the end: SIGTERM or SIGINT on the signalfd `signals`. SIGHUP, and a change of the
 * settings' file or of a secret's, puts the tokens that are named now in force.
 */
void program_run(program *p, int signals);

/* Ends it: what is in flight is finished (10 s at most), then the store is closed. */
void program_stop(program *p);

#endif
