/* SPDX-License-Identifier: Apache-2.0 */
/* Checks once, at the start, what this process lacks to serve the JVMs of its host. */
#ifndef ATTACHD_ADAPTERS_SELF_CHECK_H
#define ATTACHD_ADAPTERS_SELF_CHECK_H

#include <localrpc/message.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The findings; none = nothing is missing. */
typedef struct self_check {
    size_t count;
    local_finding findings[LOCAL_FINDINGS_MAX];
} self_check;

typedef struct self_facts {
    const char *proc_root;
    bool is_procfs;
    unsigned uid;
    uint64_t capabilities;  /* effective capabilities, one bit each */
    bool own_pid_namespace; /* in another namespace than the host's first one */
    char hidepid[16];       /* mount option of proc_root; "" = nothing is hidden */
    bool first_refused;     /* the kernel does not let us examine the namespace's process 1 */
    char confinement[128];  /* the profile of a security module; "" = unconfined */
    bool openat2_refused;   /* a seccomp filter refuses the call; likewise for pidfd_open */
    bool pidfd_refused;
} self_facts;

/* Reads the facts from the kernel; proc_root "" = /proc. The facts borrow proc_root. */
void self_facts_read(self_facts *out, const char *proc_root);

/* Derives the findings from the facts. Pure. */
void self_check_judge(self_check *out, const self_facts *facts);

/* Gets the value of hidepid of the last mount at `path` in a text of /proc/PID/mountinfo, or "" if
 * that hides nothing. Pure. */
void self_check_hidepid(char out[16], const char *mountinfo, const char *path);

#endif
