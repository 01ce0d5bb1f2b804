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

/* Takes the next mount; lines that are malformed or too long are passed over. False at the end. */
bool attach__mountinfo_next(attach__span *rest, attach__mount *out);

/* The type of the file system that an absolute path lies on: that of the longest mount point that
 * holds it, the last one mounted there. false when no mount does. */
bool attach__mount_type_of(char out[32], attach__span mountinfo, const char *path);

/* Whether reading that path may wait for a server: it is on a network or FUSE mount. */
bool attach__mount_could_hang(attach__span mountinfo, const char *path);

#endif
