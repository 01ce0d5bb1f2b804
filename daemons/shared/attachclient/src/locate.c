/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <attachclient/attachclient.h>

/* Writes the directory of the running program; an empty text if the kernel does not tell it. */
static void program_directory(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[n < 0 ? 0 : n] = '\0';
    char *slash = strrchr(out, '/');
    if (slash != NULL)
        *slash = '\0';
}

/* Copies path to out. Returns 0 if it fits and names a readable file. */
static int take(char *out, size_t cap, const char *path)
{
    size_t n = strlen(path);
    if (n >= cap)
        return -1;
    memcpy(out, path, n + 1);
    return access(path, R_OK);
}

static int locate(char *out, size_t cap, const char *variable, const char *relative,
                  const char *configured)
{
    char directory[PATH_MAX], path[PATH_MAX + 128];
    const char *wanted = getenv(variable);
    if (wanted != NULL && wanted[0] != '\0')
        return take(out, cap, wanted);
    program_directory(directory);
    (void)snprintf(path, sizeof(path), "%s/%s", directory, relative);
    return take(out, cap, path) == 0 ? 0 : take(out, cap, configured);
}

int attachclient_find_worker(char *out, size_t cap)
{
    return locate(out, cap, "HOTSTACK_ATTACH_WORKER", HOTSTACK_WORKER_RELATIVE,
                  HOTSTACK_WORKER_CONFIGURED);
}

int attachclient_find_thread_agent(char *out, size_t cap)
{
    return locate(out, cap, "HOTSTACK_THREAD_AGENT", HOTSTACK_AGENT_RELATIVE,
                  HOTSTACK_AGENT_CONFIGURED);
}

int attachclient_find_profiler(char *out, size_t cap)
{
    return locate(out, cap, "HOTSTACK_ASYNC_PROFILER", HOTSTACK_PROFILER_RELATIVE,
                  HOTSTACK_PROFILER_CONFIGURED);
}
