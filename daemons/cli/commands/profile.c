/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack profile`: a flame graph of a running JVM. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <catalogue/profile_type.h>

#include "cli/command.h"
#include "cli/commands/jvm_find.h"
#include "cli/commands/profile_session.h"
#include "cli/options/option_values.h"
#include "cli/output/ending.h"
#include "cli/output/template.h"

/* Where the recording is kept until it is converted. */
typedef struct scratch {
    char directory[PATH_MAX];
    char path[PATH_MAX + 64];
    int fd;
} scratch;

static bool scratch_open(scratch *out, const profile_session *session)
{
    char name[sizeof(session->jvm.main_class)];
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(out->directory, sizeof(out->directory), "%s/hotstack-profile-XXXXXX",
                   tmp == NULL || tmp[0] == '\0' ? "/tmp" : tmp);
    out->fd = -1;
    if (mkdtemp(out->directory) == NULL) {
        complain("cannot create %s: %s", out->directory, strerror(errno));
        return false;
    }
    jvm_short_name(name, sizeof(name), session->jvm.main_class);
    (void)snprintf(out->path, sizeof(out->path), "%s/%.40s-%d.jfr", out->directory, name,
                   session->jvm.identity.pid);
    out->fd = open(out->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out->fd >= 0)
        return true;
    complain("cannot create %s: %s", out->path, strerror(errno));
    (void)rmdir(out->directory);
    return false;
}

static void scratch_close(scratch *s, bool keep)
{
    (void)close(s->fd);
    if (keep) {
        complain("the recording is kept: %s", s->path);
        return;
    }
    (void)unlink(s->path);
    (void)rmdir(s->directory);
}

static bool is_empty(int fd)
{
    struct stat st;
    return fstat(fd, &st) != 0 || st.st_size == 0;
}

/* What was asked for, and no more: live objects come with the allocations among which they are
 * found, and async-profiler goes on recording the parks of an earlier session that had lock events.
 */
static uint32_t types_of(const profile_options *o)
{
    uint32_t types = 0;
    if (o->types != 0)
        return o->types;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        if (event_intervals_yield(&o->events, (enum profile_type)type))
            types |= UINT32_C(1) << type;
    return types;
}

static int convert(const scratch *s, const profile_options *o, const profile_session *session)
{
    char path[sizeof(s->path)];
    char *inputs[] = {path};
    memcpy(path, s->path, sizeof(path));
    convert_options options = {.inputs = inputs,
                               .input_count = 1,
                               .output = o->output,
                               .format = o->format,
                               .reading = READING_OPTIONS_INIT,
                               .max_nodes = 200000,
                               .states = true,
                               .absent = session->absent_reason,
                               .dropped = session->dropped,
                               .report = true};
    options.reading.types = types_of(o);
    return convert_files(&options);
}

/* Anything that would make the end fail is better known before the wait. */
static bool can_finish(const profile_options *o)
{
    char directory[PATH_MAX];
    bytes html;
    const char *slash = strrchr(o->output, '/');
    (void)snprintf(directory, sizeof(directory), "%.*s",
                   slash == NULL ? 1 : (int)(slash - o->output + 1),
                   slash == NULL ? "." : o->output);
    if (access(directory, W_OK) != 0) {
        complain("cannot write into %s: %s", directory, strerror(errno));
        return false;
    }
    if (o->format != FORMAT_HTML && o->format != FORMAT_HEATMAP)
        return true;
    if (!template_read(&html, o->format == FORMAT_HTML ? TEMPLATE_FLAMEGRAPH : TEMPLATE_HEATMAP))
        return false;
    free(html.data);
    return true;
}

/* *whole: the duration was not cut short. */
static int record(profile_session *session, const profile_options *o, int fd, bool *whole)
{
    if (!profile_session_start(session, o))
        return EXIT_UNREADABLE;
    *whole = profile_session_wait(session, o);
    return profile_session_stop(session, fd) ? EXIT_WHOLE : EXIT_UNREADABLE;
}

static int profile_to_page(profile_session *session, const profile_options *o, bool *whole)
{
    scratch taken;
    if (!scratch_open(&taken, session))
        return EXIT_UNREADABLE;
    int rc = record(session, o, taken.fd, whole);
    if (rc == EXIT_WHOLE)
        rc = convert(&taken, o, session);
    bool worth_keeping = rc != EXIT_WHOLE && rc != EXIT_SALVAGED && !is_empty(taken.fd);
    scratch_close(&taken, worth_keeping);
    return rc;
}

static int profile_to_jfr(profile_session *session, const profile_options *o, bool *whole)
{
    int fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        complain("cannot write %s: %s", o->output, strerror(errno));
        return EXIT_UNREADABLE;
    }
    int rc = record(session, o, fd, whole);
    if (close(fd) != 0 && rc == EXIT_WHOLE) {
        complain("cannot write %s: %s", o->output, strerror(errno));
        rc = EXIT_UNREADABLE;
    }
    if (rc == EXIT_WHOLE)
        complain("wrote %s", o->output);
    else
        (void)unlink(o->output);
    return rc;
}

static int profile_once(profile_session *session, const profile_options *o, bool *whole)
{
    *whole = false;
    return o->keep_jfr ? profile_to_jfr(session, o, whole) : profile_to_page(session, o, whole);
}

/* Replaces %t by the time (UTC) and %n by the number; false when the name gets too long. */
static bool expand(char *out, size_t cap, const char *pattern, unsigned number)
{
    size_t n = 0;
    for (const char *at = pattern; *at != '\0'; at++) {
        char piece[32] = {*at, '\0'};
        if (at[0] == '%' && at[1] == 't') {
            time_t now = time(NULL);
            struct tm parts;
            if (gmtime_r(&now, &parts) == NULL)
                return false;
            (void)strftime(piece, sizeof(piece), "%Y%m%d-%H%M%S", &parts);
            at++;
        } else if (at[0] == '%' && at[1] == 'n') {
            (void)snprintf(piece, sizeof(piece), "%u", number);
            at++;
        }
        int put = snprintf(out + n, cap - n, "%s", piece);
        if (put < 0 || (size_t)put >= cap - n)
            return false;
        n += (size_t)put;
    }
    return true;
}

/* One session after the other, each a file that stands alone. */
static int profile_in_a_loop(profile_session *session, const profile_options *o)
{
    char output[PATH_MAX];
    profile_options one = *o;
    bool whole = true;
    int rc = EXIT_WHOLE;
    one.output = output;
    for (unsigned number = 1; whole && (rc == EXIT_WHOLE || rc == EXIT_SALVAGED); number++) {
        if (!expand(output, sizeof(output), o->output, number)) {
            complain("the file's name is too long");
            return EXIT_UNREADABLE;
        }
        rc = profile_once(session, &one, &whole);
    }
    return rc;
}

int profile_run(int argc, char **argv)
{
    static profile_session session;
    profile_options o;
    bool whole;
    int rc = profile_parse(&o, argc, argv);
    if (rc >= 0)
        return rc;
    if (!profile_session_open(&session, &o) || !can_finish(&o))
        return EXIT_UNREADABLE;
    ending_block(); /* the session must be stopped in any case */
    return o.loop ? profile_in_a_loop(&session, &o) : profile_once(&session, &o, &whole);
}
