/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ap_session_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_jfr_impl.h"
#include <attach/command.h>

#define LOG_MAX       16384
#define STATUS_MAX    4096
#define LIBRARY_MAX   ((uint64_t)64 << 20)
#define COPY_UNIT     65536
#define START_LOCK_MS 15000 /* how long a call waits for the first start of another one */
#define OLDEST_MAJOR  4

/* async-profiler's answer to any command, with any events, while the JVM offers no tool interface
 * yet (src/vmEntry.cpp, Agent_OnAttach). */
#define NO_TOOL_INTERFACE "JVM does not support Tool Interface"

static bool unknown_tail_is_zero(const attach_ap_options *options)
{
    const unsigned char *bytes = (const unsigned char *)options;
    for (size_t i = sizeof(*options); i < options->size; i++)
        if (bytes[i] != 0)
            return false;
    return options->size >= sizeof(*options);
}

static int check_options(const attach_ap_options *options, attach_error *err)
{
    if (options == NULL || !unknown_tail_is_zero(options))
        return attach__fail(err, ATTACH_ERR_USAGE,
                            "attach_ap_options: size is not set by ATTACH_AP_OPTIONS_INIT, or a "
                            "field that this version does not know is set");
    const char *id = options->installation_id;
    if (id == NULL || !attach__is_installation_id(attach__span_of(id, strlen(id))))
        return attach__fail(err, ATTACH_ERR_USAGE,
                            "attach_ap_options.installation_id must be 1 to %d of a-z and 0-9",
                            ATTACH_INSTALLATION_MAX);
    return ATTACH_OK;
}

/* Finds the private directory from the path of Hotstack's mapped library. */
static void find_place_of_library(attach__session *s)
{
    char directory[ATTACH__PATH_MAX];
    attach__span path = attach__span_of(s->maps.profiler, strlen(s->maps.profiler));
    attach__span above = attach__span_dirname(path);
    memcpy(s->library, s->maps.profiler, sizeof(s->library));
    if (!attach__copy_exact(directory, sizeof(directory), above) ||
        !attach__copy_exact(s->name, sizeof(s->name), attach__span_basename(above)))
        return;
    if (attach__place_open(&s->place, s->target, directory) != 0)
        (void)attach__place_find(&s->place, s->target, s->options, s->name);
}

static int look(attach__session *s, attach_error *err)
{
    int rc = attach__target_maps(&s->maps, s->target, err);
    if (rc != ATTACH_OK)
        return rc;
    if (s->maps.profiler[0] != '\0') {
        find_place_of_library(s);
        return ATTACH_OK;
    }
    s->borrowed = s->maps.external_kind != NULL && s->maps.external_kind->shareable;
    if (s->borrowed)
        memcpy(s->library, s->maps.external, sizeof(s->library));
    (void)attach__place_find_marked(&s->place, s->name, s->target, s->options);
    return ATTACH_OK;
}

int attach__session_open(attach__session *s, attach_target *target,
                         const attach_ap_options *options, uint64_t deadline_ns, attach_error *err)
{
    memset(s, 0, sizeof(*s));
    s->target = target;
    s->options = options;
    s->deadline_ns = deadline_ns;
    s->place.fd = -1;
    s->start_lock = -1;
    int rc = check_options(options, err);
    if (rc == ATTACH_OK)
        rc = attach__target_check(target, err);
    return rc == ATTACH_OK ? look(s, err) : rc;
}

/* Returns whether the directory is temporary: it was created only to receive an answer, or by a
 * call that failed before it wrote the marker. */
static bool is_passing(const attach__session *s)
{
    return s->place.fd >= 0 && s->place.made && !s->has_marker;
}

void attach__session_close(attach__session *s)
{
    if (is_passing(s))
        attach__place_remove(&s->place, s->target, false);
    attach__place_close(&s->place); /* releases the lock */
    if (s->start_lock >= 0)
        (void)close(s->start_lock);
    s->start_lock = -1;
}

bool attach__session_is_known(const attach__session *s)
{
    return s->library[0] != '\0' || s->place.fd >= 0;
}

bool attach__session_is_jfr(const attach__session *s)
{
    return s->has_marker && s->marker.engine == ATTACH_AP_ENGINE_JFR;
}

void attach__session_leave_place(attach__session *s)
{
    attach__place_close(&s->place);
    s->has_marker = false;
    if (s->maps.profiler[0] == '\0')
        s->name[0] = '\0';
}

/* Reads the state of the session again, because another program may have changed it while this call
 * waited for a lock. */
static int look_again(attach__session *s, attach_error *err)
{
    attach__place_close(&s->place);
    s->library[0] = s->name[0] = '\0';
    s->borrowed = s->has_marker = false;
    return look(s, err);
}

int attach__session_lock_start(attach__session *s, attach_error *err)
{
    uint64_t until_ns = attach_deadline_in(START_LOCK_MS);
    /* a file that every tool finds, because the first session's directory has no name yet */
    s->start_lock = attach__open_in_root(s->target->root_fd, "/tmp", O_RDONLY | O_DIRECTORY, 0);
    if (s->start_lock < 0)
        return ATTACH_OK;
    (void)attach__lock_until(s->start_lock, until_ns < s->deadline_ns ? until_ns : s->deadline_ns);
    return look_again(s, err);
}

bool attach__session_is_foreign(const attach__session *s)
{
    attach__span id;
    if (s->has_marker)
        return strcmp(s->marker.installation, s->options->installation_id) != 0;
    return attach__is_our_directory(attach__span_of(s->name, strlen(s->name)), &id) &&
           !attach__span_is(id, s->options->installation_id);
}

/* Takes the lock that allows one call at a time per JVM among all programs of Hotstack. */
static int lock(attach__session *s, attach_error *err)
{
    return attach__lock_until(s->place.fd, s->deadline_ns) == 0
               ? ATTACH_OK
               : attach__target_is_taken(s->target, err);
}

/* Finds the parent of the directory from which the library was mapped; false when there is none. */
static bool original_base(char out[ATTACH__PATH_MAX], const attach__session *s)
{
    attach__span path = attach__span_of(s->library, strlen(s->library));
    attach__span base = attach__span_dirname(attach__span_dirname(path));
    return attach__copy_exact(out, ATTACH__PATH_MAX, base.n == 0 ? attach__span_of("/", 1) : base);
}

static int ensure_place(attach__session *s, bool needs_exec, attach_error *err)
{
    char base[ATTACH__PATH_MAX];
    int rc = ATTACH_OK;
    if (s->place.fd >= 0)
        return ATTACH_OK;
    if (s->name[0] == '\0')
        rc = attach__place_new_name(s->name, s->options->installation_id, err);
    if (rc != ATTACH_OK)
        return rc;
    bool known = s->maps.profiler[0] != '\0' && original_base(base, s);
    return attach__place_create(&s->place, s->target, s->options, known ? base : NULL, s->name,
                                needs_exec, err);
}

int attach__session_make_place(attach__session *s, bool needs_exec, attach_error *err)
{
    for (;;) {
        int rc = ensure_place(s, needs_exec, err);
        if (rc == ATTACH_OK)
            rc = lock(s, err);
        if (rc != ATTACH_OK || attach__place_is_linked(&s->place))
            return rc;
        /* the previous holder of the lock ended its session and removed the directory */
        rc = look_again(s, err);
        if (rc != ATTACH_OK)
            return rc;
    }
}

/* Creates the log. Without one, the profiler would write to the target's standard output. */
static int make_log(attach__session *s, attach_error *err)
{
    int fd =
        attach__open_regular(s->place.fd, ATTACH__FILE_LOG, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return attach__session_write_error(s, -fd, err);
    (void)close(fd);
    return ATTACH_OK;
}

static void words_of_log(char *out, size_t cap, const attach__session *s)
{
    attach__blob text;
    attach__span line, rest, last = {NULL, 0};
    out[0] = '\0';
    if (attach__read_in_root(&text, s->place.fd, ATTACH__FILE_LOG, LOG_MAX) != 0)
        return;
    rest = attach__blob_span(&text);
    while (attach__next_line(&rest, &line))
        if (attach__span_starts(line, "[ERROR] "))
            last = attach__span_skip(line, sizeof("[ERROR] ") - 1);
    attach__copy_text(out, cap, last);
    free(text.p);
}

int attach__session_run(attach__session *s, const char *command, attach_error *err)
{
    char line[ATTACH_ARG_V1_MAX + 1];
    int code = 0;
    int n =
        snprintf(line, sizeof(line), "%s,quiet,log=%s/" ATTACH__FILE_LOG, command, s->place.path);
    if (n < 0 || n >= (int)sizeof(line))
        return attach__fail(err, ATTACH_ERR_LIMIT, "the profiler's command is too long");
    int rc = make_log(s, err);
    if (rc == ATTACH_OK)
        rc = attach_load(&code, s->target, s->library, line, s->deadline_ns, err);
    if (rc != ATTACH_OK || code == 0)
        return rc;
    words_of_log(s->words, sizeof(s->words), s);
    if (strcmp(s->words, NO_TOOL_INTERFACE) == 0)
        return attach__refuse(err, ATTACH_REASON_JVM_STARTING,
                              "process %d is still starting, and takes no profiler yet (%s)",
                              s->target->identity.pid, s->words);
    return attach__refuse(
        err, ATTACH_REASON_PROFILER_ERROR, "async-profiler refused in process %d with code %d: %s",
        s->target->identity.pid, code, s->words[0] == '\0' ? "it wrote no reason" : s->words);
}

int attach__session_question(attach__blob *out, attach__session *s, const char *what,
                             attach_error *err)
{
    char command[ATTACH__PLACE_PATH_MAX + 32];
    (void)unlinkat(s->place.fd, ATTACH__FILE_STATUS, 0);
    (void)snprintf(command, sizeof(command), "%s,file=%s/" ATTACH__FILE_STATUS, what,
                   s->place.path);
    int rc = attach__session_run(s, command, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = attach__read_in_root(out, s->place.fd, ATTACH__FILE_STATUS, STATUS_MAX);
    (void)unlinkat(s->place.fd, ATTACH__FILE_STATUS, 0);
    if (rc == 0 && out->n > 0)
        return ATTACH_OK;
    if (rc == 0) { /* the profiler always answers, so the disk is full */
        free(out->p);
        return attach__session_write_error(s, ENOSPC, err);
    }
    return attach__refuse(err, ATTACH_REASON_PROFILER_ERROR,
                          "async-profiler in process %d wrote no %s into %s: %s",
                          s->target->identity.pid, what, s->place.path, strerror(-rc));
}

int attach__session_ask(attach__session *s, attach_error *err)
{
    attach__blob text;
    s->running = false;
    if (attach__session_is_jfr(s))
        return attach__jfr_ask(s, err);
    if (s->library[0] == '\0')
        return ATTACH_OK;
    int rc = attach__session_question(&text, s, "status", err);
    if (rc != ATTACH_OK)
        return rc;
    s->running = attach__span_find(attach__blob_span(&text), "Profiling is running") >= 0;
    free(text.p);
    return ATTACH_OK;
}

int attach__session_check_version(attach__session *s, attach_error *err)
{
    attach__blob text;
    char words[32];
    uint32_t major = 0;
    attach__span number;
    int rc = attach__session_question(&text, s, "version", err);
    if (rc != ATTACH_OK)
        return rc;
    attach__span whole = attach__blob_span(&text), rest = whole;
    bool old = !attach__next_field(&rest, '.', &number) || !attach__parse_u32(number, &major) ||
               major < OLDEST_MAJOR;
    attach__copy_text(words, sizeof(words), whole);
    free(text.p);
    if (!old)
        return ATTACH_OK;
    return attach__refuse(err, ATTACH_REASON_EXTERNAL_PROFILER,
                          "process %d has async-profiler %s loaded, too old to be shared: %.120s",
                          s->target->identity.pid, words, s->library);
}

int attach__session_hold(attach__session *s, attach_error *err)
{
    int rc = attach__session_make_place(s, false, err);
    if (rc != ATTACH_OK)
        return rc;
    s->has_marker = attach__place_read_marker(&s->marker, &s->place) == 0;
    return ATTACH_OK;
}

int attach__session_probe(attach__session *s, attach_error *err)
{
    int rc = attach__session_hold(s, err);
    return rc == ATTACH_OK ? attach__session_ask(s, err) : rc;
}

static int copy_bytes(int from, int to)
{
    char buffer[COPY_UNIT];
    off_t at = 0;
    for (;;) {
        ssize_t got = pread(from, buffer, sizeof(buffer), at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : 0;
        int rc = attach__write_all(to, buffer, (size_t)got);
        if (rc != 0)
            return rc;
        at += got;
    }
}

int attach__session_write_error(const attach__session *s, int error, attach_error *err)
{
    if (error == ENOSPC || error == EDQUOT)
        return attach__refuse(err, ATTACH_REASON_DISK_FULL, "no space left in %s of process %d",
                              s->place.path, s->target->identity.pid);
    return attach__fail(err, ATTACH_ERR_IO, "cannot write into %s of process %d: %s", s->place.path,
                        s->target->identity.pid, strerror(error));
}

static int check_library(const attach__session *s, attach_error *err)
{
    struct stat st;
    if (s->options->library_fd < 0 || fstat(s->options->library_fd, &st) != 0 ||
        !S_ISREG(st.st_mode) || st.st_size == 0 || (uint64_t)st.st_size > LIBRARY_MAX)
        return attach__refuse(err, ATTACH_REASON_NO_PROFILER_LIBRARY,
                              ATTACH__LIBRARY_NAME " is not installed where it was looked for");
    return ATTACH_OK;
}

static int copy_library(attach__session *s, attach_error *err)
{
    (void)unlinkat(s->place.fd, ATTACH__LIBRARY_NAME, 0);
    int fd =
        attach__open_regular(s->place.fd, ATTACH__LIBRARY_NAME, O_WRONLY | O_CREAT | O_EXCL, 0500);
    if (fd < 0)
        return attach__session_write_error(s, -fd, err);
    int rc = copy_bytes(s->options->library_fd, fd);
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    return rc == 0 ? ATTACH_OK : attach__session_write_error(s, -rc, err);
}

int attach__session_save(attach__session *s, attach_error *err)
{
    int rc = attach__place_write_marker(&s->place, &s->marker);
    s->has_marker = rc == 0;
    return rc == 0 ? ATTACH_OK : attach__session_write_error(s, -rc, err);
}

int attach__session_install(attach__session *s, attach_error *err)
{
    int rc = check_library(s, err);
    if (rc == ATTACH_OK)
        rc = attach__session_make_place(s, true, err);
    if (rc != ATTACH_OK)
        return rc;
    (void)snprintf(s->library, sizeof(s->library), "%s/" ATTACH__LIBRARY_NAME, s->place.path);
    /* the marker first, because it protects the directory from sweeps */
    rc = attach__session_save(s, err);
    return rc == ATTACH_OK ? copy_library(s, err) : rc;
}

void attach__session_remove(attach__session *s)
{
    /* musl compares files, not names: it would load a new file as a second library */
    bool keep_library = s->maps.libc == ATTACH_LIBC_MUSL && !s->borrowed;
    attach__place_remove(&s->place, s->target, keep_library);
}

void attach__session_info(attach_ap_info *out, const attach__session *s, attach_ap_state state)
{
    memset(out, 0, sizeof(*out));
    out->state = state;
    out->running = s->running;
    out->engine = ATTACH_AP_ENGINE_OFF;
    if (s->place.fd >= 0 && !is_passing(s))
        memcpy(out->directory, s->place.path, sizeof(out->directory));
    bool ours = s->maps.profiler[0] != '\0';
    const char *library = ours ? s->maps.profiler : s->maps.external;
    if (library[0] != '\0')
        (void)snprintf(out->profiler, sizeof(out->profiler), "%s",
                       ours ? "Hotstack" : s->maps.external_kind->name);
    attach__copy_text(out->profiler_library, sizeof(out->profiler_library),
                      attach__span_of(library, strlen(library)));
    if (!s->has_marker)
        return;
    out->until_ms = s->marker.until_ms;
    memcpy(out->installation, s->marker.installation, sizeof(out->installation));
    memcpy(out->owner, s->marker.owner, sizeof(out->owner));
    out->engine = s->marker.engine;
    out->started_ms = s->marker.started_ms;
    out->offset = s->marker.handed;
    out->dropped = s->dropped;
    out->absent = (uint32_t)(s->marker.absent & ATTACH_AP_EVENTS);
    memcpy(out->absent_reason, s->marker.absent_reason, sizeof(out->absent_reason));
    memcpy(out->engine_reason, s->marker.engine_reason, sizeof(out->engine_reason));
}
