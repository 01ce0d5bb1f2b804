/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/threads_agent_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_candidates_impl.h"
#include <attach/command.h>
#include <attach/listener_impl.h>

#define LIBRARY_MAX ((uint64_t)16 << 20)
#define BUSY_NAP_NS 5000000L
#define ENTRIES_MAX 16384
#define TRIES       3 /* the directory may be removed before it is locked */

/* ---- options ---- */

static bool unknown_tail_is_zero(const attach_threads_options *options)
{
    const unsigned char *bytes = (const unsigned char *)options;
    for (size_t i = sizeof(*options); i < options->size; i++)
        if (bytes[i] != 0)
            return false;
    return options->size >= sizeof(*options);
}

static bool is_id(const char *id)
{
    return id != NULL && attach__is_installation_id(attach__span_of(id, strnlen(id, 64)));
}

/* Returns the field that is out of its range, or NULL. */
static const char *unusable_field(const attach_threads_options *o)
{
    if (!is_id(o->installation_id))
        return "installation_id";
    if (o->lease_id != NULL && !is_id(o->lease_id))
        return "lease_id";
    if (o->max_threads > THREADS_THREADS_LIMIT)
        return "max_threads";
    if (o->max_stacks > THREADS_STACKS_LIMIT && o->max_stacks != UINT32_MAX)
        return "max_stacks";
    if (o->max_depth > THREADS_DEPTH_LIMIT)
        return "max_depth";
    if (o->max_bytes > ATTACH_THREADS_BYTES_MAX ||
        (o->max_bytes != 0 && o->max_bytes < THREADS_BYTES_LEAST))
        return "max_bytes";
    if (o->pause_ms > ATTACH_PAUSE_MS_MAX)
        return "pause_ms";
    return o->lease_ms > ATTACH_LEASE_MS_MAX ? "lease_ms" : NULL;
}

static int check_options(const attach_threads_options *options, attach_error *err)
{
    if (options == NULL || !unknown_tail_is_zero(options))
        return attach__fail(err, ATTACH_ERR_USAGE,
                            "attach_threads_options: size is not set by "
                            "ATTACH_THREADS_OPTIONS_INIT, or a field that this version does not "
                            "know is set");
    const char *field = unusable_field(options);
    return field == NULL ? ATTACH_OK
                         : attach__fail(err, ATTACH_ERR_USAGE,
                                        "attach_threads_options.%s is out of its range", field);
}

/* ---- finding ---- */

static void find_place(attach__agent *a)
{
    char directory[ATTACH__PATH_MAX];
    attach__span above = attach__span_dirname(attach__span_of(a->mapped, strlen(a->mapped)));
    if (!attach__copy_exact(directory, sizeof(directory), above) ||
        !attach__copy_exact(a->name, sizeof(a->name), attach__span_basename(above)))
        return;
    if (attach__place_open(&a->place, a->target, directory) != 0)
        (void)attach__place_find(&a->place, a->target, &a->places, a->name);
}

int attach__agent_open(attach__agent *a, attach_target *target,
                       const attach_threads_options *options, uint64_t deadline_ns,
                       attach_error *err)
{
    attach__map_facts maps;
    memset(a, 0, sizeof(*a));
    a->target = target;
    a->options = options;
    a->deadline_ns = deadline_ns;
    a->place.fd = -1;
    int rc = check_options(options, err);
    if (rc == ATTACH_OK)
        rc = attach__target_check(target, err);
    if (rc == ATTACH_OK)
        rc = attach__target_maps(&maps, target, err);
    if (rc != ATTACH_OK)
        return rc;
    a->places = (attach_ap_options)ATTACH_AP_OPTIONS_INIT;
    a->places.installation_id = options->installation_id;
    a->places.dirs = options->dirs;
    a->places.n_dirs = options->n_dirs;
    a->unloadable = target->jvm.jdk_deleted && !maps.management;
    a->keep_library = maps.libc == ATTACH_LIBC_MUSL;
    memcpy(a->mapped, maps.thread_agent, sizeof(a->mapped));
    if (a->mapped[0] != '\0')
        find_place(a);
    return ATTACH_OK;
}

void attach__agent_close(attach__agent *a)
{
    attach__place_close(&a->place);
}

/* ---- connecting ---- */

static int refuse_socket(const attach__agent *a, const char *why, attach_error *err)
{
    return attach__refuse(err, ATTACH_REASON_PERMISSION_DENIED,
                          "the thread agent's socket in %s of process %d %s", a->place.path,
                          a->target->identity.pid, why);
}

/* Checks that the listener is the JVM itself, as the kernel reports it. */
static int check_peer(int fd, const attach__agent *a, attach_error *err)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0)
        return attach__fail(err, ATTACH_ERR_IO, "getsockopt: %s", strerror(errno));
    if (peer.pid != a->target->identity.pid || peer.uid != a->target->ids.uid)
        return refuse_socket(a, "belongs to another process", err);
    return ATTACH_OK;
}

static int connect_inode(int *out, int inode_fd, const attach__agent *a, attach_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", inode_fd);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return attach__fail(err, ATTACH_ERR_IO, "socket: %s", strerror(errno));
    int rc = ATTACH_OK;
    while (rc == ATTACH_OK &&
           connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        if (errno == ECONNREFUSED || errno == ENOENT)
            rc = ATTACH__NO_AGENT;
        else if (errno != EAGAIN && errno != EINTR) /* EAGAIN: its backlog is full */
            rc = refuse_socket(a, strerror(errno), err);
        else if (attach__now_ns() >= a->deadline_ns)
            rc = attach__refuse(err, ATTACH_REASON_ATTACH_TIMEOUT,
                                "the thread agent of process %d is busy", a->target->identity.pid);
        else
            (void)nanosleep(&(struct timespec){0, BUSY_NAP_NS}, NULL);
    }
    if (rc == ATTACH_OK)
        rc = check_peer(fd, a, err);
    if (rc == ATTACH_OK)
        *out = fd;
    else
        (void)close(fd);
    return rc;
}

int attach__agent_connect(int *fd, attach__agent *a, attach_error *err)
{
    struct stat st;
    if (a->place.fd < 0)
        return ATTACH__NO_AGENT;
    int inode_fd = attach__open_in_root(a->place.fd, THREADS_SOCKET, O_PATH | O_NOFOLLOW, 0);
    if (inode_fd < 0)
        return ATTACH__NO_AGENT;
    int rc = fstat(inode_fd, &st) == 0 && S_ISSOCK(st.st_mode)
                 ? connect_inode(fd, inode_fd, a, err)
                 : refuse_socket(a, "is no socket", err);
    (void)close(inode_fd);
    return rc;
}

/* ---- loading ---- */

static int choose_name(attach__agent *a, attach_error *err)
{
    uint64_t random = 0;
    if (a->name[0] != '\0')
        return ATTACH_OK;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return attach__fail(err, ATTACH_ERR_IO, "getrandom: %s", strerror(errno));
    (void)snprintf(a->name, sizeof(a->name), ATTACH__AGENT_PREFIX "%s-%016" PRIx64,
                   a->options->installation_id, random);
    return ATTACH_OK;
}

/* Finds the parent of the directory from which the library was mapped. */
static bool original_base(char out[ATTACH__PATH_MAX], const attach__agent *a)
{
    attach__span path = attach__span_of(a->mapped, strlen(a->mapped));
    attach__span base = attach__span_dirname(attach__span_dirname(path));
    return a->mapped[0] != '\0' &&
           attach__copy_exact(out, ATTACH__PATH_MAX, base.n == 0 ? attach__span_of("/", 1) : base);
}

static int ensure_place(attach__agent *a, attach_error *err)
{
    char base[ATTACH__PATH_MAX];
    if (a->place.fd >= 0)
        return ATTACH_OK;
    int rc = choose_name(a, err);
    if (rc != ATTACH_OK)
        return rc;
    bool known = original_base(base, a);
    bool needs_exec = a->mapped[0] == '\0' || a->keep_library;
    return attach__place_create(&a->place, a->target, &a->places, known ? base : NULL, a->name,
                                needs_exec, err);
}

int attach__agent_lock(attach__agent *a, attach_error *err)
{
    int rc = attach__lock_until(a->place.fd, a->deadline_ns);
    if (rc == -EWOULDBLOCK)
        return attach__target_is_taken(a->target, err);
    if (rc != 0)
        return attach__fail(err, ATTACH_ERR_IO, "cannot lock %s: %s", a->place.path, strerror(-rc));
    return attach__place_is_linked(&a->place) ? ATTACH_OK : ATTACH__NO_AGENT;
}

static int write_error(const attach__agent *a, int error, attach_error *err)
{
    if (error == ENOSPC || error == EDQUOT)
        return attach__refuse(err, ATTACH_REASON_DISK_FULL, "no space left in %s of process %d",
                              a->place.path, a->target->identity.pid);
    return attach__fail(err, ATTACH_ERR_IO, "cannot write into %s of process %d: %s", a->place.path,
                        a->target->identity.pid, strerror(error));
}

static int save_marker(attach__agent *a, attach_error *err)
{
    attach__marker marker = {.identity = a->target->identity,
                             .namespace_id = attach__namespace_id(a->target)};
    (void)snprintf(marker.installation, sizeof(marker.installation), "%s",
                   a->options->installation_id);
    int rc = attach__place_write_marker(&a->place, &marker);
    return rc == 0 ? ATTACH_OK : write_error(a, -rc, err);
}

static int copy_library(attach__agent *a, attach_error *err)
{
    attach__blob bytes;
    struct stat st;
    int from = a->options->library_fd;
    if (from < 0 || fstat(from, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0 ||
        (uint64_t)st.st_size > LIBRARY_MAX)
        return attach__refuse(err, ATTACH_REASON_NO_THREAD_AGENT,
                              THREADS_LIBRARY " is not installed where it was looked for");
    if (lseek(from, 0, SEEK_SET) != 0 || attach__read_fd(&bytes, from, LIBRARY_MAX) != 0)
        return attach__fail(err, ATTACH_ERR_IO, "cannot read " THREADS_LIBRARY);
    (void)unlinkat(a->place.fd, THREADS_LIBRARY, 0);
    int fd = attach__open_regular(a->place.fd, THREADS_LIBRARY, O_WRONLY | O_CREAT | O_EXCL, 0500);
    int rc = fd < 0 ? fd : attach__write_all(fd, bytes.p, bytes.n);
    if (fd >= 0 && close(fd) != 0 && rc == 0)
        rc = -errno;
    free(bytes.p);
    return rc == 0 ? ATTACH_OK : write_error(a, -rc, err);
}

/* Writes the marker and the library. The marker comes first, because it protects the directory from
 * sweeps. glibc finds a mapped library by its name and needs no file; musl opens the file. */
static int install(attach__agent *a, attach_error *err)
{
    int rc = save_marker(a, err);
    if (rc != ATTACH_OK || (a->mapped[0] != '\0' && !a->keep_library))
        return rc;
    if (a->mapped[0] != '\0' && faccessat(a->place.fd, THREADS_LIBRARY, X_OK, 0) == 0)
        return ATTACH_OK;
    return copy_library(a, err);
}

static const char *words_of(int code)
{
    static const char *const words[] = {"nothing",
                                        "its options are malformed",
                                        "it cannot open its directory",
                                        "it cannot make its socket",
                                        "it cannot start its thread",
                                        "it has no memory"};
    return code > 0 && code < (int)(sizeof(words) / sizeof(words[0])) ? words[code] : "it failed";
}

static int load(attach__agent *a, attach_error *err)
{
    char library[ATTACH__PATH_MAX], options[ATTACH_ARG_MAX];
    int code = 0;
    if (a->mapped[0] == '\0')
        (void)snprintf(library, sizeof(library), "%s/" THREADS_LIBRARY, a->place.path);
    else
        memcpy(library, a->mapped, sizeof(library));
    (void)snprintf(options, sizeof(options), "%s%s", a->keep_library ? THREADS_KEEP_LIBRARY : "",
                   a->place.path);
    int rc = attach_load(&code, a->target, library, options, a->deadline_ns, err);
    if (rc != ATTACH_OK || code == 0)
        return rc;
    return attach__refuse(err, ATTACH_REASON_THREAD_AGENT_ERROR,
                          "the thread agent did not start in process %d (code %d): %s",
                          a->target->identity.pid, code, words_of(code));
}

/* ---- sweeping ---- */

static bool is_leftover(const attach__agent *a, const attach__place *place)
{
    attach__marker marker;
    return attach__place_read_marker(&marker, place) == 0 &&
           attach__marker_is_outlived(&marker, a->target, a->options->installation_id);
}

static void remove_files(attach__place *place, const attach_target *target, bool keep_library)
{
    (void)unlinkat(place->fd, THREADS_SOCKET, 0);
    (void)unlinkat(place->fd, THREADS_MARKER_2, 0);
    if (!keep_library) {
        (void)unlinkat(place->fd, THREADS_LIBRARY, 0);
        (void)unlinkat(place->fd, THREADS_MARKER, 0);
        attach__place_remove_directory(place, target);
    }
    attach__place_close(place);
}

static void sweep_directory(const attach__agent *a, const char *base, DIR *dir)
{
    const struct dirent *entry;
    for (int seen = 0; seen < ENTRIES_MAX && (entry = readdir(dir)) != NULL; seen++) {
        char path[ATTACH__PLACE_PATH_MAX];
        attach__span id;
        attach__place place;
        if (!attach__is_agent_directory(attach__span_of(entry->d_name, strlen(entry->d_name)), &id))
            continue;
        int n = snprintf(path, sizeof(path), "%s/%s", strcmp(base, "/") == 0 ? "" : base,
                         entry->d_name);
        if (n >= (int)sizeof(path) || attach__place_open(&place, a->target, path) != 0)
            continue;
        if (flock(place.fd, LOCK_EX | LOCK_NB) == 0 && is_leftover(a, &place))
            remove_files(&place, a->target, false);
        attach__place_close(&place);
    }
}

/* Removes directories whose JVM has ended. */
static void sweep(const attach__agent *a)
{
    attach__candidates candidates;
    attach__candidates_list(&candidates, a->target, &a->places);
    for (size_t i = 0; i < candidates.n; i++) {
        int fd = attach__open_in_root(a->target->root_fd, candidates.paths[i],
                                      O_RDONLY | O_DIRECTORY, 0);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        if (dir != NULL) {
            sweep_directory(a, candidates.paths[i], dir);
            (void)closedir(dir);
        } else if (fd >= 0) {
            (void)close(fd);
        }
    }
}

void attach__agent_remove(attach__agent *a)
{
    remove_files(&a->place, a->target, a->keep_library);
}

/* ---- the whole ---- */

/* Starts the agent. The caller holds the lock, and no agent listens. */
static int start(int *fd, attach__agent *a, attach_error *err)
{
    sweep(a);
    int rc = install(a, err);
    if (rc == ATTACH_OK)
        rc = load(a, err);
    if (rc == ATTACH_OK)
        rc = attach__agent_connect(fd, a, err);
    if (rc == ATTACH__NO_AGENT)
        rc = attach__refuse(err, ATTACH_REASON_THREAD_AGENT_ERROR,
                            "the thread agent of process %d was loaded, but does not listen in %s",
                            a->target->identity.pid, a->place.path);
    if (rc != ATTACH_OK)
        attach__agent_remove(a);
    return rc;
}

static int try_bring_up(int *fd, attach__agent *a, attach_error *err)
{
    int rc = ensure_place(a, err);
    if (rc == ATTACH_OK)
        rc = attach__agent_lock(a, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = attach__agent_connect(fd, a, err); /* another process may have started it */
    if (rc == ATTACH__NO_AGENT)
        rc = start(fd, a, err);
    if (a->place.fd >= 0)
        (void)flock(a->place.fd, LOCK_UN);
    return rc;
}

int attach__agent_bring_up(int *fd, attach__agent *a, attach_error *err)
{
    if (a->unloadable)
        return attach__target_lacks_jdk(a->target, "thread snapshots need its libmanagement.so",
                                        err);
    for (int i = 0; i < TRIES; i++) {
        int rc = try_bring_up(fd, a, err);
        if (rc != ATTACH__NO_AGENT)
            return rc;
        attach__place_close(&a->place); /* the directory was removed: make a new one */
    }
    return attach__refuse(err, ATTACH_REASON_THREAD_AGENT_ERROR,
                          "the thread agent's directory in process %d is taken away again and "
                          "again",
                          a->target->identity.pid);
}
