/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

/* S_IFREG and the like; 0 = nothing is there. */
static mode_t kind_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

/* What is no plain file (/dev/null, a pipe) is written to as it is. */
static bool is_special(mode_t kind)
{
    return kind != 0 && kind != S_IFREG;
}

static bool open_special(output *out, const char *path)
{
    out->file = fopen(path, "we");
    out->path = strdup(path);
    if (out->file != NULL && out->path != NULL)
        return true;
    complain("cannot write %s: %s", path, strerror(errno));
    output_abort(out);
    return false;
}

/* ---- what a signal would leave behind ---- */

/* The temporary file that is being written: one at a time. */
static char *volatile unfinished;

static void drop_unfinished(int number)
{
    (void)unlink(unfinished);
    (void)raise(number); /* SA_RESETHAND: now it ends the program */
}

static const int ends[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/* Signals that would end the program take `path` along; those that are ignored or handled otherwise
 * stay as they are. */
static void guard(char *path)
{
    struct sigaction ours = {.sa_handler = drop_unfinished, .sa_flags = (int)SA_RESETHAND};
    struct sigaction old;
    unfinished = path;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(ends[i], &ours, NULL);
}

static void unguard(void)
{
    struct sigaction old;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == drop_unfinished)
            (void)signal(ends[i], SIG_DFL);
}

/* ---- opening ---- */

/* mkstemp makes files private. What stood at `path` before keeps its owner and its rights; where we
 * may not give it away, our group does not get those of the other's. A new file has the rights that
 * the umask leaves. */
static void set_mode(int fd, const char *path)
{
    struct stat old;
    mode_t mask = umask(0);
    (void)umask(mask);
    if (stat(path, &old) != 0) {
        (void)fchmod(fd, 0666 & ~mask);
        return;
    }
    bool is_given = fchown(fd, old.st_uid, old.st_gid) == 0;
    (void)fchmod(fd, old.st_mode & (is_given ? 0777 : 0707));
}

/* Where the file lies that `path` names: a symbolic link stays one. NULL with errno. Free it. */
static char *place_of(const char *path)
{
    struct stat st;
    bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    return is_link ? realpath(path, NULL) : strdup(path);
}

static bool open_temporary(output *out, const char *path)
{
    out->path = place_of(path);
    if (out->path == NULL || asprintf(&out->temporary, "%s.XXXXXX", out->path) < 0) {
        out->temporary = NULL;
        complain("cannot write %s: %s", path, strerror(errno));
        output_abort(out);
        return false;
    }
    guard(out->temporary);
    int fd = mkostemp(out->temporary, O_CLOEXEC);
    if (fd >= 0) {
        set_mode(fd, out->path);
        out->file = fdopen(fd, "w");
    }
    if (out->file != NULL)
        return true;
    complain("cannot write %s: %s", path, strerror(errno));
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(out->temporary);
    }
    output_abort(out);
    return false;
}

bool output_is_stream(const char *path)
{
    mode_t kind = kind_of(path);
    return strcmp(path, "-") == 0 || (is_special(kind) && kind != S_IFDIR);
}

bool output_spares(const char *path, char *const *inputs, int count)
{
    struct stat out;
    struct stat in;
    if (strcmp(path, "-") == 0 || stat(path, &out) != 0 || !S_ISREG(out.st_mode))
        return true;
    for (int i = 0; i < count; i++) {
        if (strcmp(inputs[i], "-") == 0 || stat(inputs[i], &in) != 0 || in.st_dev != out.st_dev ||
            in.st_ino != out.st_ino)
            continue;
        complain("%s is also an input and would be overwritten: name another file", path);
        return false;
    }
    return true;
}

bool output_open(output *out, const char *path)
{
    *out = (output){0};
    if (strcmp(path, "-") == 0) {
        out->file = stdout;
        return true;
    }
    return is_special(kind_of(path)) ? open_special(out, path) : open_temporary(out, path);
}

/* Large pieces are not worth a copy in between. */
enum { LARGE_PIECE = 32 << 10, RESERVE = 8 << 20 };

/* Asks for the space of what comes next in large steps: ext4 then takes half of the time, and the
 * file lies in one piece. Not every file system can; then each write asks for its own. */
static void reserve(output *out, size_t bytes)
{
    off_t at = lseek(fileno(out->file), 0, SEEK_CUR);
    off_t end = at + (off_t)bytes;
    if (out->temporary == NULL || at < RESERVE || end <= out->reserved)
        return;
    bool done = fallocate(fileno(out->file), FALLOC_FL_KEEP_SIZE, at, end - at + RESERVE) == 0;
    out->reserved = done ? end + RESERVE : INT64_MAX;
}

/* Gives back the space that was asked for and not written to. */
static bool trim(const output *out)
{
    int fd = fileno(out->file);
    struct stat st;
    return out->reserved == 0 || (fstat(fd, &st) == 0 && ftruncate(fd, st.st_size) == 0);
}

static bool write_large(output *out, const char *data, size_t bytes)
{
    if (fflush(out->file) != 0)
        return false;
    reserve(out, bytes);
    while (bytes > 0) {
        ssize_t written = write(fileno(out->file), data, bytes);
        if (written < 0 && errno != EINTR)
            return false;
        size_t done = written > 0 ? (size_t)written : 0;
        data += done;
        bytes -= done;
    }
    return true;
}

static int write_piece(void *ctx, const void *data, size_t bytes)
{
    output *out = ctx;
    bool done = bytes >= LARGE_PIECE ? write_large(out, data, bytes)
                                     : fwrite(data, 1, bytes, out->file) == bytes;
    if (done)
        return 0;
    out->error = errno;
    return -1;
}

sagg_sink output_sink(output *out)
{
    return (sagg_sink){write_piece, out};
}

static void release(output *out)
{
    if (out->temporary != NULL)
        unguard();
    free(out->path);
    free(out->temporary);
    *out = (output){0};
}

/* What standard output did not take is complained about once. */
static void forget_output(void)
{
    __fpurge(stdout);
    clearerr(stdout);
}

bool output_commit(output *out)
{
    /* A write of stdio's that failed before may leave nothing to flush; errno still tells why. */
    bool whole = ferror(out->file) == 0 && fflush(out->file) == 0 && out->error == 0 && trim(out);
    int error = out->error != 0 ? out->error : errno;
    if (out->path != NULL && fclose(out->file) != 0 && whole) {
        whole = false;
        error = errno;
    }
    if (whole && out->temporary != NULL && rename(out->temporary, out->path) != 0) {
        whole = false;
        error = errno;
    }
    if (!whole) {
        complain("cannot write %s: %s", out->path != NULL ? out->path : "standard output",
                 strerror(error));
        if (out->temporary != NULL)
            (void)unlink(out->temporary);
        if (out->path == NULL)
            forget_output();
    }
    release(out);
    return whole;
}

void output_abort(output *out)
{
    if (out->file != NULL && out->file != stdout)
        (void)fclose(out->file);
    if (out->file != NULL && out->temporary != NULL)
        (void)unlink(out->temporary);
    release(out);
}
