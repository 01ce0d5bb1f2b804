/* SPDX-License-Identifier: Apache-2.0 */
#include "worker_port.h"

#include <attachclient/attachclient.h>
#include <base/clock.h>
#include <base/log.h>
#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <errno.h>
#include <fcntl.h>
#include <localrpc/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

_Static_assert(ATTACH_AP_CPU == 1 << EVENT_CPU && ATTACH_AP_ALLOC == 1 << EVENT_ALLOC &&
                   ATTACH_AP_LOCK == 1 << EVENT_LOCK && ATTACH_AP_WALL == 1 << EVENT_WALL &&
                   ATTACH_AP_LIVE == 1 << EVENT_LIVE && ATTACH_AP_NATIVEMEM == 1 << EVENT_NATIVEMEM,
               "attach_ap_info.absent has the catalogue's bits");

static uint32_t reason_of(attach_reason reason)
{
    const reason_info *info = reason_find(attach_reason_name(reason));
    return info != NULL ? (uint32_t)info->reason : REASON_INTERNAL;
}

static uint32_t session_of(attach_ap_state state)
{
    switch (state) {
    case ATTACH_AP_NONE:
        return SESSION_STATE_NONE;
    case ATTACH_AP_OWNED:
        return SESSION_STATE_OWNED;
    case ATTACH_AP_ADOPTED:
        return SESSION_STATE_ADOPTED;
    case ATTACH_AP_ORPHANED:
        return SESSION_STATE_ORPHANED;
    case ATTACH_AP_EXTERNAL:
        return SESSION_STATE_EXTERNAL;
    case ATTACH_AP_UNKNOWN:
        break;
    }
    return SESSION_STATE_UNKNOWN;
}

static void copy_jvm(local_jvm *to, const attach_jvm *from)
{
    (void)snprintf(to->id.boot_id, sizeof(to->id.boot_id), "%s", from->identity.boot_id);
    to->id.host_pid = (uint32_t)from->identity.pid;
    to->id.start_ticks = from->identity.start_ticks;
    to->ns_pid = (uint32_t)from->ns_pid;
    to->uid = from->uid;
    to->gid = from->gid;
    (void)snprintf(to->main_class, sizeof(to->main_class), "%s", from->main_class);
    (void)snprintf(to->command_line, sizeof(to->command_line), "%s", from->command_line);
    (void)snprintf(to->version, sizeof(to->version), "%s", from->version);
    (void)snprintf(to->vendor, sizeof(to->vendor), "%s", from->vendor);
    (void)snprintf(to->cgroup, sizeof(to->cgroup), "%s", from->cgroup);
    (void)snprintf(to->container_id, sizeof(to->container_id), "%s", from->container_id);
    (void)snprintf(to->pod_uid, sizeof(to->pod_uid), "%s", from->pod_uid);
    to->verdict =
        from->reason == ATTACH_REASON_NONE ? (uint32_t)REASON_NONE : reason_of(from->reason);
    (void)snprintf(to->detail, sizeof(to->detail), "%s", from->detail);
}

/* Returns the Unix ms of the host's boot, from which the start times of processes count. */
static uint64_t boot_ms(void)
{
    struct timespec wall;
    struct timespec up;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &up);
    return (uint64_t)(wall.tv_sec - up.tv_sec) * 1000 +
           (uint64_t)((wall.tv_nsec - up.tv_nsec) / 1000000);
}

static attach_options discovery(const worker_port *port)
{
    attach_options options = ATTACH_OPTIONS_INIT;
    options.proc_root = port->proc_root[0] != '\0' ? port->proc_root : NULL;
    return options;
}

static uint32_t list(void *context, local_jvm **out, size_t *count, char *detail, size_t size)
{
    attach_options options = discovery(context);
    attach_jvm_list *found = NULL;
    attach_error err = {0};
    *out = NULL;
    *count = 0;
    if (attach_jvm_list_read(&found, &options, &err) != 0) {
        (void)snprintf(detail, size, "%s", err.message);
        return err.reason != ATTACH_REASON_NONE ? reason_of(err.reason) : REASON_INTERNAL;
    }
    size_t jvms = attach_jvm_list_count(found);
    jvms = jvms < LOCAL_JVMS_MAX ? jvms : LOCAL_JVMS_MAX;
    *out = calloc(jvms + 1, sizeof(**out));
    uint64_t booted = boot_ms();
    uint64_t hertz = (uint64_t)sysconf(_SC_CLK_TCK);
    for (size_t i = 0; *out != NULL && i < jvms; i++) {
        copy_jvm(&(*out)[i], attach_jvm_list_at(found, i));
        (*out)[i].start_ms = booted + (*out)[i].id.start_ticks * 1000 / hertz;
        *count = i + 1;
    }
    attach_jvm_list_free(found);
    return *out != NULL ? REASON_NONE : REASON_INTERNAL;
}

static uint32_t unreaped(void *context)
{
    (void)context;
    return (uint32_t)attachclient_unreaped();
}

/* Writes the bytes of a recording to a file, up to a limit. */
typedef struct sink {
    int fd; /* -1 = the operation returns no bytes */
    uint64_t limit;
    uint64_t bytes;
    bool over_limit;
    int error; /* errno of a failed write */
} sink;

static int write_piece(void *context, const uint8_t *bytes, size_t n)
{
    sink *to = context;
    if (n > to->limit - to->bytes) {
        to->over_limit = true;
        return -1;
    }
    for (size_t used = 0; used < n;) {
        ssize_t wrote = write(to->fd, bytes + used, n - used);
        if (wrote < 0 && errno != EINTR) {
            to->error = errno;
            return -1;
        }
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    to->bytes += n;
    return 0;
}

static void prepare(attach_request *request, const worker_port *port, attach_op op,
                    const local_identity *jvm, uint32_t deadline_ms)
{
    *request = (attach_request){.op = op};
    (void)snprintf(request->identity.boot_id, sizeof(request->identity.boot_id), "%s",
                   jvm->boot_id);
    request->identity.pid = (int32_t)jvm->host_pid;
    request->identity.start_ticks = jvm->start_ticks;
    request->timeout_ms = deadline_ms < ATTACH_TIMEOUT_MAX_MS ? deadline_ms : ATTACH_TIMEOUT_MAX_MS;
    (void)snprintf(request->proc_root, sizeof(request->proc_root), "%s", port->proc_root);
    (void)snprintf(request->installation_id, sizeof(request->installation_id), "%s",
                   port->installation_id);
    (void)snprintf(request->library, sizeof(request->library), "%s", port->library);
}

static void tell(attachd_outcome *out, int rc, const attach_result *result, const attach_error *err,
                 const sink *to)
{
    const attach_ap_info *info = &result->info;
    if (rc != 0) {
        /* A worker that has answered tells the code of its error. */
        uint32_t unnamed = result->code != ATTACH_OK ? REASON_INTERNAL : REASON_WORKER_FAILED;
        out->reason = err->reason != ATTACH_REASON_NONE ? reason_of(err->reason) : unnamed;
        (void)snprintf(out->detail, sizeof(out->detail), "%s", err->message);
    }
    if (to->error != 0) {
        out->reason = REASON_DISK_FULL;
        (void)snprintf(out->detail, sizeof(out->detail), "the window could not be kept: %s",
                       strerror(to->error));
    }
    out->over_limit = to->over_limit;
    out->bytes = to->bytes;
    out->session = session_of(info->state);
    out->running = info->running;
    if (info->running && info->engine != ATTACH_AP_ENGINE_OFF)
        (void)snprintf(out->engine, sizeof(out->engine), "%s", attach_ap_engine_name(info->engine));
    (void)snprintf(out->engine_reason, sizeof(out->engine_reason), "%s", info->engine_reason);
    out->offset = info->offset;
    out->dropped_events = info->dropped;
    out->absent = info->absent; /* both use the same bits */
    (void)snprintf(out->absent_reason, sizeof(out->absent_reason), "%s", info->absent_reason);
    out->started_ms = info->started_ms > 0 ? (uint64_t)info->started_ms : 0;
}

/* Whether the directory in the target is not that of another installation's session. */
static bool has_files(const worker_port *port, const attach_ap_info *info)
{
    return info->directory[0] != '\0' && info->state != ATTACH_AP_EXTERNAL &&
           (info->installation[0] == '\0' ||
            strcmp(info->installation, port->installation_id) == 0);
}

static void run(const worker_port *port, const attach_request *request, sink *to,
                attachd_outcome *out)
{
    attachclient_options options = ATTACHCLIENT_OPTIONS_INIT;
    options.worker = port->worker[0] != '\0' ? port->worker : NULL;
    attach_result result = {0};
    attach_error err = {0};
    int rc = attachclient_run(&result, request, write_piece, to, &options, &err);
    tell(out, rc, &result, &err, to);
    out->has_files = has_files(port, &result.info);
    bool reads = request->op == ATTACH_OP_WINDOW || request->op == ATTACH_OP_STOP;
    if (reads && result.code == ATTACH_ERR_FORMAT) {
        out->reason = REASON_PARSE_FAILED;
        (void)snprintf(out->detail, sizeof(out->detail),
                       "%s: it was damaged, as by a full disk, or replaced; the session was "
                       "stopped",
                       err.message);
    }
}

static void start(void *context, const local_request *asked, uint32_t deadline_ms,
                  attachd_outcome *out)
{
    const worker_port *port = context;
    attach_request request;
    prepare(&request, port, ATTACH_OP_START, &asked->jvm, deadline_ms);
    attachclient_set_events(&request, &asked->events);
    request.memlimit_bytes = asked->memlimit_bytes;
    request.rate_limit = asked->rate_limit;
    request.max_seconds = port->max_seconds;
    (void)snprintf(request.owner, sizeof(request.owner), "hotstack-attachd (pid %d)",
                   (int)getpid());
    sink nothing = {.fd = -1};
    run(port, &request, &nothing, out);
}

static void window(void *context, const local_request *asked, int fd, uint64_t limit,
                   uint32_t deadline_ms, attachd_outcome *out)
{
    attach_request request;
    prepare(&request, context, ATTACH_OP_WINDOW, &asked->jvm, deadline_ms);
    request.offset = asked->offset;
    request.settled = asked->settled;
    sink to = {.fd = fd, .limit = limit};
    run(context, &request, &to, out);
}

static void stop(void *context, const local_identity *jvm, uint64_t offset, int fd, uint64_t limit,
                 uint32_t deadline_ms, attachd_outcome *out)
{
    attach_request request;
    prepare(&request, context, fd < 0 ? ATTACH_OP_DISCARD : ATTACH_OP_STOP, jvm, deadline_ms);
    request.offset = offset;
    sink to = {.fd = fd, .limit = limit};
    run(context, &request, &to, out);
}

static void status(void *context, const local_identity *jvm, uint32_t deadline_ms,
                   attachd_outcome *out)
{
    attach_request request;
    prepare(&request, context, ATTACH_OP_STATUS, jvm, deadline_ms);
    sink nothing = {.fd = -1};
    run(context, &request, &nothing, out);
}

static void threads(void *context, const local_request *asked, int fd, uint64_t limit,
                    uint32_t deadline_ms, attachd_outcome *out)
{
    const worker_port *port = context;
    attach_request request;
    prepare(&request, port, ATTACH_OP_THREADS, &asked->jvm, deadline_ms);
    (void)snprintf(request.library, sizeof(request.library), "%s", port->agent);
    request.threads_flags = ATTACH_THREADS_MONITORS | ATTACH_THREADS_NATIVE_IDS;
    if (asked->contention)
        request.threads_flags |= ATTACH_THREADS_CONTENTION;
    request.lease_ms =
        asked->lease_ms < ATTACH_LEASE_MS_MAX ? asked->lease_ms : ATTACH_LEASE_MS_MAX;
    request.max_threads = asked->max_threads;
    sink to = {.fd = fd, .limit = limit};
    run(port, &request, &to, out);
}

static int new_file(void *context)
{
    const worker_port *port = context;
    if (port->spool_dir[0] == '\0')
        return memfd_create("hotstack-window", MFD_CLOEXEC);
    return open(port->spool_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static long read_file(void *context, int file, uint64_t offset, uint8_t *to, size_t length)
{
    (void)context;
    return pread(file, to, length, (off_t)offset);
}

static void close_file(void *context, int file)
{
    (void)context;
    close(file);
}

static void random_id(void *context, uint8_t id[LOCAL_ID_SIZE])
{
    (void)context;
    localrpc_new_id(id);
}

void worker_port_init(attachd_ports *ports, worker_port *port)
{
    *ports = (attachd_ports){
        .context = port,
        .list = list,
        .lacks = port->lacks->findings,
        .lack_count = port->lacks->count,
        .unreaped = unreaped,
        .start = start,
        .window = window,
        .stop = stop,
        .status = status,
        .threads = threads,
        .new_file = new_file,
        .read_file = read_file,
        .close_file = close_file,
        .now_ms = clock_unix_ms,
        .monotonic_ms = clock_monotonic_ms,
        .random_id = random_id,
        .log = log_message,
    };
}
