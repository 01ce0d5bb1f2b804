/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proc/proc_stat_impl.h"
#include "profiler/ap_candidates_impl.h"
#include "profiler/ap_place_impl.h"

#define ENTRIES_MAX          16384
#define UNMARKED_MIN_SECONDS 600
#define STAT_MAX             4096

static bool read_stat(attach__stat *out, const attach_target *target, int32_t pid)
{
    char path[40];
    attach__blob text;
    (void)snprintf(path, sizeof(path), "../%d/stat", pid);
    if (attach__read_proc(&text, target->proc_fd, path, STAT_MAX) != 0)
        return false;
    bool sound = attach__stat_parse(out, attach__blob_span(&text), NULL) == ATTACH_OK;
    free(text.p);
    return sound;
}

uint64_t attach__namespace_id(const attach_target *target)
{
    attach__stat first;
    return read_stat(&first, target, 1) ? first.start_ticks + 1 : 0;
}

static bool is_alive(const attach_identity *identity, const attach_target *target)
{
    attach__stat stat;
    return strcmp(identity->boot_id, target->identity.boot_id) == 0 &&
           read_stat(&stat, target, identity->pid) && stat.start_ticks == identity->start_ticks &&
           !attach__state_is_dead(stat.state);
}

bool attach__marker_is_outlived(const attach__marker *marker, const attach_target *target,
                                const char *installation)
{
    bool own = strcmp(marker->installation, installation) == 0;
    bool comparable =
        own || (marker->namespace_id != 0 && marker->namespace_id == attach__namespace_id(target));
    return comparable && !is_alive(&marker->identity, target);
}

static bool is_this(const attach_identity *identity, const attach_target *target)
{
    return identity->pid == target->identity.pid &&
           identity->start_ticks == target->identity.start_ticks &&
           strcmp(identity->boot_id, target->identity.boot_id) == 0;
}

/* Returns whether the directory is old. A new one without a marker may be about to get it; in an
 * old one a call ended between mkdir and the first write. */
static bool is_old(const attach__place *place)
{
    struct stat st;
    return fstat(place->fd, &st) == 0 && time(NULL) - st.st_mtime > UNMARKED_MIN_SECONDS;
}

/* Visits one private directory. True ends the walk and passes ownership of the place to the
 * visitor. */
typedef bool (*visit_fn)(void *ctx, attach__place *place, const char *name, attach__span id);

static bool walk_directory(const attach_target *target, const char *base, DIR *dir, visit_fn visit,
                           void *ctx)
{
    const struct dirent *entry;
    for (int seen = 0; seen < ENTRIES_MAX && (entry = readdir(dir)) != NULL; seen++) {
        char path[ATTACH__PLACE_PATH_MAX];
        attach__span id;
        attach__place place;
        if (!attach__is_our_directory(attach__span_of(entry->d_name, strlen(entry->d_name)), &id))
            continue;
        int n = snprintf(path, sizeof(path), "%s/%s", strcmp(base, "/") == 0 ? "" : base,
                         entry->d_name);
        if (n >= (int)sizeof(path) || attach__place_open(&place, target, path) != 0)
            continue;
        if (visit(ctx, &place, entry->d_name, id))
            return true;
        attach__place_close(&place);
    }
    return false;
}

/* Visits every private directory in every candidate. */
static bool walk(const attach_target *target, const attach_ap_options *options, visit_fn visit,
                 void *ctx)
{
    attach__candidates candidates;
    bool ended = false;
    attach__candidates_list(&candidates, target, options);
    for (size_t i = 0; i < candidates.n && !ended; i++) {
        const char *base = candidates.paths[i];
        int fd = attach__open_in_root(target->root_fd, base, O_RDONLY | O_DIRECTORY, 0);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        if (dir == NULL) {
            if (fd >= 0)
                (void)close(fd);
            continue;
        }
        ended = walk_directory(target, base, dir, visit, ctx);
        (void)closedir(dir);
    }
    return ended;
}

typedef struct sweep {
    const attach_target *target;
    const char *installation;
    const char *keep; /* NULL = nothing */
} sweep;

/* Returns whether the directory is a leftover. Another installation may use the directory from
 * which the library was mapped; its marker then names that installation. */
static bool is_leftover(const sweep *s, const attach__place *place, attach__span id)
{
    attach__marker marker;
    if (attach__place_read_marker(&marker, place) != 0)
        return is_old(place);
    bool own =
        attach__span_is(id, s->installation) || strcmp(marker.installation, s->installation) == 0;
    return (own && is_this(&marker.identity, s->target)) ||
           attach__marker_is_outlived(&marker, s->target, s->installation);
}

static bool sweep_one(void *ctx, attach__place *place, const char *name, attach__span id)
{
    const sweep *s = ctx;
    bool kept = s->keep != NULL && strcmp(name, s->keep) == 0;
    if (!kept && is_leftover(s, place, id) && flock(place->fd, LOCK_EX | LOCK_NB) == 0)
        attach__place_remove(place, s->target, false);
    return false;
}

void attach__place_sweep(const attach_target *target, const attach_ap_options *options,
                         const char *keep)
{
    sweep s = {target, options->installation_id, keep};
    (void)walk(target, options, sweep_one, &s);
}

typedef struct search {
    const attach_target *target;
    attach__place *found;
    char *name;
} search;

static bool is_marked(void *ctx, attach__place *place, const char *name, attach__span id)
{
    const search *s = ctx;
    attach__marker marker;
    (void)id;
    if (attach__place_read_marker(&marker, place) != 0 || !is_this(&marker.identity, s->target))
        return false;
    *s->found = *place;
    (void)snprintf(s->name, ATTACH__PLACE_NAME_MAX, "%s", name);
    return true;
}

int attach__place_find_marked(attach__place *out, char name[ATTACH__PLACE_NAME_MAX],
                              const attach_target *target, const attach_ap_options *options)
{
    search s = {target, out, name};
    out->fd = -1;
    name[0] = '\0';
    return walk(target, options, is_marked, &s) ? 0 : -ENOENT;
}
