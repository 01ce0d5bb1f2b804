/* SPDX-License-Identifier: Apache-2.0 */
#include <attach/target.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "error_impl.h"
#include "jvm/target_impl.h"
#include "proc/proc_stat_impl.h"

#define SMALL_FILE_MAX ((size_t)64 << 10)
#define MAPS_MAX       ((size_t)64 << 20)
#define ENVIRON_MAX    ((size_t)1 << 20)

uint64_t attach__now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t attach_deadline_in(uint64_t milliseconds)
{
    uint64_t now = attach__now_ns();
    return milliseconds > (UINT64_MAX - now) / 1000000u ? UINT64_MAX
                                                        : now + milliseconds * 1000000u;
}

const attach_identity *attach_target_identity(const attach_target *target)
{
    return &target->identity;
}

const attach_ids *attach_target_ids(const attach_target *target)
{
    return &target->ids;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

void attach_target_close(attach_target *target)
{
    if (target == NULL)
        return;
    close_if_open(target->proc_fd);
    close_if_open(target->root_fd);
    close_if_open(target->cwd_fd);
    close_if_open(target->maps_fd);
    close_if_open(target->mountinfo_fd);
    close_if_open(target->pid_fd);
    free(target);
}

static int read_stat(attach__stat *out, const attach_target *target)
{
    attach__blob text;
    int rc = attach__read_proc(&text, target->proc_fd, "stat", SMALL_FILE_MAX);
    if (rc != 0)
        return rc;
    rc = attach__stat_parse(out, attach__blob_span(&text), NULL) == ATTACH_OK ? 0 : -EINVAL;
    free(text.p);
    return rc;
}

char attach__target_state(const attach_target *target)
{
    attach__stat stat;
    return read_stat(&stat, target) == 0 ? stat.state : 'X';
}

/* Reads the process's state. Errors as attach__target_check. */
static int check(attach__stat *stat, const attach_target *target, attach_error *err)
{
    int rc = read_stat(stat, target);
    if (rc != 0 || attach__state_is_dead(stat->state))
        return attach__refuse(err, ATTACH_REASON_PROCESS_EXITED, "process %d has exited",
                              target->identity.pid);
    if (stat->start_ticks != target->identity.start_ticks)
        return attach__refuse(err, ATTACH_REASON_IDENTITY_CHANGED,
                              "pid %d now belongs to another process", target->identity.pid);
    return ATTACH_OK;
}

int attach__target_check(const attach_target *target, attach_error *err)
{
    attach__stat stat;
    return check(&stat, target, err);
}

int attach__target_check_running(const attach_target *target, attach_error *err)
{
    attach__stat stat;
    int rc = check(&stat, target, err);
    if (rc != ATTACH_OK || !attach__state_is_stopped(stat.state))
        return rc;
    return attach__refuse(err, ATTACH_REASON_TARGET_STOPPED,
                          "process %d is stopped by a signal or a debugger and cannot answer; "
                          "kill -CONT %d continues it",
                          target->identity.pid, target->identity.pid);
}

int attach__target_is_taken(const attach_target *target, attach_error *err)
{
    int rc = attach__target_check_running(target, err);
    if (rc != ATTACH_OK)
        return rc;
    return attach__refuse(err, ATTACH_REASON_ATTACH_TIMEOUT,
                          "another Hotstack program is working on process %d",
                          target->identity.pid);
}

int attach__target_lacks_jdk(const attach_target *target, const char *words, attach_error *err)
{
    return attach__refuse(err, ATTACH_REASON_JDK_DELETED,
                          "the JDK of process %d was deleted while it runs (%.80s): %s",
                          target->identity.pid, target->jvm.libjvm, words);
}

int attach__target_reread(attach__blob *out, int fd)
{
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    return attach__read_fd(out, fd, MAPS_MAX);
}

int attach__target_maps(attach__map_facts *out, const attach_target *target, attach_error *err)
{
    attach__blob text = {0};
    int rc = attach__target_reread(&text, target->maps_fd);
    if (rc != 0)
        return attach__proc_error(err, -rc, target->identity.pid, "maps");
    /* the maps of an exited process are empty */
    if (text.n == 0) {
        free(text.p);
        return attach__refuse(err, ATTACH_REASON_PROCESS_EXITED, "process %d has exited",
                              target->identity.pid);
    }
    attach__maps_read(out, attach__blob_span(&text), target->root_path);
    free(text.p);
    return ATTACH_OK;
}

bool attach__target_has_thread(const attach_target *target, const char *comm)
{
    bool found = false;
    int task_fd = openat(target->proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *tasks = task_fd < 0 ? NULL : fdopendir(task_fd);
    if (tasks == NULL) {
        if (task_fd >= 0)
            (void)close(task_fd);
        return false;
    }
    const struct dirent *entry;
    while (!found && (entry = readdir(tasks)) != NULL) {
        char path[NAME_MAX + 8];
        attach__blob name;
        (void)snprintf(path, sizeof(path), "%s/comm", entry->d_name);
        if (entry->d_name[0] == '.' || attach__read_proc(&name, task_fd, path, 64) != 0)
            continue;
        found = attach__span_is(attach__blob_span(&name), comm);
        free(name.p);
    }
    (void)closedir(tasks);
    return found;
}

static int open_in_proc(int *out, const attach_target *target, const char *name, int flags,
                        attach_error *err)
{
    *out = openat(target->proc_fd, name, flags | O_CLOEXEC | O_NOCTTY);
    if (*out < 0)
        return attach__proc_error(err, errno, target->identity.pid, name);
    return ATTACH_OK;
}

static int open_files(attach_target *target, attach_error *err)
{
    int rc = open_in_proc(&target->root_fd, target, "root", O_PATH | O_DIRECTORY, err);
    if (rc == ATTACH_OK)
        rc = open_in_proc(&target->maps_fd, target, "maps", O_RDONLY, err);
    if (rc == ATTACH_OK)
        rc = open_in_proc(&target->mountinfo_fd, target, "mountinfo", O_RDONLY, err);
    attach__root_path(target->root_path, target->proc_fd);
    target->cwd_fd = openat(target->proc_fd, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return rc;
}

int attach__read_status(attach__blob *text, attach__status *out, int proc_fd, int32_t pid,
                        attach_error *err)
{
    *out = (attach__status){0};
    int rc = attach__read_proc(text, proc_fd, "status", SMALL_FILE_MAX);
    if (rc != 0)
        return attach__proc_error(err, -rc, pid, "status");
    return attach__status_parse(out, attach__blob_span(text), err);
}

static int read_status(attach_target *target, attach_error *err)
{
    attach__blob text;
    attach__status status;
    int rc = attach__read_status(&text, &status, target->proc_fd, target->identity.pid, err);
    free(text.p);
    if (rc != ATTACH_OK)
        return rc;
    target->ids = status.ids;
    target->jvm.ns_pid = status.ns_pid;
    target->jvm.uid = status.ids.uid;
    target->jvm.gid = status.ids.gid;
    return ATTACH_OK;
}

static int check_is_hotspot(attach_target *target, attach_error *err)
{
    attach__map_facts facts = {0};
    int rc = attach__target_maps(&facts, target, err);
    if (rc != ATTACH_OK)
        return rc;
    if (facts.openj9 || facts.libjvm[0] == '\0')
        return attach__refuse(err, ATTACH_REASON_NOT_HOTSPOT, "process %d %s", target->identity.pid,
                              facts.openj9 ? "runs OpenJ9, which async-profiler cannot serve"
                                           : "has no libjvm.so mapped: it is not a HotSpot JVM");
    attach__copy_text(target->jvm.libjvm, sizeof(target->jvm.libjvm),
                      attach__span_of(facts.libjvm, strlen(facts.libjvm)));
    target->jvm.libc = facts.libc;
    attach__blob mountinfo = {NULL, 0};
    if (attach__target_reread(&mountinfo, target->mountinfo_fd) != 0)
        mountinfo = (attach__blob){NULL, 0};
    target->jvm.jdk_deleted =
        attach__jdk_is_deleted(&facts, target->root_fd, attach__blob_span(&mountinfo));
    free(mountinfo.p);
    return ATTACH_OK;
}

static int check_identity(attach_target *target, const attach_identity *wanted, int proc_root_fd,
                          attach_error *err)
{
    attach__stat stat;
    attach__boot_id(target->identity.boot_id, proc_root_fd);
    if (read_stat(&stat, target) != 0 || attach__state_is_dead(stat.state))
        return attach__refuse(err, ATTACH_REASON_PROCESS_EXITED, "process %d has exited",
                              wanted->pid);
    target->identity.start_ticks = stat.start_ticks;
    bool other_boot =
        wanted->boot_id[0] != '\0' && strncmp(wanted->boot_id, target->identity.boot_id, 40) != 0;
    bool other_start = wanted->start_ticks != 0 && wanted->start_ticks != stat.start_ticks;
    if (other_boot || other_start)
        return attach__refuse(err, ATTACH_REASON_IDENTITY_CHANGED,
                              "pid %d now belongs to a process started at another time: list the "
                              "JVMs again",
                              wanted->pid);
    return ATTACH_OK;
}

/* Reads the flags in the order in which the JVM does, as attach_jvm_read. */
static void read_flags(attach_target *target)
{
    attach__blob text, environment;
    char program[ATTACH__PROGRAM_MAX];
    if (attach__read_proc(&environment, target->proc_fd, "environ", ENVIRON_MAX) != 0)
        environment = (attach__blob){NULL, 0};
    attach__span variables = attach__blob_span(&environment);
    attach__flags_note_variable(&target->flags, variables, "JAVA_TOOL_OPTIONS");
    attach__flags_note_variable(&target->flags, variables, "JDK_JAVA_OPTIONS");
    if (attach__read_proc(&text, target->proc_fd, "cmdline", SMALL_FILE_MAX) == 0) {
        attach__program_read(program, target->proc_fd);
        attach__cmdline_read(&target->jvm, &target->flags, attach__blob_span(&text), program);
        free(text.p);
    }
    attach__flags_note_variable(&target->flags, variables, "_JAVA_OPTIONS");
    if (environment.p != NULL)
        explicit_bzero(environment.p, environment.n);
    free(environment.p);
}

static int fill(attach_target *target, const attach_identity *identity, int proc_root_fd,
                attach_error *err)
{
    char name[16];
    target->identity.pid = identity->pid;
    (void)snprintf(name, sizeof(name), "%d", identity->pid);
    target->proc_fd = openat(proc_root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (target->proc_fd < 0)
        return attach__proc_error(err, errno, identity->pid, "its directory");
    target->pid_fd = (int)syscall(SYS_pidfd_open, identity->pid, 0);
    int rc = open_files(target, err);
    if (rc == ATTACH_OK)
        rc = read_status(target, err);
    if (rc == ATTACH_OK)
        rc = check_identity(target, identity, proc_root_fd, err);
    if (rc == ATTACH_OK)
        rc = check_is_hotspot(target, err);
    if (rc == ATTACH_OK)
        read_flags(target);
    return rc;
}

int attach_target_open(attach_target **out, const attach_identity *identity,
                       const attach_options *options, attach_error *err)
{
    int proc_root_fd = -1;
    *out = NULL;
    if (identity == NULL || identity->pid <= 0)
        return attach__fail(err, ATTACH_ERR_USAGE, "a target's pid must be greater than 0");
    int rc = attach__open_proc_root(&proc_root_fd, options, err);
    if (rc != ATTACH_OK)
        return rc;
    attach_target *target = calloc(1, sizeof(*target));
    if (target == NULL) {
        (void)close(proc_root_fd);
        return attach__fail(err, ATTACH_ERR_NOMEM, "no memory for a target");
    }
    target->proc_fd = target->root_fd = target->cwd_fd = -1;
    target->maps_fd = target->mountinfo_fd = target->pid_fd = -1;
    rc = fill(target, identity, proc_root_fd, err);
    (void)close(proc_root_fd);
    if (rc != ATTACH_OK) {
        attach_target_close(target);
        return rc;
    }
    *out = target;
    return ATTACH_OK;
}
