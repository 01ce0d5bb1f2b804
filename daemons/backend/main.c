/* SPDX-License-Identifier: Apache-2.0 */
/* hotstack-backend: reads the settings, starts the program, waits for the end and stops it. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>

#include <curl/curl.h>

#include "program.h"
#include "settings.h"

extern char **environ;

/* Opens a descriptor of SIGTERM, SIGINT and SIGHUP; threads started later inherit the mask. */
static int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Keeps the memory of a batch for the next one: the page faults of new memory cost as much as
 * reading the batch. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    enum { LARGEST_KEPT = 4 << 20, MOST_KEPT = 16 << 20 };
    (void)mallopt(M_MMAP_THRESHOLD, LARGEST_KEPT);
    (void)mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
#endif
}

int main(int argc, char **argv)
{
    config *settings;
    int status = config_start(&settings, &backend_program, argc, argv, environ);

    if (status >= 0)
        return status;
    const program_sources sources = {argc, argv, environ};
    int signals = open_signals();
    keep_memory();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    program *p = signals >= 0 ? program_start(settings, &sources) : NULL;
    if (p != NULL)
        program_run(p, signals);
    program_stop(p);
    config_free(settings);
    curl_global_cleanup();
    return p != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
