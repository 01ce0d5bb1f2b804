#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "error_internal.h"
#include "proc_stat.h"

#define POLL_SLICE_MS  200
#define FIRST_NAP_NS   1000000L
#define LONGEST_NAP_NS 50000000L
#define NO_LISTENER    1

static int too_late(const attach_target *target, const char *what, attach_error *err)
{
    char state = attach__target_state(target);
    if (attach__state_is_dead(state))
        return attach__target_check(target, err);
    if (attach__state_is_stopped(state))
        return attach__refuse(err, ATTACH_REASON_TARGET_STOPPED,
                              "process %d is stopped by a signal or a debugger and cannot answer; "
                              "kill -CONT %d continues it",
                              target->identity.pid, target->identity.pid);
    return attach__refuse(err, ATTACH_REASON_ATTACH_TIMEOUT,
                          "process %d %s in time; it may be in a long pause or short of CPU",
                          target->identity.pid, what);
}

int attach__wait_for(int fd, short events, const attach_target *target, uint64_t deadline_ns,
                     attach_error *err)
{
    for (;;) {
        uint64_t now = attach__now_ns();
        if (now >= deadline_ns)
            return too_late(target, "did not answer", err);
        uint64_t left_ms = (deadline_ns - now) / 1000000u + 1;
        struct pollfd wanted = {.fd = fd, .events = events};
        int ready = poll(&wanted, 1, left_ms < POLL_SLICE_MS ? (int)left_ms : POLL_SLICE_MS);
        if (ready > 0)
            return ATTACH_OK;
        if (ready < 0 && errno != EINTR)
            return attach__fail(err, ATTACH_E_IO, "poll: %s", strerror(errno));
        if (attach__state_is_dead(attach__target_state(target)))
            return attach__target_check(target, err);
    }
}

/* Sleeps, longer each time, never past the deadline. */
static void nap(long *length_ns, uint64_t deadline_ns)
{
    uint64_t now = attach__now_ns();
    uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    long n = left < (uint64_t)*length_ns ? (long)left : *length_ns;
    (void)nanosleep(&(struct timespec){0, n}, NULL);
    if (*length_ns < LONGEST_NAP_NS)
        *length_ns *= 2;
}

static void tmp_name(char *out, size_t cap, const char *prefix, const attach_target *target)
{
    (void)snprintf(out, cap, "tmp/%s%d", prefix, target->jvm.ns_pid);
}

/*
 * The socket's inode below the target's root, or NO_LISTENER. A socket of another user would be a
 * trap set under the JVM's name, so it is refused.
 */
static int open_socket_file(int *out, const attach_target *target, attach_error *err)
{
    char path[48];
    struct stat st;
    tmp_name(path, sizeof(path), ".java_pid", target);
    int fd = attach__open_in_root(target->root_fd, path, O_PATH | O_NOFOLLOW, 0);
    if (fd == -ENOENT)
        return NO_LISTENER;
    if (fd == -ENOSYS)
        return attach__fail(err, ATTACH_E_IO, "openat2 is missing: Linux 5.6 or later is needed");
    if (fd < 0)
        return attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                              "cannot reach /%s of process %d: %s", path, target->identity.pid,
                              strerror(-fd));
    bool fits = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
                (st.st_uid == target->ids.uid || st.st_uid == 0);
    if (!fits) {
        (void)close(fd);
        return attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                              "/%s is not a socket of user %u, whose JVM process %d is: remove it",
                              path, target->ids.uid, target->identity.pid);
    }
    *out = fd;
    return ATTACH_OK;
}

/* Connects to the inode itself, through its descriptor: no path is looked up again. */
static int connect_inode(int *out, int inode_fd, const attach_target *target, uint64_t deadline_ns,
                         attach_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", inode_fd);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return attach__fail(err, ATTACH_E_IO, "socket: %s", strerror(errno));
    long length_ns = FIRST_NAP_NS;
    int rc = ATTACH_OK;
    while (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        if (errno == ECONNREFUSED) { /* a file left by an earlier process of that pid */
            rc = NO_LISTENER;
            break;
        }
        if (errno != EAGAIN && errno != EINTR) { /* EAGAIN: its backlog is full */
            /* an earlier process of that pid may have left it, of another user: HotSpot removes
             * such a file when it starts, but not from a sticky directory */
            rc = attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                                "cannot connect to the attach socket /tmp/.java_pid%d of process "
                                "%d: %s; if that file is older than the process, remove it",
                                target->jvm.ns_pid, target->identity.pid, strerror(errno));
            break;
        }
        if (attach__now_ns() >= deadline_ns) {
            rc = too_late(target, "did not take our connection", err);
            break;
        }
        nap(&length_ns, deadline_ns);
    }
    if (rc == ATTACH_OK)
        *out = fd;
    else
        (void)close(fd);
    return rc;
}

static int try_connect(int *out, const attach_target *target, uint64_t deadline_ns,
                       attach_error *err)
{
    int inode_fd = -1;
    int rc = open_socket_file(&inode_fd, target, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = connect_inode(out, inode_fd, target, deadline_ns, err);
    (void)close(inode_fd);
    return rc;
}

/* Everything that makes a SIGQUIT useless or deadly. */
static int check_may_signal(attach_target *target, attach_error *err)
{
    attach__blob text;
    attach__status status;
    int rc = attach__target_check(target, err);
    if (rc != ATTACH_OK)
        return rc;
    if (attach__state_is_stopped(attach__target_state(target)))
        return too_late(target, "is stopped", err);
    attach__facts_from_root(&target->jvm, &target->flags, target->root_fd,
                            attach__span_of(NULL, 0));
    if (target->flags.attach_disabled)
        return attach__refuse(err, ATTACH_REASON_ATTACH_DISABLED,
                              "process %d runs with -XX:+DisableAttachMechanism: start it without",
                              target->identity.pid);
    rc = attach__read_status(&text, &status, target->proc_fd, target->identity.pid, err);
    free(text.p);
    if (rc != ATTACH_OK)
        return rc;
    if (!attach__status_catches(&status, SIGQUIT))
        return attach__refuse(
            err, ATTACH_REASON_ATTACH_DISABLED,
            "process %d does not catch SIGQUIT: it is still starting, or runs with "
            "-Xrs and its attach socket was removed",
            target->identity.pid);
    return ATTACH_OK;
}

static int create_trigger_at(int dir_fd, const char *path)
{
    int fd = attach__open_in_root(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fd;
    (void)close(fd);
    return 0;
}

/*
 * Creates the file that makes a SIGQUIT mean "start the listener": in /tmp, or where that cannot be
 * written, in the JVM's working directory (HotSpot looks at both). *dir_fd and *path say where.
 */
static int create_trigger(int *dir_fd, const char **path, const char *in_tmp,
                          const attach_target *target, attach_error *err)
{
    *dir_fd = target->root_fd;
    *path = in_tmp;
    int rc = create_trigger_at(*dir_fd, *path);
    if (rc != 0 && rc != -EEXIST && target->cwd_fd >= 0) {
        *dir_fd = target->cwd_fd;
        *path = in_tmp + strlen("tmp/");
        int second = create_trigger_at(*dir_fd, *path);
        rc = second == 0 || second == -EEXIST ? second : rc;
    }
    if (rc == -EEXIST) /* another client is at it right now, or was killed there */
        return ATTACH_OK;
    if (rc == -ENOSPC || rc == -EDQUOT)
        return attach__refuse(err, ATTACH_REASON_DISK_FULL, "cannot create /%s in process %d: %s",
                              in_tmp, target->identity.pid, strerror(-rc));
    /* we are the JVM's user: where we may not write it may not either */
    bool no_place = rc == -EROFS || rc == -EACCES || rc == -ENOENT;
    if (rc != 0)
        return attach__refuse(
            err, no_place ? ATTACH_REASON_NO_EXEC_DIR : ATTACH_REASON_PERMISSION_DENIED,
            "cannot create /%s in process %d: %s; its /tmp or its working "
            "directory must be writable",
            in_tmp, target->identity.pid, strerror(-rc));
    return ATTACH_OK;
}

static int send_quit(const attach_target *target, attach_error *err)
{
    if (target->pid_fd < 0)
        return attach__fail(err, ATTACH_E_IO,
                            "pidfd_open failed for process %d: Linux 5.6 or later is needed",
                            target->identity.pid);
    if (syscall(SYS_pidfd_send_signal, target->pid_fd, SIGQUIT, NULL, 0) == 0)
        return ATTACH_OK;
    return errno == ESRCH ? attach__target_check(target, err)
                          : attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                                           "may not signal process %d: %s", target->identity.pid,
                                           strerror(errno));
}

static int wait_for_listener(int *out, const attach_target *target, uint64_t deadline_ns,
                             attach_error *err)
{
    long length_ns = FIRST_NAP_NS;
    for (;;) {
        int rc = try_connect(out, target, deadline_ns, err);
        if (rc != NO_LISTENER)
            return rc;
        if (attach__now_ns() >= deadline_ns)
            return too_late(target, "did not open its attach socket", err);
        nap(&length_ns, deadline_ns);
        rc = attach__target_check(target, err);
        if (rc != ATTACH_OK)
            return rc;
    }
}

/* A listener that was there and cannot be reached any more is another matter than a slow JVM. */
static int socket_gone(const attach_target *target, attach_error *err)
{
    return attach__refuse(
        err, ATTACH_REASON_ATTACH_SOCKET_GONE,
        "the attach socket /tmp/.java_pid%d of process %d was removed and the JVM "
        "does not make it anew: restart it, and keep cleaners off that file",
        target->jvm.ns_pid, target->identity.pid);
}

static int start_listener(int *out, attach_target *target, uint64_t deadline_ns, attach_error *err)
{
    char in_tmp[48];
    int dir_fd = -1;
    const char *path = NULL;
    attach_error local = {0};
    int rc = check_may_signal(target, err);
    if (rc != ATTACH_OK)
        return rc;
    bool attached_before = attach__target_has_thread(target, "Attach Listener\n");
    tmp_name(in_tmp, sizeof(in_tmp), ".attach_pid", target);
    rc = create_trigger(&dir_fd, &path, in_tmp, target, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = send_quit(target, &local);
    if (rc == ATTACH_OK)
        rc = wait_for_listener(out, target, deadline_ns, &local);
    attach__remove_in(dir_fd, path);
    bool timed_out = rc == ATTACH_E_TARGET && local.reason == ATTACH_REASON_ATTACH_TIMEOUT;
    if (timed_out && attached_before)
        return socket_gone(target, err);
    if (rc != ATTACH_OK && err != NULL)
        *err = local;
    return rc;
}

int attach__listener_connect(int *out, attach_target *target, uint64_t deadline_ns,
                             attach_error *err)
{
    int rc = attach__target_check(target, err);
    if (rc != ATTACH_OK)
        return rc;
    if (attach__state_is_stopped(attach__target_state(target)))
        return too_late(target, "is stopped", err);
    rc = try_connect(out, target, deadline_ns, err);
    return rc == NO_LISTENER ? start_listener(out, target, deadline_ns, err) : rc;
}
