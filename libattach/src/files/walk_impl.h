/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolver for kernels without openat2 (before 5.6, or behind a seccomp filter that does not
 * know it): goes a path component by component, so that the kernel never follows a link itself.
 */
#ifndef ATTACH_WALK_H
#define ATTACH_WALK_H

#include <stdbool.h>
#include <sys/types.h>

#define ATTACH__WALK_LINKS_MAX 40  /* as the kernel's MAXSYMLINKS; beyond it -ELOOP */
#define ATTACH__WALK_DEPTH_MAX 128 /* directories open at a time; beyond it -ENAMETOOLONG */

/*
 * Opens `path` below root_fd with the guarantees of openat2's RESOLVE_IN_ROOT and
 * RESOLVE_NO_MAGICLINKS, and with plain of RESOLVE_NO_SYMLINKS: "/" and absolute links start at
 * root_fd, ".." does not leave it, whatever other processes rename during the walk. Flags and mode
 * as openat's. Stricter than openat2 in two points: every link on a procfs is refused (a magic one
 * cannot be told from others), and a last link in a sticky directory that all can write is followed
 * only if it belongs to us or to the directory's owner, whatever fs.protected_symlinks says. The
 * descriptor, close-on-exec, or -errno; -EAGAIN when the last component was changed under way.
 */
int attach__walk_in_root(int root_fd, const char *path, int flags, mode_t mode, bool plain);

#endif
