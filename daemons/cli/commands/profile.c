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

#include "cli/commands/convert.h"
#include "cli/commands/jvm_find.h"
#include "cli/commands/profile_session.h"
#include "cli/formats/format_table.h"
#include "cli/output/ending.h"
#include "cli/output/template.h"

/* The file that holds the recording until it is converted. */
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

/* Returns exactly the types that were asked for. A recording can hold more: live objects come with
 * the allocations among which they are found, and async-profiler goes on recording the parks of an
 * earlier session that had lock events. */
static uint32_t types_of(const cli_options *o)
{
    uint32_t types = 0;
    if (o->types != 0)
        return o->types;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        if (event_intervals_yield(&o->record, profile_type_get(type)->source))
            types |= UINT32_C(1) << type;
    return types;
}

static int convert(const scratch *s, const cli_options *o, const profile_session *session)
{
    char path[sizeof(s->path)];
    char *inputs[] = {path};
    cli_options options = *o;
    memcpy(path, s->path, sizeof(path));
    options.operands = inputs;
    options.operand_count = 1;
    options.types = types_of(o);
    options.states = true;
    return convert_files(&options, &(convert_note){.absent = session->absent_reason,
                                                   .dropped = session->dropped,
                                                   .report = true});
}

/* Checks everything that would make the conversion fail, before the user waits for the
 * recording. */
static bool can_finish(const cli_options *o)
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
    const output_format *format = format_get(o->format);
    if (format == NULL || format->page == NULL)
        return true;
    if (!template_read(&html, format->page))
        return false;
    free(html.data);
    return true;
}

/* *whole: the recording lasted as long as asked. */
static int record(profile_session *session, const cli_options *o, int fd, bool *whole)
{
    if (!profile_session_start(session, o))
        return EXIT_UNREADABLE;
    *whole = profile_session_wait(session, o);
    return profile_session_stop(session, fd) ? EXIT_WHOLE : EXIT_UNREADABLE;
}

static int profile_to_page(profile_session *session, const cli_options *o, bool *whole)
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

static int profile_to_jfr(profile_session *session, const cli_options *o, bool *whole)
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

static int profile_once(profile_session *session, const cli_options *o, bool *whole)
{
    *whole = false;
    return format_get(o->format) == NULL ? profile_to_jfr(session, o, whole)
                                         : profile_to_page(session, o, whole);
}

/* Replaces %t with the time (UTC) and %n with the number; false when the name gets too long. */
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

/* Profiles one session after another; each has a complete file of its own. */
static int profile_in_a_loop(profile_session *session, const cli_options *o)
{
    char path[PATH_MAX];
    cli_options one = *o;
    bool whole = true;
    int rc = EXIT_WHOLE;
    one.output = path;
    for (unsigned number = 1; whole && (rc == EXIT_WHOLE || rc == EXIT_SALVAGED); number++) {
        if (!expand(path, sizeof(path), o->output, number)) {
            complain("the file's name is too long");
            return EXIT_UNREADABLE;
        }
        rc = profile_once(session, &one, &whole);
    }
    return rc;
}

/* Finds the format; without a format the output is the recording itself. */
static bool find_format(cli_options *o)
{
    const char *ending = strrchr(o->output, '.');
    o->format = format_of_path(o->output);
    if (o->format != 0 || (ending != NULL && strcmp(ending, ".jfr") == 0))
        return true;
    complain("'%s' ends in no known format: use .html, .jfr, .collapsed, .pb.gz or another of "
             "`hotstack convert --help`",
             o->output);
    return false;
}

static bool is_right(cli_options *o)
{
    if (o->output == NULL) {
        complain("say where to write with -f FILE, as in -f flame.html");
        return false;
    }
    if (!find_format(o))
        return false;
    bool has_number = strstr(o->output, "%t") != NULL || strstr(o->output, "%n") != NULL;
    if (o->loop && !has_number)
        complain("with --loop the file's name must contain %%t or %%n, such as flame-%%t.html");
    return !o->loop || has_number;
}

static int profile_run(cli_options *o)
{
    static profile_session session;
    bool whole;
    if (!is_right(o))
        return EXIT_USAGE;
    if (!profile_session_open(&session, o) || !can_finish(o))
        return EXIT_UNREADABLE;
    ending_block(); /* a signal must not end the program before it stops the session */
    return o->loop ? profile_in_a_loop(&session, o) : profile_once(&session, o, &whole);
}

const command profile_command = {
    .name = "profile",
    .summary = "Profile a running JVM and write its flame graph",
    .usage = "[OPTIONS] -f FILE PID|NAME",
    .about = "Profiles a running JVM (HotSpot 11 or later), which needs no restart and no flag, "
             "and writes a flame graph. Ctrl-C ends the recording early; the file is written all "
             "the same. No file stays in the JVM's file system.",
    .ending = "The JVM must run as your own user, or you must be root or have the capabilities "
              "SYS_PTRACE, KILL, SETUID and SETGID. `hotstack ps` lists the JVMs and says which of "
              "them can be profiled. HOTSTACK_ASYNC_PROFILER and HOTSTACK_ATTACH_WORKER name "
              "libasyncProfiler.so and hotstack-attach-worker where they are not installed beside "
              "this program.",
    .bit = OF_PROFILE,
    .operands = OPERANDS_JVM,
    .run = profile_run,
};
