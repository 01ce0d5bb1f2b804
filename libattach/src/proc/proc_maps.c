/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_maps_impl.h"

#include <string.h>

#define OUR_PREFIX    "hotstack-"
#define RANDOM_DIGITS 16
#define DELETED       " (deleted)"

static bool all_of(attach__span s, const char *allowed)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\0' || strchr(allowed, s.p[i]) == NULL)
            return false;
    return s.n > 0;
}

/* Recognises "<prefix><installation id>-<random>". */
static bool is_directory(attach__span name, const char *prefix, size_t prefix_length,
                         attach__span *id)
{
    if (!attach__span_starts(name, prefix))
        return false;
    attach__span rest = attach__span_skip(name, prefix_length);
    if (!attach__next_field(&rest, '-', id) || id->n > 32)
        return false;
    return all_of(*id, "abcdefghijklmnopqrstuvwxyz0123456789") && rest.n == RANDOM_DIGITS &&
           all_of(rest, "0123456789abcdef");
}

bool attach__is_our_directory(attach__span name, attach__span *id)
{
    return is_directory(name, OUR_PREFIX, sizeof(OUR_PREFIX) - 1, id);
}

bool attach__is_agent_directory(attach__span name, attach__span *id)
{
    return is_directory(name, ATTACH__AGENT_PREFIX, sizeof(ATTACH__AGENT_PREFIX) - 1, id);
}

/*
 * Takes the path of a file from "start-end perms offset dev inode path"; false for anything else.
 */
static bool file_path(attach__span line, attach__span *path)
{
    attach__span word;
    for (int i = 0; i < 5; i++)
        if (!attach__next_word(&line, &word))
            return false;
    while (line.n > 0 && line.p[0] == ' ')
        line = attach__span_skip(line, 1);
    *path = line;
    return line.n > 0 && line.p[0] == '/';
}

static bool is_ours(attach__span path)
{
    attach__span id;
    return attach__span_is(attach__span_basename(path), ATTACH__LIBRARY_NAME) &&
           attach__is_our_directory(attach__span_basename(attach__span_dirname(path)), &id);
}

static bool is_agent(attach__span path)
{
    attach__span id;
    return attach__span_is(attach__span_basename(path), ATTACH__AGENT_NAME) &&
           attach__is_agent_directory(attach__span_basename(attach__span_dirname(path)), &id);
}

static void note_libc(attach__map_facts *out, attach__span base)
{
    if (attach__span_starts(base, "ld-musl-") || attach__span_starts(base, "libc.musl-"))
        out->libc = ATTACH_LIBC_MUSL;
    else if (out->libc == ATTACH_LIBC_UNKNOWN &&
             (attach__span_is(base, "libc.so.6") || attach__span_starts(base, "libc-2.")))
        out->libc = ATTACH_LIBC_GLIBC;
}

static void note_profiler(attach__map_facts *out, attach__span path, bool deleted)
{
    const attach__profiler *kind = attach__profiler_of(path);
    bool ours = is_ours(path);
    char *slot = ours ? out->profiler : out->external;
    if (kind == NULL || slot[0] != '\0' || !attach__copy_unescaped(slot, ATTACH__PATH_MAX, path))
        return;
    if (ours)
        out->profiler_deleted = deleted;
    else
        out->external_kind = kind;
}

/* Removes the root from the path. A file outside the root was mapped before the process changed its
 * root; it keeps its path. */
static attach__span without_root(attach__span path, attach__span root)
{
    bool below = path.n > root.n && path.p[root.n] == '/' && memcmp(path.p, root.p, root.n) == 0;
    return below ? attach__span_skip(path, root.n) : path;
}

static void note_path(attach__map_facts *out, attach__span path)
{
    bool deleted = attach__span_ends(path, DELETED);
    if (deleted)
        path.n -= sizeof(DELETED) - 1;
    attach__span base = attach__span_basename(path);
    note_libc(out, base);
    if (attach__span_is(base, "libjvm.so") && out->libjvm[0] == '\0') {
        (void)attach__copy_unescaped(out->libjvm, sizeof(out->libjvm), path);
        out->libjvm_deleted = deleted;
    }
    if (attach__span_is(base, "libmanagement.so"))
        out->management = true;
    if (attach__span_starts(base, "libj9vm"))
        out->openj9 = true;
    if (is_agent(path) && out->thread_agent[0] == '\0')
        (void)attach__copy_unescaped(out->thread_agent, sizeof(out->thread_agent), path);
    note_profiler(out, path, deleted);
}

void attach__maps_read(attach__map_facts *out, attach__span text, const char *root)
{
    attach__span line, path, above = attach__span_of(root, strlen(root));
    memset(out, 0, sizeof(*out));
    while (attach__next_line(&text, &line))
        if (file_path(line, &path))
            note_path(out, without_root(path, above));
}
