#include "attach/jvm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_internal.h"
#include "proc_cgroup.h"
#include "proc_stat.h"
#include "target_internal.h"

#define SMALL_FILE_MAX ((size_t)64 << 10)
#define MAPS_MAX       ((size_t)64 << 20)
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
    *state = stat.state;
    return ATTACH_OK;
}

static int read_status(attach_jvm *out, int proc_fd, attach_error *err)
{
    attach__blob text;
    attach__status status;
    int rc = attach__read_proc(&text, proc_fd, "status", SMALL_FILE_MAX);
    if (rc != 0)
        return attach__proc_error(err, -rc, out->identity.pid, "status");
    rc = attach__status_parse(&status, attach__blob_span(&text), err);
    free(text.p);
    if (rc != ATTACH_OK)
        return rc;
    out->ns_pid = status.ns_pid;
    out->uid = status.ids.uid;
    out->gid = status.ids.gid;
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

static void read_cgroup(attach_jvm *out, int proc_fd)
{
    attach__blob text;
    if (attach__read_proc(&text, proc_fd, "cgroup", SMALL_FILE_MAX) != 0)
        return;
    attach__cgroup_read(out, attach__blob_span(&text));
    free(text.p);
}

static void read_cmdline(attach_jvm *out, attach__flags *flags, int proc_fd)
{
    attach__blob text;
    if (attach__read_proc(&text, proc_fd, "cmdline", SMALL_FILE_MAX) != 0)
        return;
    attach__cmdline_read(out, flags, attach__blob_span(&text));
    free(text.p);
}

static void read_root(attach_jvm *out, attach__flags *flags, int proc_fd)
{
    int root_fd = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0)
        return;
    attach__facts_from_root(out, flags, root_fd);
    (void)close(root_fd);
}

static void judge(attach_jvm *out, const attach__map_facts *maps, const attach__flags *flags,
                  char state)
{
    if (maps->openj9)
        set_reason(out, ATTACH_REASON_NOT_HOTSPOT,
                   "runs OpenJ9, which async-profiler cannot serve");
    else if (attach__state_is_stopped(state))
        set_reason(out, ATTACH_REASON_TARGET_STOPPED,
                   "is stopped by a signal or a debugger; kill -CONT continues it");
    else if (flags->attach_disabled)
        set_reason(out, ATTACH_REASON_ATTACH_DISABLED, "runs with -XX:+DisableAttachMechanism");
    else if (flags->agent_loading_disabled)
        set_reason(out, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED,
                   "runs with -XX:-EnableDynamicAgentLoading");
    else if (maps->external[0] != '\0') {
        out->reason = ATTACH_REASON_EXTERNAL_PROFILER;
        (void)snprintf(out->detail, sizeof(out->detail), "another profiler is loaded: %.200s",
                       maps->external);
    }
}

/* The maps' facts; false when the process is no JVM or may not be looked at (then *rc says which).
 */
static bool read_maps(attach__map_facts *out, int *rc, attach_jvm *jvm, int proc_fd,
                      attach_error *err)
{
    attach__blob text;
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
    attach__maps_read(out, attach__blob_span(&text));
    free(text.p);
    if (out->libjvm[0] != '\0' || out->openj9)
        return true;
    *rc = attach__refuse(err, ATTACH_REASON_NOT_HOTSPOT,
                         "process %d has no libjvm.so mapped: it is not a HotSpot JVM",
                         jvm->identity.pid);
    return false;
}

static int read_jvm(attach_jvm *out, int proc_fd, attach_error *err)
{
    attach__map_facts maps;
    attach__flags flags = {false, false};
    char state = 0;
    int rc = ATTACH_OK;
    if (!read_maps(&maps, &rc, out, proc_fd, err)) {
        if (rc != ATTACH_OK)
            return rc;
        read_cmdline(out, &flags, proc_fd);
        read_cgroup(out, proc_fd);
        rc = read_status(out, proc_fd, err);
        return rc == ATTACH_OK ? read_stat(out, &state, proc_fd, err) : rc;
    }
    attach__copy_text(out->libjvm, sizeof(out->libjvm),
                      attach__span_of(maps.libjvm, strlen(maps.libjvm)));
    out->libc = maps.libc;
    rc = read_status(out, proc_fd, err);
    if (rc == ATTACH_OK)
        rc = read_stat(out, &state, proc_fd, err);
    if (rc != ATTACH_OK)
        return rc;
    read_cmdline(out, &flags, proc_fd);
    read_root(out, &flags, proc_fd);
    read_cgroup(out, proc_fd);
    judge(out, &maps, &flags, state);
    return ATTACH_OK;
}

static int read_pid(attach_jvm *out, int32_t pid, int proc_root_fd, attach_error *err)
{
    char name[16];
    memset(out, 0, sizeof(*out));
    out->identity.pid = pid;
    (void)snprintf(name, sizeof(name), "%d", pid);
    int proc_fd = openat(proc_root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc_fd < 0)
        return attach__proc_error(err, errno, pid, "its directory");
    int rc = read_jvm(out, proc_fd, err);
    (void)close(proc_fd);
    return rc;
}

int attach_jvm_read(attach_jvm *out, int32_t pid, const attach_options *options, attach_error *err)
{
    int proc_root_fd = -1;
    int rc = attach__open_proc_root(&proc_root_fd, options, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = read_pid(out, pid, proc_root_fd, err);
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
            return ATTACH_E_NOMEM;
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

static int scan(attach_jvm_list *list, DIR *dir, int proc_root_fd, attach_error *err)
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
        if (read_pid(&jvm, (int32_t)pid, proc_root_fd, NULL) != ATTACH_OK)
            continue;
        memcpy(jvm.identity.boot_id, boot_id, sizeof(boot_id));
        if (append(list, &jvm) != ATTACH_OK)
            return attach__fail(err, ATTACH_E_NOMEM, "no memory for the list of JVMs");
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
        rc = attach__fail(err, ATTACH_E_IO, "cannot list the processes: %s", strerror(errno));
    else if (list == NULL)
        rc = attach__fail(err, ATTACH_E_NOMEM, "no memory for the list of JVMs");
    else
        rc = scan(list, dir, proc_root_fd, err);
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
