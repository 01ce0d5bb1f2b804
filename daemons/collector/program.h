/* SPDX-License-Identifier: Apache-2.0 */
/* All adapters put together: what main starts, runs and ends. */
#ifndef COLLECTOR_PROGRAM_H
#define COLLECTOR_PROGRAM_H

#include <config/config.h>

typedef struct program program;

/* Makes everything; nothing runs yet. `loaded` is borrowed. NULL with a sentence in message. */
program *program_new(const config *loaded, char *message, size_t size);

/*
 * Runs until `signals` (a signalfd) is readable, then ends in order: last windows, sessions, last
 * uploads within upload.grace. 0, or -1 with a sentence in message.
 */
int program_run(program *self, int signals, char *message, size_t size);

void program_free(program *self);

#endif
