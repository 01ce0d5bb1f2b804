/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a target's file system a directory of ours may be made, best place first. */
#ifndef ATTACH_AP_CANDIDATES_H
#define ATTACH_AP_CANDIDATES_H

#include "profiler/ap_place_impl.h"

#define ATTACH__CANDIDATES_MAX 48
#define ATTACH__CANDIDATE_PATH 160

typedef struct attach__candidates {
    size_t n;
    char paths[ATTACH__CANDIDATES_MAX][ATTACH__CANDIDATE_PATH];
} attach__candidates;

/*
 * The caller's own directories, then /tmp, /var/tmp and the target's writable mounts from its
 * mountinfo: those on a disk before those in memory (tmpfs counts in a pod's memory limit), `/`
 * last. Mounts that could hang us (network, FUSE) or hold no files (procfs and its like) are not
 * among them.
 */
void attach__candidates_list(attach__candidates *out, const attach_target *target,
                             const attach_ap_options *options);

/* The same from a mountinfo text. */
void attach__candidates_from(attach__candidates *out, attach__span mountinfo,
                             const attach_ap_options *options);

#endif
