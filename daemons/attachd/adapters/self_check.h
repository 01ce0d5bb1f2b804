/* SPDX-License-Identifier: Apache-2.0 */
/* What this process lacks to serve the JVMs of its host: looked for once, at the start. */
#ifndef ATTACHD_ADAPTERS_SELF_CHECK_H
#define ATTACHD_ADAPTERS_SELF_CHECK_H

#include <localrpc/message.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* None = nothing is missing. */
typedef struct self_check {
    size_t count;
    local_finding findings[LOCAL_FINDINGS_MAX];
} self_check;

typedef struct self_facts {
    const char *proc_root;
    bool is_procfs;
    unsigned uid;
    uint64_t capabilities;  /* effective, a bit each */
    bool own_pid_namespace; /* not the one that the host began with */
    char hidepid[16];       /* mount option of proc_root; "" = none that hides */
    bool first_refused;     /* the kernel refuses to look into its process 1 */
    char confinement[128];  /* the profile of a security module; "" = unconfined */
    bool openat2_refused;   /* by a seccomp filter; the same of pidfd_open */
    bool pidfd_refused;
} self_facts;

/* Asks the kernel; proc_root "" = /proc, which is borrowed by the facts. */
void self_facts_read(self_facts *out, const char *proc_root);

/* Pure. */
void self_check_judge(self_check *out, const self_facts *facts);

/* The value of hidepid of the last mount at `path` in a text of /proc/PID/mountinfo, where it hides
 * anything; else "". Pure. */
void self_check_hidepid(char out[16], const char *mountinfo, const char *path);

#endif
