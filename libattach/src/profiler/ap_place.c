/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ap_place_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_candidates_impl.h"

#define LOCK_NAP_NS    5000000L
#define HEADROOM_BYTES ((uint64_t)8 << 20) /* for the library and the start of the recording */

void attach__place_close(attach__place *place)
{
    if (place->fd >= 0)
        (void)close(place->fd);
    place->fd = -1;
    place->made = false;
    place->path[0] = '\0';
}

static int check_is_private(int fd, const attach_target *target)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    bool ours = S_ISDIR(st.st_mode) && st.st_uid == target->ids.uid && (st.st_mode & 077) == 0;
    return ours ? 0 : -EPERM;
}

int attach__place_open(attach__place *out, const attach_target *target, const char *path)
{
    out->fd = -1;
    out->made = false;
    size_t n = strlen(path);
    if (n >= sizeof(out->path))
        return -ENAMETOOLONG;
    memmove(out->path, path, n + 1);
    int fd = attach__open_in_root(target->root_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    int rc = check_is_private(fd, target);
    if (rc != 0) {
        (void)close(fd);
        return rc;
    }
    out->fd = fd;
    return 0;
}

int attach__lock_until(int fd, uint64_t until_ns)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        if (attach__now_ns() >= until_ns)
            return -EWOULDBLOCK;
        (void)nanosleep(&(struct timespec){0, LOCK_NAP_NS}, NULL);
    }
    return 0;
}

bool attach__place_is_linked(const attach__place *place)
{
    struct stat st;
    return fstat(place->fd, &st) == 0 && st.st_nlink > 0;
}

static bool join(char out[ATTACH__PLACE_PATH_MAX], const char *base, const char *name)
{
    const char *slash = strcmp(base, "/") == 0 ? "" : "/";
    int n = snprintf(out, ATTACH__PLACE_PATH_MAX, "%s%s%s", strcmp(base, "/") == 0 ? "/" : base,
                     slash, name);
    return n > 0 && n < ATTACH__PLACE_PATH_MAX;
}

int attach__place_find(attach__place *out, const attach_target *target,
                       const attach_ap_options *options, const char *name)
{
    attach__candidates candidates;
    char path[ATTACH__PLACE_PATH_MAX];
    attach__candidates_list(&candidates, target, options);
    for (size_t i = 0; i < candidates.n; i++)
        if (join(path, candidates.paths[i], name) && attach__place_open(out, target, path) == 0)
            return 0;
    out->fd = -1;
    return -ENOENT;
}

int attach__place_new_name(char out[ATTACH__PLACE_NAME_MAX], const char *installation,
                           attach_error *err)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return attach__fail(err, ATTACH_ERR_IO, "getrandom: %s", strerror(errno));
    (void)snprintf(out, ATTACH__PLACE_NAME_MAX, "hotstack-%s-%016" PRIx64, installation, random);
    return ATTACH_OK;
}

/* Returns why a directory cannot be used, or NULL. */
static const char *objection(int fd, bool needs_exec, bool *full)
{
    struct statvfs fs;
    if (fstatvfs(fd, &fs) != 0)
        return "unreadable";
    if (fs.f_flag & ST_RDONLY)
        return "read-only";
    if (needs_exec && (fs.f_flag & ST_NOEXEC))
        return "noexec";
    if ((uint64_t)fs.f_bavail * fs.f_frsize < HEADROOM_BYTES) {
        *full = true;
        return "full";
    }
    return NULL;
}

const char *attach__place_objection(const attach_target *target, const char *path, bool needs_exec)
{
    char by_fd[40];
    bool full = false;
    int fd = attach__open_in_root(target->root_fd, path, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return fd == -ENOENT ? "missing" : "not reachable";
    const char *why = objection(fd, needs_exec, &full);
    (void)snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", fd);
    if (why == NULL && faccessat(AT_FDCWD, by_fd, W_OK | X_OK, AT_EACCESS) != 0)
        why = "not writable";
    (void)close(fd);
    return why;
}

static const char *mkdir_objection(int error, bool *full)
{
    if (error == ENOSPC || error == EDQUOT)
        *full = true;
    return *full ? "full" : error == EROFS ? "read-only" : "not writable";
}

/* Creates base/name. Returns NULL with *out filled, or the reason why it cannot be created. */
static const char *try_candidate(attach__place *out, const attach_target *target, const char *base,
                                 const char *name, bool needs_exec, bool *full)
{
    char path[ATTACH__PLACE_PATH_MAX];
    if (!join(path, base, name))
        return "name too long";
    int parent = attach__open_in_root(target->root_fd, base, O_PATH | O_DIRECTORY, 0);
    if (parent < 0)
        return parent == -ENOENT ? "missing" : "not reachable";
    const char *why = objection(parent, needs_exec, full);
    bool made = why == NULL && mkdirat(parent, name, 0700) == 0;
    if (why == NULL && !made && errno != EEXIST)
        why = mkdir_objection(errno, full);
    if (why == NULL && attach__place_open(out, target, path) != 0)
        why = made ? "gives new directories to another user" : "taken by another user";
    if (why != NULL && made)
        (void)unlinkat(parent, name, AT_REMOVEDIR);
    (void)close(parent);
    out->made = why == NULL && made;
    return why;
}

static void note_tried(char *tried, size_t cap, const char *path, const char *why)
{
    size_t n = strlen(tried);
    (void)snprintf(tried + n, cap - n, "%s%s: %s", n == 0 ? "" : ", ", path, why);
}

int attach__place_create(attach__place *out, const attach_target *target,
                         const attach_ap_options *options, const char *first, const char *name,
                         bool needs_exec, attach_error *err)
{
    attach__candidates candidates;
    char tried[160] = "";
    bool any_full = false, first_full = false;
    if (first != NULL && try_candidate(out, target, first, name, needs_exec, &first_full) == NULL)
        return ATTACH_OK;
    attach__candidates_list(&candidates, target, options);
    for (size_t i = 0; i < candidates.n; i++) {
        bool full = false;
        const char *why = try_candidate(out, target, candidates.paths[i], name, needs_exec, &full);
        if (why == NULL)
            return ATTACH_OK;
        any_full = any_full || full;
        note_tried(tried, sizeof(tried), candidates.paths[i], why);
    }
    out->fd = -1;
    if (any_full)
        return attach__refuse(err, ATTACH_REASON_DISK_FULL,
                              "no space for the session's files in process %d (%s)",
                              target->identity.pid, tried);
    return attach__refuse(err, ATTACH_REASON_NO_EXEC_DIR,
                          "process %d has no writable%s directory for our files (%s)",
                          target->identity.pid, needs_exec ? ", executable" : "", tried);
}

int attach__place_read_marker(attach__marker *out, const attach__place *place)
{
    attach__blob text;
    int rc = attach__read_in_root(&text, place->fd, ATTACH__FILE_MARKER, ATTACH__MARKER_MAX);
    if (rc != 0)
        return rc;
    rc = attach__marker_parse(out, attach__blob_span(&text), NULL) == ATTACH_OK ? 0 : -EINVAL;
    free(text.p);
    return rc;
}

int attach__place_write_marker(const attach__place *place, const attach__marker *marker)
{
    char text[ATTACH__MARKER_MAX];
    size_t n = attach__marker_format(text, marker);
    (void)unlinkat(place->fd, ATTACH__FILE_MARKER_2, 0);
    int fd =
        attach__open_regular(place->fd, ATTACH__FILE_MARKER_2, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return fd;
    int rc = attach__write_all(fd, text, n);
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && renameat(place->fd, ATTACH__FILE_MARKER_2, place->fd, ATTACH__FILE_MARKER) != 0)
        rc = -errno;
    return rc;
}

/* The caller has checked that the directory's name is one of Hotstack's. */
void attach__place_remove_directory(const attach__place *place, const attach_target *target)
{
    char parent[ATTACH__PLACE_PATH_MAX];
    attach__span path = attach__span_of(place->path, strlen(place->path));
    attach__span above = attach__span_dirname(path);
    if (above.n == 0)
        above = attach__span_of("/", 1);
    if (!attach__copy_exact(parent, sizeof(parent), above))
        return;
    int fd = attach__open_in_root(target->root_fd, parent, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return;
    (void)unlinkat(fd, attach__span_basename(path).p, AT_REMOVEDIR);
    (void)close(fd);
}

void attach__place_remove(attach__place *place, const attach_target *target, bool keep_library)
{
    /* The marker last: a process that is killed before leaves a directory that the next sweep
     * knows. */
    static const char *const files[] = {
        ATTACH__FILE_RECORDING, ATTACH__FILE_LOG,      ATTACH__FILE_STATUS,  ATTACH__FILE_SETTINGS,
        ATTACH__FILE_EXPIRED,   ATTACH__FILE_MARKER_2, ATTACH__LIBRARY_NAME, ATTACH__FILE_MARKER,
    };
    size_t n = sizeof(files) / sizeof(files[0]);
    if (place->fd < 0)
        return;
    for (size_t i = 0; i < n - (keep_library ? 2 : 0); i++)
        (void)unlinkat(place->fd, files[i], 0);
    if (!keep_library)
        attach__place_remove_directory(place, target);
    attach__place_close(place);
}
