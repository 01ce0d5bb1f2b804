/* hotstack-backend: settings in, parts up, wait for a signal, parts down. */
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

int main(int argc, char **argv)
{
    sigset_t signals;
    config *settings;
    int received;
    int status = config_start(&settings, &backend_program, argc, argv, environ);

    if (status >= 0)
        return status;
    block_signals(&signals);
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
