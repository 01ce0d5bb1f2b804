/* SPDX-License-Identifier: Apache-2.0 */
#include <attach/listener_impl.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "error_impl.h"
#include "proc/proc_stat_impl.h"

#define POLL_SLICE_MS  200
#define FIRST_NAP_NS   1000000L
#define LONGEST_NAP_NS 50000000L
#define TURN_NS        5000000u
#define OTHERS_MS      1000 /* time that another client's signal may take to create the socket */
#define NO_LISTENER    1

static int too_late(const attach_target *target, const char *what, attach_error *err)
{
    int rc = attach__target_check_running(target, err);
    if (rc != ATTACH_OK)
        return rc;
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
            return attach__fail(err, ATTACH_ERR_IO, "poll: %s", strerror(errno));
        if (attach__state_is_dead(attach__target_state(target)))
            return attach__target_check(target, err);
    }
}

/* Sleeps longer with each call, but never past the deadline. */
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

/* Opens the socket's inode below the target's root, or returns NO_LISTENER. A socket of another
 * user is refused: that user may impersonate the JVM. */
static int open_socket_file(int *out, const attach_target *target, attach_error *err)
{
    char path[48];
    struct stat st;
    tmp_name(path, sizeof(path), ".java_pid", target);
    int fd = attach__open_in_root(target->root_fd, path, O_PATH | O_NOFOLLOW, 0);
    if (fd == -ENOENT)
        return NO_LISTENER;
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

/* Connects to the inode through its descriptor, so that no path is looked up again. */
static int connect_inode(int *out, int inode_fd, const attach_target *target, uint64_t deadline_ns,
                         attach_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", inode_fd);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return attach__fail(err, ATTACH_ERR_IO, "socket: %s", strerror(errno));
    long length_ns = FIRST_NAP_NS;
    int rc = ATTACH_OK;
    while (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        if (errno == ECONNREFUSED) { /* a file left by an earlier process of that pid */
            rc = NO_LISTENER;
            break;
        }
        if (errno != EAGAIN && errno != EINTR) { /* EAGAIN: its backlog is full */
            /* an earlier process of that pid and another user may have left the file: HotSpot
             * removes such a file when it starts, but cannot do so in a sticky directory */
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

/* Refuses a target in which SIGQUIT would do nothing or kill the process. */
static int check_may_signal(attach_target *target, attach_error *err)
{
    attach__blob text;
    attach__status status;
    int rc = attach__target_check_running(target, err);
    if (rc != ATTACH_OK)
        return rc;
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

/* The file that makes HotSpot start its listener on SIGQUIT. Hotstack's programs hold flock() on it
 * until the listener runs, because a second SIGQUIT would then print a thread dump. */
typedef struct trigger {
    const attach_target *target;
    uint64_t deadline_ns;
    int dir_fd; /* owned by the target; not closed here */
    int fd;     /* for its lock; -1 when it belongs to root and cannot be opened */
    bool found; /* another client created it: it is still starting the listener, or was killed */
    bool held;  /* this process has the lock */
    char path[48];
} trigger;

/* Returns 0 when there is a trigger file that HotSpot accepts, one of its own user or of root;
 * -EEXIST for a file of another user; or another -errno. */
static int find_trigger(const trigger *t, int dir_fd, const char *path)
{
    struct stat st;
    int fd = attach__open_in_root(dir_fd, path, O_PATH | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    bool minded = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                  (st.st_uid == t->target->ids.uid || st.st_uid == 0);
    (void)close(fd);
    return minded ? 0 : -EEXIST;
}

static int create_trigger_at(trigger *t, int dir_fd)
{
    t->dir_fd = dir_fd;
    t->found = t->held = false;
    t->fd = attach__open_in_root(dir_fd, t->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (t->fd != -EEXIST)
        return t->fd < 0 ? t->fd : 0;
    t->found = true;
    t->fd = attach__open_regular(dir_fd, t->path, O_RDONLY, 0);
    int rc = find_trigger(t, dir_fd, t->path);
    return rc == -ENOENT ? 0 : rc; /* removed in the meantime; is_there checks that */
}

static void close_trigger(trigger *t)
{
    if (t->fd >= 0)
        (void)close(t->fd);
    t->fd = -1;
}

static bool is_there(const trigger *t)
{
    struct stat st;
    return t->fd < 0 ? find_trigger(t, t->dir_fd, t->path) == 0
                     : fstat(t->fd, &st) == 0 && st.st_nlink > 0;
}

/* Creates the file in /tmp or, where that is not writable, in the JVM's working directory. HotSpot
 * checks both, and the JDK's own tools use the working directory. */
static int create_trigger(trigger *t, attach_error *err)
{
    const attach_target *target = t->target;
    char in_tmp[sizeof(t->path)];
    tmp_name(in_tmp, sizeof(in_tmp), ".attach_pid", target);
    const char *name = in_tmp + strlen("tmp/");
    memcpy(t->path, in_tmp, sizeof(t->path));
    int rc = create_trigger_at(t, target->root_fd);
    if (rc != 0 && target->cwd_fd >= 0) {
        close_trigger(t);
        (void)snprintf(t->path, sizeof(t->path), "%s", name);
        int second = create_trigger_at(t, target->cwd_fd);
        rc = second == 0 ? second : rc;
    } else if (rc == 0 && target->cwd_fd >= 0) {
        t->found = t->found || find_trigger(t, target->cwd_fd, name) == 0;
    }
    if (rc == 0)
        return ATTACH_OK;
    close_trigger(t);
    if (rc == -ENOSPC || rc == -EDQUOT)
        return attach__refuse(err, ATTACH_REASON_DISK_FULL, "cannot create /%s in process %d: %s",
                              in_tmp, target->identity.pid, strerror(-rc));
    /* this process has the JVM's user: where it may not write, the JVM may not either */
    bool no_place = rc == -EROFS || rc == -EACCES || rc == -ENOENT;
    return attach__refuse(err,
                          no_place ? ATTACH_REASON_NO_EXEC_DIR : ATTACH_REASON_PERMISSION_DENIED,
                          "cannot create /%s in process %d: %s; its /tmp or its working "
                          "directory must be writable",
                          in_tmp, target->identity.pid, strerror(-rc));
}

/* Sends SIGQUIT through the descriptor of the process or, before Linux 5.3, to its pid. The kernel
 * reuses a pid only after all others, so the start time that was just checked still holds. */
static int send_quit(const attach_target *target, attach_error *err)
{
    int rc = attach__target_check(target, err);
    if (rc != ATTACH_OK)
        return rc;
    long sent = target->pid_fd >= 0
                    ? syscall(SYS_pidfd_send_signal, target->pid_fd, SIGQUIT, NULL, 0)
                    : kill(target->identity.pid, SIGQUIT);
    if (sent == 0)
        return ATTACH_OK;
    return errno == ESRCH ? attach__target_check(target, err)
                          : attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                                           "may not signal process %d: %s", target->identity.pid,
                                           strerror(errno));
}

/* Returns NO_LISTENER when none appears before until_ns. */
static int wait_for_listener(int *out, const trigger *t, uint64_t until_ns, attach_error *err)
{
    long length_ns = FIRST_NAP_NS;
    for (;;) {
        int rc = try_connect(out, t->target, t->deadline_ns, err);
        if (rc != NO_LISTENER || attach__now_ns() >= until_ns)
            return rc;
        nap(&length_ns, until_ns);
        rc = attach__target_check(t->target, err);
        if (rc != ATTACH_OK)
            return rc;
    }
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/*
 * Waits for the listener that another client is starting, since it serves this call too: first
 * while that client holds the lock, then for a short time, because other vendors' clients take no
 * lock. Returns NO_LISTENER with the lock held when this process has to send the signal.
 */
static int wait_for_others(int *out, trigger *t, attach_error *err)
{
    uint64_t now = 0;
    int rc = NO_LISTENER;
    while (rc == NO_LISTENER && !t->held && (now = attach__now_ns()) < t->deadline_ns) {
        t->held = t->fd < 0 || flock(t->fd, LOCK_EX | LOCK_NB) == 0;
        uint64_t until_ns = t->held ? now : earlier(now + TURN_NS, t->deadline_ns);
        rc = wait_for_listener(out, t, until_ns, err);
    }
    if (rc != NO_LISTENER || !t->held || !t->found)
        return rc;
    uint64_t half = now + (t->deadline_ns - now) / 2;
    return wait_for_listener(out, t, earlier(half, attach_deadline_in(OTHERS_MS)), err);
}

static int signal_and_wait(int *out, const trigger *t, attach_error *err)
{
    int rc = send_quit(t->target, err);
    return rc == ATTACH_OK ? wait_for_listener(out, t, t->deadline_ns, err) : rc;
}

/* Sends at most one signal, and only while the trigger file exists. */
static int trigger_listener(int *out, const attach_target *target, uint64_t deadline_ns,
                            attach_error *err)
{
    trigger t = {.target = target, .deadline_ns = deadline_ns, .fd = -1};
    bool signalled = false;
    int rc = NO_LISTENER;
    while (rc == NO_LISTENER && !signalled && attach__now_ns() < deadline_ns) {
        rc = create_trigger(&t, err);
        if (rc != ATTACH_OK)
            return rc;
        rc = wait_for_others(out, &t, err);
        signalled = rc == NO_LISTENER && t.held && is_there(&t);
        if (signalled)
            rc = signal_and_wait(out, &t, err);
        if (t.held)
            attach__remove_in(t.dir_fd, t.path);
        close_trigger(&t);
    }
    return rc == NO_LISTENER ? too_late(target, "did not open its attach socket", err) : rc;
}

/* Refuses with a reason of its own: restarting the JVM helps here, while a slow JVM only needs
 * time. */
static int socket_gone(const attach_target *target, attach_error *err)
{
    return attach__refuse(
        err, ATTACH_REASON_ATTACH_SOCKET_GONE,
        "the attach socket /tmp/.java_pid%d of process %d was removed and the JVM "
        "does not make another: restart it, and keep cleaners off that file",
        target->jvm.ns_pid, target->identity.pid);
}

static int start_listener(int *out, attach_target *target, uint64_t deadline_ns, attach_error *err)
{
    attach_error local = {0};
    int rc = check_may_signal(target, err);
    if (rc != ATTACH_OK)
        return rc;
    bool attached_before = attach__target_has_thread(target, "Attach Listener\n");
    rc = trigger_listener(out, target, deadline_ns, &local);
    bool timed_out = rc == ATTACH_ERR_TARGET && local.reason == ATTACH_REASON_ATTACH_TIMEOUT;
    if (timed_out && attached_before)
        return socket_gone(target, err);
    if (rc != ATTACH_OK && err != NULL)
        *err = local;
    return rc;
}

int attach__listener_connect(int *out, attach_target *target, uint64_t deadline_ns,
                             attach_error *err)
{
    int rc = attach__target_check_running(target, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = try_connect(out, target, deadline_ns, err);
    return rc == NO_LISTENER ? start_listener(out, target, deadline_ns, err) : rc;
}
