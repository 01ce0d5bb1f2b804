/* SPDX-License-Identifier: Apache-2.0 */
#include "file_watch.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

void file_watch_open(file_watch *out, const char *path)
{
    char directory[PATH_MAX];
    *out = (file_watch){.fd = -1, .path = path};
    if (path == NULL || stat(path, &out->last) != 0)
        return;
    const char *slash = strrchr(path, '/');
    (void)snprintf(directory, sizeof(directory), "%.*s",
                   slash == NULL ? 1 : (int)(slash - path + 1), slash == NULL ? "." : path);
    out->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (out->fd >= 0 &&
        inotify_add_watch(out->fd, directory, IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE) < 0)
        file_watch_close(out);
}

void file_watch_close(file_watch *watch)
{
    if (watch->fd >= 0)
        (void)close(watch->fd);
    watch->fd = -1;
}

bool file_watch_changed(file_watch *watch)
{
    char events[4096];
    struct stat now;
    while (watch->fd >= 0 && read(watch->fd, events, sizeof(events)) > 0)
        continue;
    if (watch->fd < 0 || stat(watch->path, &now) != 0) /* between two names: another event comes */
        return false;
    const struct stat *last = &watch->last;
    bool same = now.st_dev == last->st_dev && now.st_ino == last->st_ino &&
                now.st_size == last->st_size && now.st_mtim.tv_sec == last->st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == last->st_mtim.tv_nsec;
    watch->last = now;
    return !same;
}
