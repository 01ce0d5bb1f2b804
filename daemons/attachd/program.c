/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include "adapters/privilege.h"
#include "adapters/self_check.h"
#include "adapters/worker_port.h"
#include "core/attachd.h"
#include "settings.h"

#include <attachclient/attachclient.h>
#include <base/log.h>
#include <errno.h>
#include <limits.h>
#include <localrpc/server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LONGEST_WAIT_MS = 30000, /* longest wait between two checks of the leases */
    /* Places for lists and reads, which must not wait for operations that hang. */
    QUICK_REQUESTS = 8,
    /* How much longer than its maximal age a session goes on without attachd. */
    SPARE_SECONDS = 3600
};

/* Checks this process; the result goes to the log and into lists of JVMs. */
static void check_self(self_check *out, const char *proc_root)
{
    self_facts facts;
    self_facts_read(&facts, proc_root);
    self_check_judge(out, &facts);
    for (size_t i = 0; i < out->count; i++)
        log_line("self-check: %s: %s; %s", out->findings[i].check, out->findings[i].message,
                 out->findings[i].fix);
    if (out->count == 0)
        log_line("self-check: nothing is missing");
}

static void handle(void *context, const local_request *request, local_answer *answer)
{
    attachd_handle(context, request, answer);
}

/* Waits for a signal. Sweeps once after the time of grace, and checks the leases at intervals. */
static void wait_for_end(attachd *core, const sigset_t *signals, int64_t grace_ms, int64_t lease_ms)
{
    int64_t slice_ms =
        lease_ms > 0 && lease_ms / 4 < LONGEST_WAIT_MS ? lease_ms / 4 + 1 : LONGEST_WAIT_MS;
    int64_t left_ms = grace_ms;
    bool swept = false;
    for (;;) {
        int64_t wait_ms = !swept && left_ms < slice_ms ? left_ms : slice_ms;
        struct timespec slice = {.tv_sec = (time_t)(wait_ms / 1000),
                                 .tv_nsec = (long)(wait_ms % 1000) * 1000000};
        int got = sigtimedwait(signals, NULL, &slice);
        if (got > 0)
            return;
        if (errno != EAGAIN)
            continue;
        left_ms -= wait_ms;
        if (!swept && left_ms <= 0) {
            attachd_sweep(core);
            swept = true;
        }
        attachd_expire(core);
    }
}

static int start_server(localrpc_server **server, attachd *core, const config_section *settings,
                        char *message, size_t size)
{
    unsigned uids[UIDS_MAX];
    size_t count = settings_uids(settings, uids, message, size);
    if (count == 0)
        return -1;
    localrpc_server_options options = LOCALRPC_SERVER_OPTIONS_INIT;
    options.socket_path = config_string(settings, "socket");
    /* The peer's uid decides who may connect; the mode must let in all users that are allowed. */
    options.mode = config_list_count(settings, "allow_uids") > 0 ? 0666 : 0600;
    options.uids = uids;
    options.uid_count = count;
    options.workers = (unsigned)config_int(settings, "limits.operations") + QUICK_REQUESTS;
    options.handler = handle;
    options.context = core;
    options.log = log_message;
    localrpc_error err = {0};
    int rc = localrpc_server_start(server, &options, &err);
    if (rc != 0)
        (void)snprintf(message, size, "%s", err.message);
    return rc;
}

static int serve(const config_section *settings, worker_port *port, const sigset_t *signals,
                 char *message, size_t size)
{
    attachd_ports ports;
    worker_port_init(&ports, port);
    const attachd_limits limits = {
        .window_bytes = config_bytes(settings, "limits.window_bytes"),
        .spool_bytes = config_bytes(settings, "limits.spool_bytes"),
        .windows = (unsigned)config_int(settings, "limits.windows"),
        .lease_ms = (uint64_t)config_duration_ms(settings, "lease"),
        .restart_ms = (uint64_t)config_duration_ms(settings, "restart_age"),
        .restart_bytes = config_bytes(settings, "limits.restart_bytes"),
    };
    attachd *core = attachd_new(&ports, &limits);
    if (core == NULL) {
        (void)snprintf(message, size, "out of memory");
        return -1;
    }
    localrpc_server *server = NULL;
    if (start_server(&server, core, settings, message, size) != 0) {
        attachd_free(core);
        return -1;
    }
    log_line("listening on %s", config_string(settings, "socket"));
    wait_for_end(core, signals, config_duration_ms(settings, "adopt_grace"),
                 config_duration_ms(settings, "lease"));
    localrpc_server_stop(server);
    unsigned left = config_bool(settings, "leave_sessions") ? 0 : attachd_stop_sessions(core);
    attachd_free(core);
    (void)snprintf(message, size, "%u sessions could not be stopped", left);
    return left == 0 ? 0 : -1;
}

/* Finds an installed library: the setting, or the default place. `what` names it and its
 * setting. */
static void find_library(char out[PATH_MAX], const char *set, int (*find)(char *out, size_t cap),
                         const char *what)
{
    (void)snprintf(out, PATH_MAX, "%s", set);
    if (out[0] == '\0' && find(out, PATH_MAX) != 0)
        log_line("%s", what);
}

int program_run(const config_section *settings, const sigset_t *signals, char *message, size_t size)
{
    char id[INSTALLATION_ID_SIZE] = "";
    char spool[512] = "";
    char library[PATH_MAX], agent[PATH_MAX];
    self_check lacks;
    if (settings_installation_id(id, settings, message, size) != 0 ||
        settings_spool_dir(spool, sizeof(spool), settings, message, size) != 0 ||
        privilege_drop(message, size) != 0)
        return -1;
    find_library(library, config_string(settings, "profiler_library"), attachclient_find_profiler,
                 "libasyncProfiler.so is not installed; set profiler_library");
    find_library(agent, config_string(settings, "thread_agent"), attachclient_find_thread_agent,
                 "libhotstackthreads.so is not installed; set thread_agent");
    check_self(&lacks, config_string(settings, "proc_root"));
    worker_port port = {
        .lacks = &lacks,
        .worker = config_string(settings, "worker"),
        .library = library,
        .agent = agent,
        .installation_id = id,
        .proc_root = config_string(settings, "proc_root"),
        .max_seconds =
            (uint32_t)(config_duration_ms(settings, "restart_age") / 1000) + SPARE_SECONDS,
        .spool_dir = spool,
    };
    return serve(settings, &port, signals, message, size);
}
