#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attachclient/attachclient.h"

/* The directory of the running program; empty when it cannot be told. */
static void program_directory(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[n < 0 ? 0 : n] = '\0';
    char *slash = strrchr(out, '/');
    if (slash != NULL)
        *slash = '\0';
}

static int locate(char *out, size_t cap, const char *variable, const char *relative,
                  const char *configured)
{
    char directory[PATH_MAX];
    const char *wanted = getenv(variable);
    if (wanted != NULL && wanted[0] != '\0') {
        (void)snprintf(out, cap, "%s", wanted);
        return access(out, R_OK) == 0 ? 0 : -1;
    }
    program_directory(directory);
    int n = snprintf(out, cap, "%s/%s", directory, relative);
    if (n > 0 && (size_t)n < cap && access(out, R_OK) == 0)
        return 0;
    (void)snprintf(out, cap, "%s", configured);
    return access(out, R_OK) == 0 ? 0 : -1;
}

int attachclient_find_worker(char *out, size_t cap)
{
    return locate(out, cap, "HOTSTACK_ATTACH_WORKER", HOTSTACK_WORKER_RELATIVE,
                  HOTSTACK_WORKER_CONFIGURED);
}

int attachclient_find_profiler(char *out, size_t cap)
{
    return locate(out, cap, "HOTSTACK_ASYNC_PROFILER", HOTSTACK_PROFILER_RELATIVE,
                  HOTSTACK_PROFILER_CONFIGURED);
}
