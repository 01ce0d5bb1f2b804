/* SPDX-License-Identifier: Apache-2.0 */
/* Hotstack's private directory in a target's file system, and the files in it. */
#ifndef ATTACH_AP_PLACE_H
#define ATTACH_AP_PLACE_H

#include "jvm/target_impl.h"
#include "profiler/ap_marker_impl.h"

#define ATTACH__PLACE_PATH_MAX 256
#define ATTACH__PLACE_NAME_MAX 64

/* All files that Hotstack creates there. It removes no others. */
#define ATTACH__FILE_RECORDING "recording.jfr"
#define ATTACH__FILE_LOG       "log"
#define ATTACH__FILE_STATUS    "status"
#define ATTACH__FILE_MARKER    "session"
#define ATTACH__FILE_MARKER_2  "session.new"
#define ATTACH__FILE_SETTINGS  "settings.jfc" /* for the JDK's recorder */
#define ATTACH__FILE_EXPIRED   "expired.jfr"  /* its recording, when it ended by itself */

typedef struct attach__place {
    int fd;    /* -1 = none */
    bool made; /* created by this call */
    char path[ATTACH__PLACE_PATH_MAX];
} attach__place;

void attach__place_close(attach__place *place);

/* Returns in a word or two why no directory can be created at that absolute path; NULL when one
 * can. Asks the file system and changes nothing. */
const char *attach__place_objection(const attach_target *target, const char *path, bool needs_exec);

/* Opens an existing private directory at that absolute path: it belongs to the target's user, and
 * no other user may enter it. Returns 0 or -errno; -EPERM when it belongs to another user. */
int attach__place_open(attach__place *out, const attach_target *target, const char *path);

/* Waits until until_ns for the lock of an open file or directory. Returns 0, -EWOULDBLOCK when
 * another process still has the lock, or another -errno. */
int attach__lock_until(int fd, uint64_t until_ns);

/* Returns whether the open directory still has a name: it may have been removed while the caller
 * waited for its lock. */
bool attach__place_is_linked(const attach__place *place);

/* Opens the directory called `name` in the first candidate that has it; -ENOENT when none has. */
int attach__place_find(attach__place *out, const attach_target *target,
                       const attach_ap_options *options, const char *name);

/* Opens the private directory of any installation whose marker names this very process; name[] gets
 * its last component. -ENOENT when there is none. */
int attach__place_find_marked(attach__place *out, char name[ATTACH__PLACE_NAME_MAX],
                              const attach_target *target, const attach_ap_options *options);

/*
 * Creates a directory called `name` with mode 0700, in `first` (may be NULL), else in the first
 * candidate in which that works; needs_exec requires a mount that can execute files. Errors:
 * no_exec_dir with the mounts tried, disk_full.
 */
int attach__place_create(attach__place *out, const attach_target *target,
                         const attach_ap_options *options, const char *first, const char *name,
                         bool needs_exec, attach_error *err);

/* Makes a new name, "hotstack-<id>-<16 random hex digits>". */
int attach__place_new_name(char out[ATTACH__PLACE_NAME_MAX], const char *installation,
                           attach_error *err);

/* Removes Hotstack's files and the directory, and closes it. keep_library keeps the library, and
 * the marker that protects the library from a sweep. */
void attach__place_remove(attach__place *place, const attach_target *target, bool keep_library);

/* Removes the empty directory by its name from its parent. */
void attach__place_remove_directory(const attach__place *place, const attach_target *target);

/* Returns a number that identifies the pid namespace in which `target` was found: the start time of
 * its first process. 0 = not known. */
uint64_t attach__namespace_id(const attach_target *target);

/* Returns whether the marker's JVM has certainly ended. The marker of another installation may hold
 * a pid of another namespace, which proves nothing. */
bool attach__marker_is_outlived(const attach__marker *marker, const attach_target *target,
                                const char *installation);

/* Read and write the marker. They return -errno; -EINVAL when it cannot be parsed. */
int attach__place_read_marker(attach__marker *out, const attach__place *place);
int attach__place_write_marker(const attach__place *place, const attach__marker *marker);

/*
 * Removes leftover directories in every candidate: those of this installation, by name or by
 * marker, that belong to this JVM and are not called `keep` (NULL = all); and those of any
 * installation whose JVM has ended, or that have had no marker for 10 minutes.
 */
void attach__place_sweep(const attach_target *target, const attach_ap_options *options,
                         const char *keep);

#endif
