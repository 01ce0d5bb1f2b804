/* SPDX-License-Identifier: Apache-2.0 */
/* Our private directory in a target's file system, and the files in it. */
#ifndef ATTACH_AP_PLACE_H
#define ATTACH_AP_PLACE_H

#include "jvm/target_impl.h"
#include "profiler/ap_marker_impl.h"

#define ATTACH__PLACE_PATH_MAX 256
#define ATTACH__PLACE_NAME_MAX 64

/* What we ever create there; nothing else is ever removed. */
#define ATTACH__FILE_RECORDING "recording.jfr"
#define ATTACH__FILE_LOG       "log"
#define ATTACH__FILE_STATUS    "status"
#define ATTACH__FILE_MARKER    "session"
#define ATTACH__FILE_MARKER_2  "session.new"
#define ATTACH__FILE_SETTINGS  "settings.jfc" /* of the JDK's recorder */
#define ATTACH__FILE_EXPIRED   "expired.jfr"  /* what it wrote when its time was over */

typedef struct attach__place {
    int fd;    /* -1 = none */
    bool made; /* by this call, and not found there */
    char path[ATTACH__PLACE_PATH_MAX];
} attach__place;

void attach__place_close(attach__place *place);

/* Why no directory can be made at that absolute path, a word or two; NULL when one can. Asks the
 * file system and changes nothing. */
const char *attach__place_objection(const attach_target *target, const char *path, bool needs_exec);

/* Opens an existing directory of ours at that absolute path: a directory of the target's user that
 * no other user may enter. 0 or -errno; -EPERM for one that belongs to another user. */
int attach__place_open(attach__place *out, const attach_target *target, const char *path);

/* Waits for the lock of an open file or directory, at most until then. 0, -EWOULDBLOCK when
 * another process still has it, or another -errno. */
int attach__lock_until(int fd, uint64_t until_ns);

/* Whether the open directory still has a name: it may have been removed while the caller waited for
 * its lock. */
bool attach__place_is_linked(const attach__place *place);

/* Opens the directory called `name` in the first candidate that has it; -ENOENT when none has. */
int attach__place_find(attach__place *out, const attach_target *target,
                       const attach_ap_options *options, const char *name);

/* Opens the directory of ours, whichever installation's, whose marker names this very process;
 * name[] gets its last component. -ENOENT when there is none. */
int attach__place_find_marked(attach__place *out, char name[ATTACH__PLACE_NAME_MAX],
                              const attach_target *target, const attach_ap_options *options);

/*
 * Creates a directory called `name`, 0700, in `first` (may be NULL), else in the first candidate
 * that takes it: needs_exec asks for a mount that runs code. Errors: no_exec_dir with the mounts
 * tried, disk_full.
 */
int attach__place_create(attach__place *out, const attach_target *target,
                         const attach_ap_options *options, const char *first, const char *name,
                         bool needs_exec, attach_error *err);

/* "hotstack-<id>-<16 random hex digits>" */
int attach__place_new_name(char out[ATTACH__PLACE_NAME_MAX], const char *installation,
                           attach_error *err);

/* Removes our files and the directory, and closes it. keep_library leaves the library, and the
 * marker that keeps a sweep off it. */
void attach__place_remove(attach__place *place, const attach_target *target, bool keep_library);

/* Removes the empty directory by its name from its parent. */
void attach__place_remove_directory(const attach__place *place, const attach_target *target);

/* Tells pid namespaces apart: when the first process of the one that `target` was found in began.
 * 0 = not known. */
uint64_t attach__namespace_id(const attach_target *target);

/* Whether the marker's JVM is gone for sure. What another installation wrote may speak of pids of
 * another namespace, which say nothing here. */
bool attach__marker_is_outlived(const attach__marker *marker, const attach_target *target,
                                const char *installation);

/* Marker access. -errno, or -EINVAL for one that cannot be parsed. */
int attach__place_read_marker(attach__marker *out, const attach__place *place);
int attach__place_write_marker(const attach__place *place, const attach__marker *marker);

/*
 * Removes directories in every candidate: of this installation, by name or by marker, those of
 * this JVM that are not called `keep` (NULL = all of them); of any, those whose JVM is gone, and
 * those that got no marker for 10 minutes.
 */
void attach__place_sweep(const attach_target *target, const attach_ap_options *options,
                         const char *keep);

#endif
