/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing files that other processes control. Nothing here follows a link out of the
 * directory it was given, waits for a pipe, or reads without a bound.
 */
#ifndef ATTACH_FILES_H
#define ATTACH_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "files/text_impl.h"
#include <attach/error.h>

/* A file's bytes, NUL-terminated beyond n; free with free(p). */
typedef struct attach__blob {
    char *p;
    size_t n;
} attach__blob;

attach__span attach__blob_span(const attach__blob *blob);

/* Reads fd to its end, at most max bytes (the rest is left out). -errno on failure. */
int attach__read_fd(attach__blob *out, int fd, size_t max);

/* Reads a file of procfs by name below dir_fd; symbolic links are followed by the kernel's rules.
 * -errno on failure. */
int attach__read_proc(attach__blob *out, int dir_fd, const char *name, size_t max);

/*
 * Opens `path` as a process chrooted at root_fd would: by openat2 (RESOLVE_IN_ROOT and
 * RESOLVE_NO_MAGICLINKS), and where the kernel has none by walk.h. The descriptor, close-on-exec,
 * or -errno; flags as openat's.
 */
int attach__open_in_root(int root_fd, const char *path, int flags, mode_t mode);

/* The same, for a regular file only: anything else is -ELOOP (a link) or -EINVAL. */
int attach__open_regular(int root_fd, const char *path, int flags, mode_t mode);

/* attach__open_in_root for a path without any symbolic link in it: -ELOOP where there is one. */
int attach__open_plain(int root_fd, const char *path, int flags);

/* The same by openat2 alone; plain as attach__open_plain. For attach__open_in_root, and for tests.
 */
int attach__openat2_in_root(int root_fd, const char *path, int flags, mode_t mode, bool plain);

/* Reads a regular file below root_fd, links on the way followed within it. -errno on failure. */
int attach__read_in_root(attach__blob *out, int root_fd, const char *path, size_t max);

/* Removes a file below dir_fd, links on the way not leaving it; what cannot be removed stays. */
void attach__remove_in(int dir_fd, const char *path);

/* Writes all n bytes to fd; -errno on failure. */
int attach__write_all(int fd, const void *bytes, size_t n);

#endif
