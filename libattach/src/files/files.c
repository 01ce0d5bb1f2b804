/* SPDX-License-Identifier: Apache-2.0 */
#include "files/files_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files/walk_impl.h"

#define FIRST_READ 4096
#define TRIES_MAX  16

attach__span attach__blob_span(const attach__blob *blob)
{
    return attach__span_of(blob->p, blob->n);
}

static int grow(attach__blob *blob, size_t *cap, size_t max)
{
    size_t wanted = *cap == 0 ? FIRST_READ : *cap * 2;
    if (wanted > max)
        wanted = max;
    char *bigger = realloc(blob->p, wanted + 1);
    if (bigger == NULL)
        return -ENOMEM;
    blob->p = bigger;
    *cap = wanted;
    return 0;
}

static int read_into(attach__blob *blob, int fd, size_t max)
{
    size_t cap = 0;
    for (;;) {
        if (blob->n == cap && cap < max && grow(blob, &cap, max) != 0)
            return -ENOMEM;
        if (blob->n == cap)
            return 0;
        ssize_t got = read(fd, blob->p + blob->n, cap - blob->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            return 0;
        blob->n += (size_t)got;
    }
}

int attach__read_fd(attach__blob *out, int fd, size_t max)
{
    *out = (attach__blob){NULL, 0};
    int rc = read_into(out, fd, max);
    if (rc != 0) {
        free(out->p);
        *out = (attach__blob){NULL, 0};
        return rc;
    }
    out->p[out->n] = '\0';
    return 0;
}

int attach__read_proc(attach__blob *out, int dir_fd, const char *name, size_t max)
{
    *out = (attach__blob){NULL, 0};
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int rc = attach__read_fd(out, fd, max);
    (void)close(fd);
    return rc;
}

int attach__openat2_in_root(int root_fd, const char *path, int flags, mode_t mode, bool plain)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve =
            RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (plain ? (uint64_t)RESOLVE_NO_SYMLINKS : 0),
    };
    long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    return fd < 0 ? -errno : (int)fd;
}

/* A seccomp filter that does not know openat2 answers ENOSYS or, with older container runtimes,
 * EPERM. When EPERM came from openat2 itself, the walk returns the same. */
static int open_once(int root_fd, const char *path, int flags, mode_t mode, bool plain)
{
    int fd = attach__openat2_in_root(root_fd, path, flags, mode, plain);
    if (fd != -ENOSYS && fd != -EPERM)
        return fd;
    return attach__walk_in_root(root_fd, path, flags, mode, plain);
}

/* Retries after EAGAIN. openat2 returns it when anything on the machine is renamed while it
 * resolves a "..", and the walk when another process changed the path's last component. */
static int open_resolved(int root_fd, const char *path, int flags, mode_t mode, bool plain)
{
    int fd = -EAGAIN;
    for (int tries = 0; fd == -EAGAIN && tries < TRIES_MAX; tries++)
        fd = open_once(root_fd, path, flags, mode, plain);
    return fd;
}

int attach__open_in_root(int root_fd, const char *path, int flags, mode_t mode)
{
    return open_resolved(root_fd, path, flags, mode, false);
}

int attach__open_plain(int root_fd, const char *path, int flags)
{
    return open_resolved(root_fd, path, flags, 0, true);
}

int attach__open_regular(int root_fd, const char *path, int flags, mode_t mode)
{
    int fd = attach__open_in_root(root_fd, path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
    struct stat st;
    if (fd < 0)
        return fd;
    int rc = fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (rc == 0)
        return fd;
    (void)close(fd);
    return rc;
}

int attach__read_in_root(attach__blob *out, int root_fd, const char *path, size_t max)
{
    *out = (attach__blob){NULL, 0};
    int fd = attach__open_regular(root_fd, path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    int rc = attach__read_fd(out, fd, max);
    (void)close(fd);
    return rc;
}

void attach__remove_in(int dir_fd, const char *path)
{
    char parent[256];
    attach__span whole = attach__span_of(path, strlen(path));
    attach__span name = attach__span_basename(whole), above = attach__span_dirname(whole);
    if (!attach__copy_exact(parent, sizeof(parent), above))
        return;
    int fd =
        attach__open_in_root(dir_fd, parent[0] == '\0' ? "." : parent, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return;
    (void)unlinkat(fd, name.p, 0);
    (void)close(fd);
}

int attach__write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n > 0) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        p += put;
        n -= (size_t)put;
    }
    return 0;
}
