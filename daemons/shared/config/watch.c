/* SPDX-License-Identifier: Apache-2.0 */
#include <config/watch.h>

#include "config_impl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct watched_file {
    char *path;
    struct stat last;
} watched_file;

struct config_watch {
    int fd;
    watched_file *files;
    size_t count;
    bool failed; /* a file could not be added */
};

static void add_file(config_watch *watch, const char *path)
{
    char directory[PATH_MAX];
    watched_file *files = realloc(watch->files, (watch->count + 1) * sizeof(*files));
    if (files != NULL)
        watch->files = files;
    char *copy = files != NULL ? strdup(path) : NULL;
    if (copy == NULL) {
        watch->failed = true;
        return;
    }
    watched_file *added = &files[watch->count++];
    *added = (watched_file){.path = copy};
    (void)stat(path, &added->last); /* a file that does not exist yet differs once it does */
    const char *slash = strrchr(path, '/');
    (void)snprintf(directory, sizeof(directory), "%.*s",
                   slash == NULL ? 1 : (int)(slash - path + 1), slash == NULL ? "." : path);
    if (inotify_add_watch(watch->fd, directory, IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE) < 0)
        watch->failed = true;
}

static void add_secrets(config_watch *watch, const config_section *section)
{
    for (size_t i = 0; i < section->count; i++) {
        const config__value *value = &section->values[i];
        if (value->secret_file != NULL)
            add_file(watch, value->secret_file);
        for (size_t rule = 0; rule < value->rule_count; rule++)
            add_secrets(watch, value->rules[rule]);
    }
}

config_watch *config_watch_open(const config *settings, bool secrets)
{
    config_watch *watch = calloc(1, sizeof(*watch));
    if (watch == NULL)
        return NULL;
    watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch->fd >= 0 && config_file(settings) != NULL)
        add_file(watch, config_file(settings));
    if (watch->fd >= 0 && secrets)
        add_secrets(watch, config_values(settings));
    if (watch->count > 0 && !watch->failed)
        return watch;
    config_watch_close(watch);
    return NULL;
}

void config_watch_close(config_watch *watch)
{
    if (watch == NULL)
        return;
    for (size_t i = 0; i < watch->count; i++)
        free(watch->files[i].path);
    free(watch->files);
    if (watch->fd >= 0)
        (void)close(watch->fd);
    free(watch);
}

int config_watch_fd(const config_watch *watch)
{
    return watch != NULL ? watch->fd : -1;
}

static bool has_changed(watched_file *file)
{
    const struct stat *last = &file->last;
    struct stat now;
    if (stat(file->path, &now) != 0)
        return false;
    bool same = now.st_dev == last->st_dev && now.st_ino == last->st_ino &&
                now.st_size == last->st_size && now.st_mtim.tv_sec == last->st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == last->st_mtim.tv_nsec;
    file->last = now;
    return !same;
}

bool config_watch_changed(config_watch *watch)
{
    char events[4096];
    bool changed = false;
    while (watch != NULL && read(watch->fd, events, sizeof(events)) > 0)
        continue;
    for (size_t i = 0; watch != NULL && i < watch->count; i++)
        changed = has_changed(&watch->files[i]) || changed;
    return changed;
}
