/* SPDX-License-Identifier: Apache-2.0 */
/* The path resolver for kernels without openat2 (before 5.6, or with a seccomp filter that does not
 * know it). It opens component by component, so that the kernel itself never follows a link. */
#ifndef ATTACH_WALK_H
#define ATTACH_WALK_H

#include <stdbool.h>
#include <sys/types.h>

#define ATTACH__WALK_LINKS_MAX 40  /* as the kernel's MAXSYMLINKS; beyond it -ELOOP */
#define ATTACH__WALK_DEPTH_MAX 128 /* directories open at a time; beyond it -ENAMETOOLONG */

/*
 * Opens `path` below root_fd with the guarantees of openat2's RESOLVE_IN_ROOT and
 * RESOLVE_NO_MAGICLINKS, and if `plain` is set also of RESOLVE_NO_SYMLINKS: "/" and absolute links
 * start at root_fd, and ".." does not leave it, whatever other processes rename during the walk.
 * Flags and mode as openat's.
 *
 * It is stricter than openat2 in two points. It refuses every link on a procfs, because a magic
 * link looks like any other. And it follows a last link in a sticky directory that all can write
 * only if the link belongs to this process's user or to the directory's owner, whatever
 * fs.protected_symlinks says.
 *
 * Returns the descriptor, close-on-exec, or -errno; -EAGAIN when another process changed the last
 * component during the walk.
 */
int attach__walk_in_root(int root_fd, const char *path, int flags, mode_t mode, bool plain);

#endif
