/* SPDX-License-Identifier: Apache-2.0 */
#include "files/walk_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define STATFS_NOSYMFOLLOW                                                                         \
    0x2000 /* linux/statfs.h, since 5.10: links of this mount are not followed                     \
            */
#define APPARMOR_MAGIC                                                                             \
    0x5a3c69f0                 /* security/apparmor/include/apparmorfs.h; has magic links too      \
                                */
#define WALK_ON (-EINPROGRESS) /* result of a step after which the walk goes on */

typedef struct walk {
    int root_fd;
    int fds[ATTACH__WALK_DEPTH_MAX]; /* the directories entered, so that ".." looks none up again */
    size_t depth;
    unsigned links;
    bool plain;
    const char *rest; /* the rest of the path: points into the caller's path or `owned` */
    char *owned;
} walk;

typedef struct component {
    char name[NAME_MAX + 1]; /* "" after the last */
    bool last;
    bool slash; /* a slash follows the name, so it must be a directory */
} component;

static int top(const walk *w)
{
    return w->depth == 0 ? w->root_fd : w->fds[w->depth - 1];
}

static void leave(walk *w)
{
    if (w->depth > 0)
        (void)close(w->fds[--w->depth]);
}

static void leave_all(walk *w)
{
    while (w->depth > 0)
        leave(w);
}

static int next_component(component *out, walk *w)
{
    const char *begin = w->rest + strspn(w->rest, "/");
    size_t n = strcspn(begin, "/");
    if (n > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(out->name, begin, n);
    out->name[n] = '\0';
    w->rest = begin + n;
    out->slash = w->rest[0] == '/';
    out->last = w->rest[strspn(w->rest, "/")] == '\0';
    return 0;
}

/*
 * Returns whether another user may have planted the link, as in /tmp (fs/namei.c, may_follow_link).
 */
static bool is_trap(const walk *w, const struct stat *link)
{
    struct stat dir;
    if (fstat(top(w), &dir) != 0)
        return true;
    bool anyones = (dir.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    return anyones && link->st_uid != geteuid() && link->st_uid != dir.st_uid;
}

static int check_link(walk *w, int fd, const struct stat *st, bool last)
{
    struct statfs fs;
    if (++w->links > ATTACH__WALK_LINKS_MAX)
        return -ELOOP;
    if (last && is_trap(w, st))
        return -EACCES;
    if (fstatfs(fd, &fs) != 0)
        return -errno;
    bool magic = fs.f_type == PROC_SUPER_MAGIC || fs.f_type == APPARMOR_MAGIC;
    return w->plain || magic || (fs.f_flags & STATFS_NOSYMFOLLOW) != 0 ? -ELOOP : 0;
}

/* Puts a link's text before the rest. */
static int expand(walk *w, int link_fd)
{
    size_t rest = strlen(w->rest);
    char *joined = malloc(PATH_MAX + rest + 1);
    if (joined == NULL)
        return -ENOMEM;
    ssize_t n = readlinkat(link_fd, "", joined, PATH_MAX);
    if (n <= 0 || n == PATH_MAX) {
        int rc = n < 0 ? -errno : n == 0 ? -ENOENT : -ENAMETOOLONG;
        free(joined);
        return rc;
    }
    memcpy(joined + n, w->rest, rest + 1);
    free(w->owned);
    w->rest = w->owned = joined;
    if (joined[0] == '/')
        leave_all(w);
    return WALK_ON;
}

/* Follows the component if it is a link; returns `otherwise` if it is not. */
static int follow(walk *w, const component *c, int otherwise)
{
    struct stat st;
    int fd = openat(top(w), c->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = fstat(fd, &st) != 0 ? -errno : S_ISLNK(st.st_mode) ? 0 : otherwise;
    if (rc == 0)
        rc = check_link(w, fd, &st, c->last);
    if (rc == 0)
        rc = expand(w, fd);
    (void)close(fd);
    return rc;
}

static int enter(walk *w, const component *c)
{
    int fd = openat(top(w), c->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOTDIR || errno == ELOOP ? follow(w, c, -ENOTDIR) : -errno;
    if (w->depth == ATTACH__WALK_DEPTH_MAX) {
        (void)close(fd);
        return -ENAMETOOLONG;
    }
    w->fds[w->depth++] = fd;
    return WALK_ON;
}

static bool is_link(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Opens the last component. A slash after it means that a link is followed whatever the flags say,
 * and that only a directory is accepted. */
static int open_last(walk *w, const component *c, int flags, mode_t mode)
{
    if (c->slash && (flags & O_CREAT) != 0)
        return -EISDIR;
    bool may_follow = c->slash || ((flags & O_NOFOLLOW) == 0 &&
                                   (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL));
    int fd = openat(top(w), c->name, flags | O_NOFOLLOW | (c->slash ? O_DIRECTORY : 0), mode);
    int failed = fd < 0 ? errno : ELOOP;
    if (fd >= 0 && (!may_follow || (flags & O_PATH) == 0 || !is_link(fd)))
        return fd;
    if (fd >= 0)
        (void)close(fd);
    if (!may_follow || (failed != ELOOP && failed != ENOTDIR))
        return -failed;
    return follow(w, c, failed == ENOTDIR ? -ENOTDIR : -EAGAIN);
}

/* Opens the current directory, when a path ends in a dot or is the root. */
static int open_here(const walk *w, int flags, mode_t mode)
{
    int fd = openat(top(w), ".", flags, mode);
    return fd < 0 ? -errno : fd;
}

/* Checks the right to search the directory, which the kernel requires even for a dot. */
static int pass_dots(walk *w, bool up)
{
    struct stat st;
    if (fstatat(top(w), ".", &st, 0) != 0)
        return -errno;
    if (up)
        leave(w);
    return 0;
}

/* Returns a descriptor, -errno, or WALK_ON. */
static int step(walk *w, int flags, mode_t mode)
{
    component c;
    int rc = next_component(&c, w);
    bool up = rc == 0 && strcmp(c.name, "..") == 0;
    bool stays = rc == 0 && (c.name[0] == '\0' || strcmp(c.name, ".") == 0);
    if (up || stays)
        rc = pass_dots(w, up);
    if (rc != 0)
        return rc;
    if (up || stays)
        return c.last ? open_here(w, flags, mode) : WALK_ON;
    return c.last ? open_last(w, &c, flags, mode) : enter(w, &c);
}

int attach__walk_in_root(int root_fd, const char *path, int flags, mode_t mode, bool plain)
{
    walk w = {.root_fd = root_fd, .plain = plain, .rest = path};
    if (path[0] == '\0' || strlen(path) >= PATH_MAX)
        return path[0] == '\0' ? -ENOENT : -ENAMETOOLONG;
    int rc;
    do
        rc = step(&w, flags | O_CLOEXEC, mode);
    while (rc == WALK_ON);
    leave_all(&w);
    free(w.owned);
    return rc;
}
