/* SPDX-License-Identifier: Apache-2.0 */
#include <attach/jvm.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "error_impl.h"
#include "jvm/native_image_impl.h"
#include "jvm/target_impl.h"
#include "proc/cgroup_limits_impl.h"
#include "proc/proc_cgroup_impl.h"
#include "proc/proc_stat_impl.h"

#define SMALL_FILE_MAX ((size_t)64 << 10)
#define MAPS_MAX       ((size_t)64 << 20)
#define ENVIRON_MAX    ((size_t)1 << 20)
#define LIST_MAX       65536

struct attach_jvm_list {
    size_t n;
    size_t cap;
    attach_jvm *jvms;
};

static void set_reason(attach_jvm *jvm, attach_reason reason, const char *detail)
{
    jvm->reason = reason;
    (void)snprintf(jvm->detail, sizeof(jvm->detail), "%s", detail);
}

/* Converts clock ticks since the boot, which also count while the machine is suspended, to Unix
 * time. */
static int64_t unix_ms_of(uint64_t ticks)
{
    struct timespec wall, up;
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    int64_t booted_ms =
        ((int64_t)wall.tv_sec - (int64_t)up.tv_sec) * 1000 + (wall.tv_nsec - up.tv_nsec) / 1000000;
    uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t since_boot = ticks / per_second * 1000 + ticks % per_second * 1000 / per_second;
    return since_boot > INT64_MAX / 2 ? 0 : booted_ms + (int64_t)since_boot;
}

static int read_stat(attach_jvm *out, char *state, int proc_fd, attach_error *err)
{
    attach__blob text;
    attach__stat stat;
    int rc = attach__read_proc(&text, proc_fd, "stat", SMALL_FILE_MAX);
    if (rc != 0)
        return attach__proc_error(err, -rc, out->identity.pid, "stat");
    rc = attach__stat_parse(&stat, attach__blob_span(&text), err);
    free(text.p);
    if (rc != ATTACH_OK)
        return rc;
    out->identity.start_ticks = stat.start_ticks;
    out->start_ms = unix_ms_of(stat.start_ticks);
    *state = stat.state;
    return ATTACH_OK;
}

static int read_status(attach_jvm *out, attach__status *status, int proc_fd, attach_error *err)
{
    attach__blob text;
    int rc = attach__read_status(&text, status, proc_fd, out->identity.pid, err);
    free(text.p);
    if (rc != ATTACH_OK)
        return rc;
    out->ns_pid = status->ns_pid;
    out->uid = status->ids.uid;
    out->gid = status->ids.gid;
    return ATTACH_OK;
}

static bool command_is_java(int proc_fd)
{
    attach__blob text;
    if (attach__read_proc(&text, proc_fd, "comm", 64) != 0)
        return false;
    bool java = attach__span_is(attach__blob_span(&text), "java\n");
    free(text.p);
    return java;
}

/* Files that describe a process without asking it. Closed and freed by close_sources. */
typedef struct sources {
    int root_fd; /* -1 = not permitted */
    attach__blob mountinfo;
    attach__blob environment; /* may hold secrets, so it is wiped */
    attach__blob cgroup;
} sources;

static void read_text(attach__blob *out, int proc_fd, const char *name, size_t max)
{
    if (attach__read_proc(out, proc_fd, name, max) != 0)
        *out = (attach__blob){NULL, 0};
}

static void open_sources(sources *out, int proc_fd)
{
    out->root_fd = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    read_text(&out->mountinfo, proc_fd, "mountinfo", MAPS_MAX);
    read_text(&out->environment, proc_fd, "environ", ENVIRON_MAX);
    read_text(&out->cgroup, proc_fd, "cgroup", SMALL_FILE_MAX);
}

static void close_sources(sources *s)
{
    if (s->root_fd >= 0)
        (void)close(s->root_fd);
    if (s->environment.p != NULL)
        explicit_bzero(s->environment.p, s->environment.n);
    free(s->mountinfo.p);
    free(s->environment.p);
    free(s->cgroup.p);
}

static void read_cmdline(attach_jvm *out, attach__flags *flags, int proc_fd)
{
    attach__blob text;
    char program[ATTACH__PROGRAM_MAX];
    if (attach__read_proc(&text, proc_fd, "cmdline", SMALL_FILE_MAX) != 0)
        return;
    attach__program_read(program, proc_fd);
    attach__cmdline_read(out, flags, attach__blob_span(&text), program);
    free(text.p);
}

/* Reads the flags in the order in which the JVM does, so that the last setting counts. */
static void read_flags(attach_jvm *out, const sources *s, int proc_fd)
{
    attach__flags flags = {0};
    attach__span environment = attach__blob_span(&s->environment);
    attach__flags_note_variable(&flags, environment, "JAVA_TOOL_OPTIONS");
    attach__flags_note_variable(&flags, environment, "JDK_JAVA_OPTIONS");
    read_cmdline(out, &flags, proc_fd);
    attach__flags_note_variable(&flags, environment, "_JAVA_OPTIONS");
    if (s->root_fd >= 0)
        attach__facts_from_root(out, &flags, s->root_fd, attach__blob_span(&s->mountinfo));
    out->attach_disabled = flags.attach_disabled;
    out->agent_loading_disabled = flags.agent_loading_disabled;
    out->perf_data_off = flags.perf_data_off;
}

static void read_profiler(attach_jvm *out, const attach__map_facts *maps)
{
    const char *name = maps->profiler[0] != '\0'     ? "Hotstack"
                       : maps->external_kind != NULL ? maps->external_kind->name
                                                     : "";
    const char *path = maps->profiler[0] != '\0' ? maps->profiler : maps->external;
    (void)snprintf(out->profiler, sizeof(out->profiler), "%s", name);
    attach__copy_text(out->profiler_library, sizeof(out->profiler_library),
                      attach__span_of(path, strlen(path)));
}

/* Returns whether another program's profiler may be running. A SIGPROF handler tells for
 * async-profiler, because HotSpot itself does not use that signal. */
static bool may_run(const attach__map_facts *maps, const attach__status *status)
{
    return maps->external_kind != NULL &&
           (!maps->external_kind->shareable || attach__status_catches(status, SIGPROF));
}

static void judge(attach_jvm *out, const attach__map_facts *maps, const attach__status *status,
                  char state)
{
    if (maps->openj9)
        set_reason(out, ATTACH_REASON_NOT_HOTSPOT,
                   "runs OpenJ9, which async-profiler cannot serve");
    else if (attach__state_is_stopped(state))
        set_reason(out, ATTACH_REASON_TARGET_STOPPED,
                   "is stopped by a signal or a debugger; kill -CONT continues it");
    else if (out->attach_disabled)
        set_reason(out, ATTACH_REASON_ATTACH_DISABLED, "runs with -XX:+DisableAttachMechanism");
    else if (out->agent_loading_disabled)
        set_reason(out, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED,
                   "runs with -XX:-EnableDynamicAgentLoading");
    else if (may_run(maps, status)) {
        out->reason = ATTACH_REASON_EXTERNAL_PROFILER;
        (void)snprintf(out->detail, sizeof(out->detail), "has the profiler of %s loaded: %.180s",
                       maps->external_kind->name, out->profiler_library);
    }
}

/* Reads the facts of the maps. Returns false when the process is no JVM or may not be read (*rc
 * says which). */
static bool read_maps(attach__map_facts *out, int *rc, attach_jvm *jvm, int proc_fd,
                      attach_error *err)
{
    attach__blob text;
    char root[ATTACH__PATH_MAX];
    int error = attach__read_proc(&text, proc_fd, "maps", MAPS_MAX);
    if (error != 0) {
        bool hidden = error == -EACCES || error == -EPERM;
        if (hidden && command_is_java(proc_fd)) {
            set_reason(jvm, ATTACH_REASON_PERMISSION_DENIED,
                       "belongs to another user: run as that user, or as root");
            *rc = ATTACH_OK;
            return false;
        }
        *rc = attach__proc_error(err, -error, jvm->identity.pid, "maps");
        return false;
    }
    attach__root_path(root, proc_fd);
    attach__maps_read(out, attach__blob_span(&text), root);
    free(text.p);
    if (out->libjvm[0] != '\0' || out->openj9)
        return true;
    if (attach__runs_native_image(proc_fd)) {
        set_reason(jvm, ATTACH_REASON_NOT_HOTSPOT,
                   "is a GraalVM native image: compiled ahead of time, there is no JVM in it");
        *rc = ATTACH_OK;
        return false;
    }
    *rc = attach__refuse(err, ATTACH_REASON_NOT_HOTSPOT,
                         "process %d has no libjvm.so mapped: it is not a HotSpot JVM",
                         jvm->identity.pid);
    return false;
}

/* Reads the facts that every process has. */
static int read_process(attach_jvm *out, attach__status *status, char *state, int proc_fd,
                        attach_error *err)
{
    int rc = read_status(out, status, proc_fd, err);
    return rc == ATTACH_OK ? read_stat(out, state, proc_fd, err) : rc;
}

static int read_jvm(attach_jvm *out, int proc_fd, const attach_options *options, attach_error *err)
{
    attach__map_facts maps;
    attach__status status;
    sources texts;
    char state = 0;
    int rc = ATTACH_OK;
    bool is_jvm = read_maps(&maps, &rc, out, proc_fd, err);
    if (rc == ATTACH_OK)
        rc = read_process(out, &status, &state, proc_fd, err);
    if (rc != ATTACH_OK)
        return rc;
    if (is_jvm)
        attach__copy_text(out->libjvm, sizeof(out->libjvm),
                          attach__span_of(maps.libjvm, strlen(maps.libjvm)));
    open_sources(&texts, proc_fd);
    attach__span cgroup = attach__blob_span(&texts.cgroup);
    attach__cgroup_read(out, cgroup);
    attach__cgroup_limits(out, cgroup, options, attach__blob_span(&texts.mountinfo), texts.root_fd);
    read_flags(out, &texts, proc_fd);
    out->jdk_deleted =
        is_jvm && texts.root_fd >= 0 &&
        attach__jdk_is_deleted(&maps, texts.root_fd, attach__blob_span(&texts.mountinfo));
    close_sources(&texts);
    if (!is_jvm)
        return ATTACH_OK;
    out->libc = maps.libc;
    read_profiler(out, &maps);
    judge(out, &maps, &status, state);
    return ATTACH_OK;
}

static int read_pid(attach_jvm *out, int32_t pid, int proc_root_fd, const attach_options *options,
                    attach_error *err)
{
    char name[16];
    memset(out, 0, sizeof(*out));
    out->identity.pid = pid;
    (void)snprintf(name, sizeof(name), "%d", pid);
    int proc_fd = openat(proc_root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc_fd < 0)
        return attach__proc_error(err, errno, pid, "its directory");
    int rc = read_jvm(out, proc_fd, options, err);
    (void)close(proc_fd);
    return rc;
}

int attach_jvm_read(attach_jvm *out, int32_t pid, const attach_options *options, attach_error *err)
{
    int proc_root_fd = -1;
    int rc = attach__open_proc_root(&proc_root_fd, options, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = read_pid(out, pid, proc_root_fd, options, err);
    if (rc == ATTACH_OK)
        attach__boot_id(out->identity.boot_id, proc_root_fd);
    (void)close(proc_root_fd);
    return rc;
}

static int append(attach_jvm_list *list, const attach_jvm *jvm)
{
    if (list->n == list->cap) {
        size_t cap = list->cap == 0 ? 8 : list->cap * 2;
        attach_jvm *bigger = realloc(list->jvms, cap * sizeof(*bigger));
        if (bigger == NULL)
            return ATTACH_ERR_NOMEM;
        list->jvms = bigger;
        list->cap = cap;
    }
    list->jvms[list->n++] = *jvm;
    return ATTACH_OK;
}

static int by_pid(const void *a, const void *b)
{
    const attach_jvm *x = a, *y = b;
    return (x->identity.pid > y->identity.pid) - (x->identity.pid < y->identity.pid);
}

static int scan(attach_jvm_list *list, DIR *dir, int proc_root_fd, const attach_options *options,
                attach_error *err)
{
    const struct dirent *entry;
    char boot_id[40];
    attach__boot_id(boot_id, proc_root_fd);
    while (list->n < LIST_MAX && (entry = readdir(dir)) != NULL) {
        attach_jvm jvm;
        uint32_t pid = 0;
        if (!attach__parse_u32(attach__span_of(entry->d_name, strlen(entry->d_name)), &pid) ||
            pid == 0 || pid > INT32_MAX)
            continue;
        if (read_pid(&jvm, (int32_t)pid, proc_root_fd, options, NULL) != ATTACH_OK)
            continue;
        memcpy(jvm.identity.boot_id, boot_id, sizeof(boot_id));
        if (append(list, &jvm) != ATTACH_OK)
            return attach__fail(err, ATTACH_ERR_NOMEM, "no memory for the list of JVMs");
    }
    if (list->n > 0)
        qsort(list->jvms, list->n, sizeof(*list->jvms), by_pid);
    return ATTACH_OK;
}

int attach_jvm_list_read(attach_jvm_list **out, const attach_options *options, attach_error *err)
{
    int proc_root_fd = -1;
    *out = NULL;
    int rc = attach__open_proc_root(&proc_root_fd, options, err);
    if (rc != ATTACH_OK)
        return rc;
    int dir_fd = openat(proc_root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = dir_fd < 0 ? NULL : fdopendir(dir_fd);
    attach_jvm_list *list = calloc(1, sizeof(*list));
    if (dir == NULL)
        rc = attach__fail(err, ATTACH_ERR_IO, "cannot list the processes: %s", strerror(errno));
    else if (list == NULL)
        rc = attach__fail(err, ATTACH_ERR_NOMEM, "no memory for the list of JVMs");
    else
        rc = scan(list, dir, proc_root_fd, options, err);
    if (dir != NULL)
        (void)closedir(dir);
    else if (dir_fd >= 0)
        (void)close(dir_fd);
    (void)close(proc_root_fd);
    if (rc != ATTACH_OK) {
        attach_jvm_list_free(list);
        return rc;
    }
    *out = list;
    return ATTACH_OK;
}

size_t attach_jvm_list_count(const attach_jvm_list *list)
{
    return list->n;
}

const attach_jvm *attach_jvm_list_at(const attach_jvm_list *list, size_t index)
{
    return index < list->n ? &list->jvms[index] : NULL;
}

void attach_jvm_list_free(attach_jvm_list *list)
{
    if (list == NULL)
        return;
    free(list->jvms);
    free(list);
}
