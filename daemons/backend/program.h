/* SPDX-License-Identifier: Apache-2.0 */
/* program.h: the backend's parts, made from its settings, wired together and run. */
#ifndef BACKEND_PROGRAM_H
#define BACKEND_PROGRAM_H

#include <config/config.h>

typedef struct program program;

/*
 * Opens the store, starts the writer and serves. NULL, with a sentence on stderr, when that cannot
 * be. settings outlives the program.
 */
program *program_start(const config *settings);

/* Ends it: what is in flight is finished (10 s at most), then the store is closed. */
void program_stop(program *p);

#endif
