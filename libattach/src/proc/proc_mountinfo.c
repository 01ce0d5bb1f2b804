/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_mountinfo_impl.h"

#include <string.h>

static bool has_option(attach__span options, const char *name)
{
    attach__span option;
    while (attach__next_field(&options, ',', &option))
        if (attach__span_is(option, name))
            return true;
    return false;
}

/*
 * Parses "id parent major:minor root mount-point options [tags...] - fstype source super-options".
 */
static bool parse_line(attach__span line, attach__mount *out)
{
    attach__span word, options, type;
    for (int i = 0; i < 4; i++)
        if (!attach__next_word(&line, &word))
            return false;
    if (!attach__next_word(&line, &word) ||
        !attach__copy_unescaped(out->path, sizeof(out->path), word) || out->path[0] != '/')
        return false;
    if (!attach__next_word(&line, &options))
        return false;
    do {
        if (!attach__next_word(&line, &word))
            return false;
    } while (!attach__span_is(word, "-"));
    if (!attach__next_word(&line, &type) || !attach__next_word(&line, &word))
        return false;
    attach__copy_text(out->fstype, sizeof(out->fstype), type);
    attach__span super = {NULL, 0};
    (void)attach__next_word(&line, &super);
    out->read_only = has_option(options, "ro") || has_option(super, "ro");
    out->noexec = has_option(options, "noexec");
    return true;
}

bool attach__mountinfo_next(attach__span *rest, attach__mount *out)
{
    attach__span line;
    while (attach__next_line(rest, &line))
        if (parse_line(line, out))
            return true;
    return false;
}

bool attach__mount_type_of(char out[32], attach__span mountinfo, const char *path)
{
    attach__mount mount;
    size_t best = 0;
    while (attach__mountinfo_next(&mountinfo, &mount)) {
        size_t n = strcmp(mount.path, "/") == 0 ? 0 : strlen(mount.path);
        bool holds = strncmp(path, mount.path, n) == 0 && (path[n] == '/' || path[n] == '\0');
        if (!holds || n + 1 < best)
            continue;
        best = n + 1;
        memcpy(out, mount.fstype, sizeof(mount.fstype));
    }
    return best > 0;
}

bool attach__mount_could_hang(attach__span mountinfo, const char *path)
{
    static const char *const network[] = {"fuse", "nfs",    "cifs", "smb",  "9p",
                                          "ceph", "lustre", "afs",  "gpfs", "glusterfs"};
    char type[32];
    if (!attach__mount_type_of(type, mountinfo, path))
        return false;
    for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
        if (strncmp(type, network[i], strlen(network[i])) == 0)
            return true;
    return false;
}
