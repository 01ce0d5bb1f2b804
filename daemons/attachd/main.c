/* hotstack-attachd: parse, drop privilege, wire, serve until SIGTERM. */
#include "adapters/privilege.h"
#include "adapters/settings.h"
#include "adapters/worker_port.h"
#include "core/attachd.h"

#include <attachclient/attachclient.h>
#include <errno.h>
#include <limits.h>
#include <localrpc/server.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

extern char **environ;

static void handle(void *context, const local_request *request, local_answer *answer)
{
    attachd_handle(context, request, answer);
}

static void log_line(void *context, const char *message)
{
    (void)context;
    (void)fprintf(stderr, "hotstack-attachd: %s\n", message);
}

static int fail(const char *message)
{
    log_line(NULL, message);
    return EXIT_FAILURE;
}

/* Waits for the end; sweeps once when the time of grace is over. */
static void wait_for_end(attachd *core, const sigset_t *signals, int64_t grace_ms)
{
    struct timespec grace = {.tv_sec = (time_t)(grace_ms / 1000),
                             .tv_nsec = (long)(grace_ms % 1000) * 1000000};
    int got = 0;
    do
        got = sigtimedwait(signals, NULL, &grace);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        return;
    attachd_sweep(core);
    while (sigwait(signals, &got) != 0)
        continue;
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
    /* The peer's uid is the gate; the file's mode need not keep out those whom it lets in. */
    options.mode = config_list_count(settings, "allow_uids") > 0 ? 0666 : 0600;
    options.uids = uids;
    options.uid_count = count;
    options.workers = (unsigned)config_int(settings, "limits.operations");
    options.handler = handle;
    options.context = core;
    options.log = log_line;
    localrpc_error err = {0};
    int rc = localrpc_server_start(server, &options, &err);
    if (rc != 0)
        (void)snprintf(message, size, "%s", err.message);
    return rc;
}

static int run(const config_section *settings, worker_port *port, const sigset_t *signals)
{
    attachd_ports ports;
    worker_port_init(&ports, port);
    const attachd_limits limits = {
        .window_bytes = config_bytes(settings, "limits.window_bytes"),
        .spool_bytes = config_bytes(settings, "limits.spool_bytes"),
        .windows = (unsigned)config_int(settings, "limits.windows"),
    };
    attachd *core = attachd_new(&ports, &limits);
    if (core == NULL)
        return fail("out of memory");
    localrpc_server *server = NULL;
    char message[512] = "";
    if (start_server(&server, core, settings, message, sizeof(message)) != 0) {
        attachd_free(core);
        return fail(message);
    }
    (void)fprintf(stderr, "hotstack-attachd: listening on %s\n", config_string(settings, "socket"));
    wait_for_end(core, signals, config_duration_ms(settings, "adopt_grace"));
    localrpc_server_stop(server);
    unsigned left = config_bool(settings, "leave_sessions") ? 0 : attachd_stop_sessions(core);
    attachd_free(core);
    return left == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    config *loaded = NULL;
    int rc = config_start(&loaded, &attachd_program, argc, argv, environ);
    if (rc >= 0)
        return rc;
    const config_section *settings = config_values(loaded);
    char message[512] = "";
    char id[INSTALLATION_ID_SIZE] = "";
    char spool[512] = "";
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    umask(077);
    if (settings_installation_id(id, settings, message, sizeof(message)) != 0 ||
        settings_spool_dir(spool, sizeof(spool), settings, message, sizeof(message)) != 0 ||
        privilege_drop(message, sizeof(message)) != 0) {
        config_free(loaded);
        return fail(message);
    }
    char library[PATH_MAX] = "";
    (void)snprintf(library, sizeof(library), "%s", config_string(settings, "profiler_library"));
    if (library[0] == '\0' && attachclient_find_profiler(library, sizeof(library)) != 0)
        log_line(NULL, "libasyncProfiler.so is not installed; set profiler_library");
    worker_port port = {
        .worker = config_string(settings, "worker"),
        .library = library,
        .installation_id = id,
        .proc_root = config_string(settings, "proc_root"),
        .spool_dir = spool,
    };
    rc = run(settings, &port, &signals);
    config_free(loaded);
    return rc;
}
