/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes files that other processes control. Nothing here follows a link out of the given
 * directory, waits for a pipe, or reads without a bound. */
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

/* Reads fd to its end, at most max bytes (the rest is left out). Returns -errno on failure. */
int attach__read_fd(attach__blob *out, int fd, size_t max);

/* Reads a file of procfs by name below dir_fd. The kernel follows symbolic links by its own rules.
 * Returns -errno on failure. */
int attach__read_proc(attach__blob *out, int dir_fd, const char *name, size_t max);

/*
 * Opens `path` as a process chrooted at root_fd would. It uses openat2 (RESOLVE_IN_ROOT and
 * RESOLVE_NO_MAGICLINKS), or attach__walk_in_root where the kernel has no openat2. Returns the
 * descriptor, close-on-exec, or -errno. Flags as openat's.
 */
int attach__open_in_root(int root_fd, const char *path, int flags, mode_t mode);

/* Opens a regular file as attach__open_in_root; anything else is -ELOOP (a link) or -EINVAL. */
int attach__open_regular(int root_fd, const char *path, int flags, mode_t mode);

/* Opens as attach__open_in_root, but returns -ELOOP when any component of the path is a symbolic
 * link. */
int attach__open_plain(int root_fd, const char *path, int flags);

/*
 * Opens by openat2 alone; plain as attach__open_plain. Used by attach__open_in_root and by tests.
 */
int attach__openat2_in_root(int root_fd, const char *path, int flags, mode_t mode, bool plain);

/*
 * Reads a regular file below root_fd; links on the way stay within it. Returns -errno on failure.
 */
int attach__read_in_root(attach__blob *out, int root_fd, const char *path, size_t max);

/* Removes a file below dir_fd; links on the way do not leave it. Ignores files that cannot be
 * removed. */
void attach__remove_in(int dir_fd, const char *path);

/* Writes all n bytes to fd. Returns -errno on failure. */
int attach__write_all(int fd, const void *bytes, size_t n);

#endif
