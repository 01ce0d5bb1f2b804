#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ap_candidates.h"
#include "ap_place.h"
#include "proc_stat.h"

#define ENTRIES_MAX          16384
#define UNMARKED_MIN_SECONDS 600
#define STAT_MAX             4096

/* Whether the process of that identity still runs on this host. */
static bool is_alive(const attach_identity *identity, const attach_target *target)
{
    char path[40];
    attach__blob text;
    attach__stat stat;
    if (strcmp(identity->boot_id, target->identity.boot_id) != 0)
        return false;
    (void)snprintf(path, sizeof(path), "../%d/stat", identity->pid);
    if (attach__read_proc(&text, target->proc_fd, path, STAT_MAX) != 0)
        return false;
    bool same = attach__stat_parse(&stat, attach__blob_span(&text), NULL) == ATTACH_OK &&
                stat.start_ticks == identity->start_ticks && !attach__state_is_dead(stat.state);
    free(text.p);
    return same;
}

static bool is_this(const attach_identity *identity, const attach_target *target)
{
    return identity->pid == target->identity.pid &&
           identity->start_ticks == target->identity.start_ticks &&
           strcmp(identity->boot_id, target->identity.boot_id) == 0;
}

/* Without a marker it was left between mkdir and the first write, or is just being made. */
static bool is_old(const attach__place *place)
{
    struct stat st;
    return fstat(place->fd, &st) == 0 && time(NULL) - st.st_mtime > UNMARKED_MIN_SECONDS;
}

static bool is_leftover(const attach__place *place, const attach_target *target)
{
    attach__marker marker;
    if (attach__place_read_marker(&marker, place) != 0)
        return is_old(place);
    return is_this(&marker.identity, target) || !is_alive(&marker.identity, target);
}

static void sweep_directory(const attach_target *target, const char *base, DIR *dir,
                            const char *installation, const char *keep)
{
    const struct dirent *entry;
    for (int seen = 0; seen < ENTRIES_MAX && (entry = readdir(dir)) != NULL; seen++) {
        char path[ATTACH__PLACE_PATH_MAX];
        attach__span id;
        attach__place place;
        if (!attach__is_our_directory(attach__span_of(entry->d_name, strlen(entry->d_name)), &id) ||
            !attach__span_is(id, installation) ||
            (keep != NULL && strcmp(entry->d_name, keep) == 0))
            continue;
        int n = snprintf(path, sizeof(path), "%s/%s", strcmp(base, "/") == 0 ? "" : base,
                         entry->d_name);
        if (n >= (int)sizeof(path) || attach__place_open(&place, target, path) != 0)
            continue;
        if (is_leftover(&place, target))
            attach__place_remove(&place, target, false);
        attach__place_close(&place);
    }
}

void attach__place_sweep(const attach_target *target, const attach_ap_options *options,
                         const char *keep)
{
    attach__candidates candidates;
    attach__candidates_list(&candidates, target, options);
    for (size_t i = 0; i < candidates.n; i++) {
        const char *base = candidates.paths[i];
        int fd = attach__open_in_root(target->root_fd, base, O_RDONLY | O_DIRECTORY, 0);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        if (dir == NULL) {
            if (fd >= 0)
                (void)close(fd);
            continue;
        }
        sweep_directory(target, base, dir, options->installation_id, keep);
        (void)closedir(dir);
    }
}
