/* SPDX-License-Identifier: Apache-2.0 */
/* hotstack-backend: settings in, parts up, wait for a signal, parts down. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include <curl/curl.h>

#include "program.h"
#include "settings.h"

extern char **environ;

/* SIGTERM and SIGINT are taken by sigwait, in this thread only; the others inherit the mask. */
static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* What a batch took is kept for the next one: to fault its pages in anew costs as much as to read
 * it. */
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
    sigset_t signals;
    config *settings;
    int received;
    int status = config_start(&settings, &backend_program, argc, argv, environ);

    if (status >= 0)
        return status;
    block_signals(&signals);
    keep_memory();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    program *p = program_start(settings);
    if (p == NULL) {
        config_free(settings);
        return EXIT_FAILURE;
    }
    sigwait(&signals, &received);
    program_stop(p);
    config_free(settings);
    curl_global_cleanup();
    return EXIT_SUCCESS;
}
