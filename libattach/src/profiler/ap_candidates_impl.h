/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the places in a target's file system where a private directory may be created, the best
 * first. */
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
 * Lists the caller's directories, then /tmp, /var/tmp and the target's writable mounts from its
 * mountinfo. Mounts on a disk come before those in memory, because a tmpfs counts towards a pod's
 * memory limit; `/` is last. Mounts that could hang (network, FUSE) or that hold no files (procfs
 * and similar ones) are left out.
 */
void attach__candidates_list(attach__candidates *out, const attach_target *target,
                             const attach_ap_options *options);

/* Lists the same from a mountinfo text. */
void attach__candidates_from(attach__candidates *out, attach__span mountinfo,
                             const attach_ap_options *options);

#endif
