/* SPDX-License-Identifier: Apache-2.0 */
/* A worker process with pipes on its standard input and output. */
#ifndef ATTACHCLIENT_PROCESS_H
#define ATTACHCLIENT_PROCESS_H

#include <sys/types.h>

typedef struct attachclient__process {
    pid_t pid;
    int to;   /* its standard input, non-blocking */
    int from; /* its standard output, non-blocking */
} attachclient__process;

/* Starts a program by posix_spawn with default signal handling. It inherits no descriptor except
 * standard error. Returns 0 or an errno. */
int attachclient__process_start(attachclient__process *out, const char *program);

/* Closes the pipes, kills the process if it still runs, and reaps it, perhaps later (reaper.h). */
void attachclient__process_end(attachclient__process *process);

#endif
