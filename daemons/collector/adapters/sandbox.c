/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox.h"

#include <base/log.h>
#include <base/thread.h>
#include <errno.h>
#include <pthread.h>
#include <seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The calls that the collector, libcurl with GnuTLS, nng, libmicrohttpd and the C library make in
 * the tests, and the calls that replace some of them on the other supported CPU. */
static const char *const allowed[] = {
    /* memory, threads, time */
    "brk",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "madvise",
    "futex",
    "clone",
    "clone3",
    "exit",
    "exit_group",
    "set_robust_list",
    "rseq",
    "sched_yield",
    "sched_getaffinity",
    "gettid",
    "getpid",
    "getppid",
    "tgkill",
    "membarrier",
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "getrandom",
    "restart_syscall",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigtimedwait",
    "sigaltstack",
    "prlimit64",
    "getrusage",
    "sysinfo",
    "uname",
    "prctl",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "setpriority",
    "getpriority",
    /* files */
    "open",
    "openat",
    "close",
    "read",
    "write",
    "pread64",
    "pwrite64",
    "readv",
    "writev",
    "lseek",
    "stat",
    "fstat",
    "lstat",
    "newfstatat",
    "statx",
    "statfs",
    "fstatfs",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getdents64",
    "getcwd",
    "mkdir",
    "mkdirat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "chmod",
    "fchmod",
    "fchmodat",
    "umask",
    "ftruncate",
    "fallocate",
    "fadvise64",
    "fsync",
    "fdatasync",
    "utimensat",
    "flock",
    "fcntl",
    "dup",
    "dup2",
    "dup3",
    "ioctl",
    "memfd_create",
    "inotify_init1",
    "inotify_add_watch",
    "inotify_rm_watch",
    "pipe",
    "pipe2",
    /* waiting */
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "eventfd2",
    "signalfd4",
    "timerfd_create",
    "timerfd_settime",
    /* network */
    "socket",
    "socketpair",
    "connect",
    "bind",
    "listen",
    "accept",
    "accept4",
    "shutdown",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "getsockname",
    "getpeername",
    "getsockopt",
    "setsockopt",
    "sendfile",
};

static atomic_uint_fast64_t refusals;

uint64_t sandbox_refusals(void)
{
    return atomic_load(&refusals);
}

static void tell(int number, uint32_t architecture)
{
    enum { NUMBERS = 1024 };
    static bool told[NUMBERS];
    atomic_fetch_add(&refusals, 1);
    if (number >= 0 && number < NUMBERS && told[number])
        return;
    if (number >= 0 && number < NUMBERS)
        told[number] = true;
    char *name = seccomp_syscall_resolve_num_arch(architecture, number);
    log_line("the system call %s (%d) was refused by the collector's seccomp filter; if something "
             "fails for it, set sandbox to false and report it",
             name != NULL ? name : "of an unknown name", number);
    free(name);
}

/* The kernel's questions about calls that the filter stops. */
typedef struct questions {
    int listener;
    struct seccomp_notif *asked;
    struct seccomp_notif_resp *reply;
} questions;

static void *answer(void *argument)
{
    const questions *self = argument;
    for (;;) {
        memset(self->asked, 0, sizeof(*self->asked));
        if (seccomp_notify_receive(self->listener, self->asked) != 0)
            continue; /* the caller was interrupted and no longer waits */
        *self->reply = (struct seccomp_notif_resp){.id = self->asked->id, .error = -EPERM};
        (void)seccomp_notify_respond(self->listener, self->reply);
        tell(self->asked->data.nr, self->asked->data.arch);
    }
    return NULL;
}

/* Loads the filter; `otherwise` is the action for calls outside the list. Returns 0 or a negative
 * errno. */
static int load(uint32_t otherwise, int *listener)
{
    scmp_filter_ctx filter = seccomp_init(otherwise);
    int rc = filter != NULL ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        int number = seccomp_syscall_resolve_name(allowed[i]);
        if (number >= 0) /* this CPU has the call */
            rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
    }
    if (rc == 0)
        rc = seccomp_load(filter);
    if (rc == 0 && otherwise == SCMP_ACT_NOTIFY)
        *listener = seccomp_notify_fd(filter);
    if (filter != NULL)
        seccomp_release(filter);
    return rc;
}

/* Loads a filter whose refusals a thread of ours answers, so that it can name them. Everything that
 * this thread needs is allocated before: afterwards a call outside the list waits for an answer. */
static int enter_named(questions *self)
{
    pthread_t thread;
    if (seccomp_notify_alloc(&self->asked, &self->reply) != 0)
        return -ENOSYS;
    int rc = load(SCMP_ACT_NOTIFY, &self->listener);
    if (rc != 0) {
        seccomp_notify_free(self->asked, self->reply);
        return rc;
    }
    if (thread_start(&thread, answer, self) == 0)
        return -pthread_detach(thread);
    (void)close(self->listener); /* calls outside the list then fail with ENOSYS */
    return 0;
}

int sandbox_enter(char *message, size_t size)
{
    static questions all;
    int rc = enter_named(&all);
    if (rc == 0)
        return 0;
    log_line("seccomp: the kernel does not name refused system calls (%s)", strerror(-rc));
    rc = load(SCMP_ACT_ERRNO(EPERM), &all.listener);
    if (rc != 0)
        (void)snprintf(message, size, "no seccomp filter: %s", strerror(-rc));
    return rc == 0 ? 0 : -1;
}
