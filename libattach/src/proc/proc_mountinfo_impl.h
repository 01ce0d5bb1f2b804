/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/mountinfo (proc(5)): the target's mounts. */
#ifndef ATTACH_PROC_MOUNTINFO_H
#define ATTACH_PROC_MOUNTINFO_H

#include "files/text_impl.h"
#include <attach/error.h>

#define ATTACH__MOUNT_PATH_MAX 512

typedef struct attach__mount {
    char path[ATTACH__MOUNT_PATH_MAX]; /* unescaped */
    char fstype[32];
    bool read_only; /* the mount or its file system */
    bool noexec;
} attach__mount;

/* Takes the next mount; malformed and too long lines are ignored. False at the end. */
bool attach__mountinfo_next(attach__span *rest, attach__mount *out);

/* Finds the type of the file system of an absolute path: that of the longest mount point above it
 * and, of several mounts there, the last. False when there is none. */
bool attach__mount_type_of(char out[32], attach__span mountinfo, const char *path);

/* Returns whether reading that path may wait for a server: it is on a network or FUSE mount. */
bool attach__mount_could_hang(attach__span mountinfo, const char *path);

#endif
