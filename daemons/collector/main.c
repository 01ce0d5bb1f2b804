/* SPDX-License-Identifier: Apache-2.0 */
/* hotstack-collector: reads the settings, builds the program and runs it until SIGTERM. */
#include "adapters/sandbox.h"
#include "program.h"
#include "settings.h"

#include <base/log.h>
#include <base/thread.h>
#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int fail(const char *message)
{
    log_line("%s", message);
    return EXIT_FAILURE;
}

/* Opens a descriptor of SIGTERM, SIGINT and SIGHUP, and blocks them for all threads started
 * later. */
static int open_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0)
        return -1;
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

static int run(const config *loaded, const program_sources *sources)
{
    char message[512] = "";
    int signals = open_signals();
    if (signals < 0)
        return fail(strerror(errno));
    program *all = program_new(loaded, sources, message, sizeof(message));
    if (all == NULL) {
        close(signals);
        return fail(message);
    }
    log_line("running");
    int rc = program_run(all, signals, message, sizeof(message));
    program_free(all);
    close(signals);
    return rc == 0 ? EXIT_SUCCESS : fail(message);
}

/* Installs the system call filter; must run before any thread starts. The collector also works
 * without it: returns false then, with the finding in *out. */
static bool enter_sandbox(const config *loaded, local_finding *out)
{
    *out = (local_finding){.check = "seccomp"};
    if (!config_bool(config_values(loaded), "sandbox")) {
        (void)snprintf(out->message, sizeof(out->message),
                       "the collector runs without its system call filter, which is switched off");
        (void)snprintf(out->fix, sizeof(out->fix), "set sandbox to true");
    } else if (sandbox_enter(out->message, sizeof(out->message)) != 0) {
        (void)snprintf(out->fix, sizeof(out->fix),
                       "run on a kernel with seccomp, in a container that allows it");
    } else {
        return true;
    }
    log_line("self-check: %s: %s; %s", out->check, out->message, out->fix);
    return false;
}

int main(int argc, char **argv)
{
    config *loaded = NULL;
    local_finding no_filter;
    int rc = config_start(&loaded, &collector_program, argc, argv, environ);
    if (rc >= 0)
        return rc;
    thread_share_heaps();
    umask(077);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || curl_global_init(CURL_GLOBAL_ALL) != 0) {
        config_free(loaded);
        return fail("cannot set up the process");
    }
    bool is_whole = enter_sandbox(loaded, &no_filter);
    rc = run(loaded, &(program_sources){argc, argv, environ, &no_filter, is_whole ? 0 : 1});
    curl_global_cleanup();
    config_free(loaded);
    return rc;
}
