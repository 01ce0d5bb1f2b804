/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/status (proc(5)): effective ids, groups, innermost pid, caught signals. */
#ifndef ATTACH_PROC_STATUS_H
#define ATTACH_PROC_STATUS_H

#include "files/text_impl.h"
#include <attach/target.h>

typedef struct attach__status {
    attach_ids ids;
    int32_t ns_pid;  /* the last of NSpid; Pid where the kernel writes no NSpid */
    uint64_t caught; /* SigCgt: bit n-1 = signal n */
} attach__status;

int attach__status_parse(attach__status *out, attach__span text, attach_error *err);
bool attach__status_catches(const attach__status *status, int signal);

#endif
