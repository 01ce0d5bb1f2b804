/* SPDX-License-Identifier: Apache-2.0 */
/* hotstack-attachd: reads the settings and runs the program until SIGTERM. */
#include "program.h"
#include "settings.h"

#include <base/log.h>
#include <base/thread.h>
#include <stdlib.h>
#include <sys/stat.h>

extern char **environ;

int main(int argc, char **argv)
{
    config *loaded = NULL;
    int rc = config_start(&loaded, &attachd_program, argc, argv, environ);
    if (rc >= 0)
        return rc;
    char message[512] = "";
    thread_share_heaps();
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    umask(077);
    rc = program_run(config_values(loaded), &signals, message, sizeof(message));
    if (rc != 0)
        log_line("%s", message);
    config_free(loaded);
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
