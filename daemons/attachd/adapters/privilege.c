/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned kept[] = {CAP_SYS_PTRACE, CAP_KILL, CAP_SETUID, CAP_SETGID};

static uint64_t kept_mask(void)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        mask |= UINT64_C(1) << kept[i];
    return mask;
}

static int fail(char *message, size_t size, const char *what)
{
    (void)snprintf(message, size, "cannot %s: %s", what, strerror(errno));
    return -1;
}

static int drop_bounding_set(void)
{
    for (unsigned capability = 0; capability < 64; capability++) {
        int held = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
        if (held < 0) /* after the last capability that this kernel knows */
            return 0;
        bool keep = (kept_mask() & (UINT64_C(1) << capability)) != 0;
        if (held == 1 && !keep && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
            return -1;
    }
    return 0;
}

static int set_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &header, data) != 0)
        return -1;
    for (unsigned half = 0; half < 2; half++) {
        data[half].permitted &= (uint32_t)(kept_mask() >> (32 * half));
        data[half].effective = data[half].permitted;
        data[half].inheritable = 0;
    }
    return (int)syscall(SYS_capset, &header, data);
}

int privilege_drop(char *message, size_t size)
{
    if (geteuid() == 0) {
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
            return fail(message, size, "clear the ambient capabilities");
        if (drop_bounding_set() != 0 && errno != EPERM)
            return fail(message, size, "drop capabilities from the bounding set");
        if (set_capabilities() != 0)
            return fail(message, size, "drop capabilities");
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fail(message, size, "set no_new_privs");
    return 0;
}
