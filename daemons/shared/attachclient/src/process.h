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

/* Starts the program by posix_spawn: signals at their defaults, no other descriptor but standard
 * error. 0 or an errno. */
int attachclient__process_start(attachclient__process *out, const char *program);

/* Closes the pipes, kills the process unless it has ended, and reaps it, at once or later. */
void attachclient__process_end(attachclient__process *process);

#endif
