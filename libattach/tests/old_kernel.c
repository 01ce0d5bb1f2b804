/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program as on a kernel without openat2 and without pidfds: a seccomp filter answers ENOSYS
 * (an old kernel) or EPERM (an old container runtime) for them.
 *
 * usage: old_kernel ENOSYS|EPERM PROGRAM [ARGUMENT...]
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int missing_from_now_on(unsigned error)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_send_signal, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
    };
    struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};
    /* With CAP_SYS_ADMIN, PR_SET_NO_NEW_PRIVS is not needed. It would hide the effect of
     * set-user-id programs. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
        return 0;
    if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int main(int argc, char **argv)
{
    if (argc < 3 || (strcmp(argv[1], "ENOSYS") != 0 && strcmp(argv[1], "EPERM") != 0)) {
        (void)fprintf(stderr, "usage: old_kernel ENOSYS|EPERM PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    unsigned error = strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS;
    if (missing_from_now_on(error) != 0 || syscall(SYS_openat2, -1, "", NULL, 0) != -1 ||
        errno != (int)error) {
        perror("old_kernel: seccomp");
        return 1;
    }
    (void)execv(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
