/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ap_candidates_impl.h"

#include <stdlib.h>
#include <string.h>

#include "proc/proc_mountinfo_impl.h"

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

/* Type of a mount that is not listed. In a chroot the mount of the root is not; its files are on a
 * disk nevertheless. */
#define HIDDEN_MOUNT "hidden"

static bool on_disk(const char *fstype)
{
    static const char *const types[] = {"ext2",     "ext3",       "ext4", "xfs",
                                        "btrfs",    "f2fs",       "zfs",  "overlay",
                                        "bcachefs", HIDDEN_MOUNT, NULL};
    return is_one_of(fstype, types);
}

static bool in_memory(const char *fstype)
{
    static const char *const types[] = {"tmpfs", "ramfs", NULL};
    return is_one_of(fstype, types);
}

/* Returns whether the path can be part of async-profiler's options, which have no quoting and in
 * which '%' starts a pattern. */
static bool fits_option_string(const char *path)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@~";
    return path[0] == '/' && path[strspn(path, allowed)] == '\0';
}

/* Returns whether the path belongs to the kernel's file systems. Some hosts mount a tmpfs there,
 * but it is no place for files. */
static bool is_kernels(const char *path)
{
    return strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static void add(attach__candidates *out, const char *path)
{
    if (is_kernels(path) || out->n == ATTACH__CANDIDATES_MAX ||
        strlen(path) >= ATTACH__CANDIDATE_PATH || !fits_option_string(path))
        return;
    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->paths[i], path) == 0)
            return;
    memcpy(out->paths[out->n++], path, strlen(path) + 1);
}

static void add_usual(attach__candidates *out, attach__span mountinfo,
                      bool (*wanted)(const char *fstype))
{
    static const char *const usual[] = {"/tmp", "/var/tmp", NULL};
    char fstype[32];
    for (const char *const *path = usual; *path != NULL; path++) {
        bool shows = attach__mount_type_of(fstype, mountinfo, *path);
        if (wanted(shows ? fstype : HIDDEN_MOUNT))
            add(out, *path);
    }
}

static void add_mounts(attach__candidates *out, attach__span mountinfo,
                       bool (*wanted)(const char *fstype))
{
    attach__mount mount;
    while (attach__mountinfo_next(&mountinfo, &mount))
        if (!mount.read_only && wanted(mount.fstype) && strcmp(mount.path, "/") != 0)
            add(out, mount.path);
}

void attach__candidates_from(attach__candidates *out, attach__span mountinfo,
                             const attach_ap_options *options)
{
    out->n = 0;
    for (size_t i = 0; i < options->n_dirs; i++)
        add(out, options->dirs[i]);
    add_usual(out, mountinfo, on_disk);
    add_mounts(out, mountinfo, on_disk);
    add_usual(out, mountinfo, in_memory);
    add_mounts(out, mountinfo, in_memory);
    add(out, "/");
}

void attach__candidates_list(attach__candidates *out, const attach_target *target,
                             const attach_ap_options *options)
{
    attach__blob text;
    if (attach__target_reread(&text, target->mountinfo_fd) != 0)
        text = (attach__blob){NULL, 0};
    attach__candidates_from(out, attach__blob_span(&text), options);
    free(text.p);
}
