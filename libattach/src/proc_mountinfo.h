/* /proc/PID/mountinfo (proc(5)): the target's mounts. */
#ifndef ATTACH_PROC_MOUNTINFO_H
#define ATTACH_PROC_MOUNTINFO_H

#include "attach/error.h"
#include "text.h"

#define ATTACH__MOUNT_PATH_MAX 512

typedef struct attach__mount {
    char path[ATTACH__MOUNT_PATH_MAX]; /* unescaped */
    char fstype[32];
    bool read_only; /* the mount or its file system */
    bool noexec;
} attach__mount;

/* Takes the next mount; lines that are malformed or too long are passed over. False at the end. */
bool attach__mountinfo_next(attach__span *rest, attach__mount *out);

#endif
