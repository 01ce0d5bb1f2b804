/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

#include "reaper.h"

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            (void)close(pair[i]);
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                   const int in[2], const int out[2])
{
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int rc = posix_spawn_file_actions_adddup2(actions, in[0], STDIN_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, out[1], STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    if (rc == 0)
        rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &all);
    /* A process group of its own, so that Ctrl-C in a terminal does not end the worker in the
     * middle of an operation. */
    if (rc == 0)
        rc = posix_spawnattr_setpgroup(attributes, 0);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                      POSIX_SPAWN_SETPGROUP);
    return rc;
}

static int spawn(pid_t *pid, const char *program, const int in[2], const int out[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char name[] = "hotstack-attach-worker";
    char *const argv[] = {name, NULL};
    char *const environment[] = {NULL}; /* the worker needs none, and it changes user */
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawnattr_init(&attributes);
    if (rc == 0) {
        rc = prepare(&actions, &attributes, in, out);
        if (rc == 0)
            rc = posix_spawn(pid, program, &actions, &attributes, argv, environment);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ? errno : 0;
}

int attachclient__process_start(attachclient__process *out, const char *program)
{
    int in[2] = {-1, -1}, answer[2] = {-1, -1};
    int rc = pipe2(in, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0 ? errno : 0;
    if (rc == 0)
        rc = set_nonblocking(in[1]);
    if (rc == 0)
        rc = set_nonblocking(answer[0]);
    if (rc == 0)
        rc = spawn(&out->pid, program, in, answer);
    if (rc != 0) {
        close_pair(in);
        close_pair(answer);
        return rc;
    }
    (void)close(in[0]);
    (void)close(answer[1]);
    out->to = in[1];
    out->from = answer[0];
    return 0;
}

void attachclient__process_end(attachclient__process *process)
{
    if (process->to >= 0)
        (void)close(process->to);
    (void)close(process->from);
    /* The child has not been waited for, so that no other process can have its pid. */
    (void)kill(process->pid, SIGKILL);
    attachclient__reap(process->pid);
}
