/* SPDX-License-Identifier: Apache-2.0 */
/* An opened target, as the files that use one see it. */
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
    int pid_fd;                       /* -1 where the kernel has none */
};

/* The process's state letter now, 'X' once it is gone. */
char attach__target_state(const attach_target *target);

/* Whether the process still is the one that was opened; fills err with process_exited. */
int attach__target_check(const attach_target *target, attach_error *err);

/* The same, and that it runs; fills err with target_stopped otherwise. */
int attach__target_check_running(const attach_target *target, attach_error *err);

/* The error of a caller that waited in vain for the lock that another tool holds: attach_timeout,
 * or why that tool gets no answer: process_exited, target_stopped. */
int attach__target_is_taken(const attach_target *target, attach_error *err);

/* The error of a JVM whose JDK was deleted and is needed: `words` say for what. */
int attach__target_lacks_jdk(const attach_target *target, const char *words, attach_error *err);

/* Whether a thread of that name runs; the name as the kernel shows it, 15 characters and a newline.
 */
bool attach__target_has_thread(const attach_target *target, const char *comm);

/* Reads the maps as they are now. */
int attach__target_maps(attach__map_facts *out, const attach_target *target, attach_error *err);

/* Reads and parses /proc/<pid>/status; the text too: free(text->p), also after an error. */
int attach__read_status(attach__blob *text, attach__status *out, int proc_fd, int32_t pid,
                        attach_error *err);

/* Reads a text that was opened when the target was; free with free(out->p). */
int attach__target_reread(attach__blob *out, int fd);

uint64_t attach__now_ns(void);

/* Where the process's root lies, as this process sees it: maps name files below it. "" when both
 * have the same root, or it may not be told. */
void attach__root_path(char out[ATTACH__PATH_MAX], int proc_fd);

/* boot_id of that proc root; an empty string when unreadable. */
void attach__boot_id(char out[40], int proc_root_fd);

/* Opens options' proc_root: the descriptor or an error with its sentence. */
int attach__open_proc_root(int *out, const attach_options *options, attach_error *err);

/* The error for an errno met on /proc/<pid>/<what>. */
int attach__proc_error(attach_error *err, int error, int32_t pid, const char *what);

#endif
