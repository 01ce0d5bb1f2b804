/* SPDX-License-Identifier: Apache-2.0 */
/* The private part of an opened target. */
#ifndef ATTACH_TARGET_INTERNAL_H
#define ATTACH_TARGET_INTERNAL_H

#include "jvm/jvm_facts_impl.h"
#include "proc/proc_maps_impl.h"
#include "proc/proc_status_impl.h"
#include <attach/target.h>

struct attach_target {
    attach_identity identity;
    attach_jvm jvm; /* reason and detail unused */
    attach__flags flags;
    attach_ids ids;
    char root_path[ATTACH__PATH_MAX]; /* as attach__root_path; read while privileged */
    int proc_fd;                      /* /proc/PID: bound to the process, ESRCH once it is gone */
    int root_fd;                      /* O_PATH of its root */
    int cwd_fd;                       /* O_PATH of its working directory, or -1 */
    int maps_fd;                      /* opened while privileged, read again when needed */
    int mountinfo_fd;                 /* likewise */
    int pid_fd;                       /* -1 where the kernel has no pidfd */
};

/* Returns the process's current state letter; 'X' once it has exited. */
char attach__target_state(const attach_target *target);

/* Checks that the process is still the one that was opened; the error is process_exited or
 * identity_changed. */
int attach__target_check(const attach_target *target, attach_error *err);

/* Checks the same, and that the process is not stopped; the error is then target_stopped. */
int attach__target_check_running(const attach_target *target, attach_error *err);

/* Returns the error of a caller that waited until its deadline for a lock of another tool:
 * attach_timeout, or the reason why that tool gets no answer: process_exited, target_stopped. */
int attach__target_is_taken(const attach_target *target, attach_error *err);

/* Returns the error of a JVM whose JDK was deleted but is needed; `words` say for what. */
int attach__target_lacks_jdk(const attach_target *target, const char *words, attach_error *err);

/* Returns whether a thread of that name runs. The name is as the kernel shows it: at most 15
 * characters and a newline. */
bool attach__target_has_thread(const attach_target *target, const char *comm);

/* Reads the current maps. */
int attach__target_maps(attach__map_facts *out, const attach_target *target, attach_error *err);

/* Reads and parses /proc/<pid>/status. The caller frees the text with free(text->p), also after an
 * error. */
int attach__read_status(attach__blob *text, attach__status *out, int proc_fd, int32_t pid,
                        attach_error *err);

/* Reads a text whose file was opened together with the target; free with free(out->p). */
int attach__target_reread(attach__blob *out, int fd);

uint64_t attach__now_ns(void);

/* Reads the path of the process's root for this process; the maps name files below it. "" when both
 * have the same root, or the path is not accessible. */
void attach__root_path(char out[ATTACH__PATH_MAX], int proc_fd);

/* Reads boot_id of that proc root; an empty string when it is unreadable. */
void attach__boot_id(char out[40], int proc_root_fd);

/* Opens the proc_root of the options: *out is the descriptor; else an error with its message. */
int attach__open_proc_root(int *out, const attach_options *options, attach_error *err);

/* Returns the error for an errno of an access to /proc/<pid>/<what>. */
int attach__proc_error(attach_error *err, int error, int32_t pid, const char *what);

#endif
