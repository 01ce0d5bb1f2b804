/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM opened for attach operations: descriptors that stay bound to that one process. */
#ifndef ATTACH_TARGET_H
#define ATTACH_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include <attach/error.h>
#include <attach/jvm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest number of supplementary groups of a target that is kept. */
#define ATTACH_GROUPS_MAX 64

typedef struct attach_target attach_target;

/* The ids under which the target works, as this host sees them. */
typedef struct attach_ids {
    uint32_t uid;
    uint32_t gid;
    size_t n_groups;
    uint32_t groups[ATTACH_GROUPS_MAX];
} attach_ids;

/*
 * Opens the process that `identity` names: its procfs directory, root (O_PATH), maps, mountinfo and
 * a pidfd. The boot id and start time are checked once all are open, so the descriptors belong to
 * that process and not to a later one of the same pid. This step needs privilege (CAP_SYS_PTRACE
 * for another user's JVM). Afterwards a caller that is root changes to attach_target_ids(), and all
 * other functions work under those ids. With an empty boot_id or start_ticks 0, the process that
 * has the pid now is opened.
 *
 * Returns 0 or ATTACH_ERR_TARGET with process_exited, identity_changed, permission_denied or
 * not_hotspot; ATTACH_ERR_USAGE, ATTACH_ERR_NOMEM. *out: caller frees with attach_target_close. A
 * target belongs to one thread at a time.
 */
ATTACH_EXPORT ATTACH_MUST_USE int attach_target_open(attach_target **out,
                                                     const attach_identity *identity,
                                                     const attach_options *options,
                                                     attach_error *err);
ATTACH_EXPORT void attach_target_close(attach_target *target);

/* Both return a pointer that is borrowed until attach_target_close. */
ATTACH_EXPORT const attach_identity *attach_target_identity(const attach_target *target);
ATTACH_EXPORT const attach_ids *attach_target_ids(const attach_target *target);

/* Returns CLOCK_MONOTONIC now plus `milliseconds`, in ns: the form of every deadline_ns in this
 * library. */
ATTACH_EXPORT uint64_t attach_deadline_in(uint64_t milliseconds);

#ifdef __cplusplus
}
#endif

#endif
