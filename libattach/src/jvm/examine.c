/* SPDX-License-Identifier: Apache-2.0 */
#include <attach/examine.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error_impl.h"
#include "jvm/target_impl.h"
#include "profiler/ap_candidates_impl.h"
#include "profiler/ap_place_impl.h"
#include <attach/listener_impl.h>

static int number_in(const attach_target *target, const char *name)
{
    attach__blob text;
    if (attach__read_proc(&text, target->proc_fd, name, 16) != 0)
        return -1;
    int number = (int)strtol(text.p, NULL, 10);
    free(text.p);
    return number;
}

/* Reads the line "Seccomp:\t2". */
static int seccomp_of(attach__span status)
{
    attach__span line, name, word;
    uint32_t mode = 0;
    while (attach__next_line(&status, &line))
        if (attach__next_field(&line, ':', &name) && attach__span_is(name, "Seccomp"))
            return attach__next_word(&line, &word) && attach__parse_u32(word, &mode) && mode <= 2
                       ? (int)mode
                       : -1;
    return -1;
}

static int read_status(attach_examination *out, const attach_target *target, attach_error *err)
{
    attach__blob text;
    attach__status status;
    int rc = attach__read_status(&text, &status, target->proc_fd, target->identity.pid, err);
    if (text.p != NULL)
        out->seccomp = seccomp_of(attach__blob_span(&text));
    free(text.p);
    out->catches_quit = rc == ATTACH_OK && attach__status_catches(&status, SIGQUIT);
    return rc;
}

static bool is_socket(const attach_target *target)
{
    char path[48];
    struct stat st;
    (void)snprintf(path, sizeof(path), "tmp/.java_pid%d", target->jvm.ns_pid);
    int fd = attach__open_in_root(target->root_fd, path, O_PATH | O_NOFOLLOW, 0);
    if (fd < 0)
        return false;
    bool found = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
    (void)close(fd);
    return found;
}

static void see_place(attach_place_view *out, const attach_target *target, const char *path)
{
    const char *library = attach__place_objection(target, path, true);
    const char *recording = attach__place_objection(target, path, false);
    (void)snprintf(out->path, sizeof(out->path), "%s", path);
    (void)snprintf(out->library, sizeof(out->library), "%s", library == NULL ? "" : library);
    (void)snprintf(out->recording, sizeof(out->recording), "%s",
                   recording == NULL ? "" : recording);
}

static void see_places(attach_examination *out, const attach_target *target,
                       const attach_ap_options *options)
{
    attach__candidates candidates;
    attach__candidates_list(&candidates, target, options);
    for (size_t i = 0; i < candidates.n && out->n_places < ATTACH_EXAMINE_PLACES; i++)
        see_place(&out->places[out->n_places++], target, candidates.paths[i]);
}

static bool cwd_is_writable(const attach_target *target)
{
    char path[40];
    if (target->cwd_fd < 0)
        return false;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", target->cwd_fd);
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0;
}

int attach_examine(attach_examination *out, attach_target *target, const attach_ap_options *options,
                   attach_error *err)
{
    memset(out, 0, sizeof(*out));
    if (options == NULL || options->installation_id == NULL)
        return attach__fail(err, ATTACH_ERR_USAGE, "an examination needs an installation id");
    int rc = attach__target_check(target, err);
    if (rc == ATTACH_OK)
        rc = read_status(out, target, err);
    if (rc != ATTACH_OK)
        return rc;
    out->perf_event_paranoid = number_in(target, "../sys/kernel/perf_event_paranoid");
    out->listener = is_socket(target);
    out->had_listener = attach__target_has_thread(target, "Attach Listener\n");
    /* the kernel keeps 15 characters of "JFR Recorder Thread" */
    out->jfr_used = attach__target_has_thread(target, "JFR Recorder Th\n");
    const char *tmp = attach__place_objection(target, "/tmp", false);
    out->trigger_possible = tmp == NULL || strcmp(tmp, "full") == 0 || cwd_is_writable(target);
    see_places(out, target, options);
    return ATTACH_OK;
}
