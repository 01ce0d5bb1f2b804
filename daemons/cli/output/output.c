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

/* Returns the file type, as S_IFREG; 0 = there is no file. */
static mode_t kind_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

/* Whether it exists and is not a regular file (/dev/null, a pipe). Such a file is written
 * directly. */
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

/* ---- removing the temporary file on a signal ---- */

/* The temporary file that is being written: one at a time. */
static char *volatile unfinished;

static void drop_unfinished(int number)
{
    (void)unlink(unfinished);
    (void)raise(number); /* ends the program, because of SA_RESETHAND */
}

static const int ends[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/* Makes signals that would end the program remove `path` first. Signals that are ignored or have a
 * handler stay as they are. */
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

/* Sets the access rights, because mkstemp makes files private. A file that replaces another gets
 * its owner and rights; where we may not set the group, our group does not get the rights of the
 * other group. A new file gets the rights that the umask leaves. */
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

/* Returns the path of the file that `path` names, following symbolic links so that they stay links.
 * NULL with errno. The caller frees it. */
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

/* Pieces from this size on are written without a copy; space is reserved in steps of RESERVE. */
enum { LARGE_PIECE = 32 << 10, RESERVE = 8 << 20 };

/* Reserves space for the next bytes in large steps: ext4 is then faster, and the file is
 * contiguous. Where the file system cannot do it, each write allocates its own space. */
static void reserve(output *out, size_t bytes)
{
    off_t at = lseek(fileno(out->file), 0, SEEK_CUR);
    off_t end = at + (off_t)bytes;
    if (out->temporary == NULL || at < RESERVE || end <= out->reserved)
        return;
    bool done = fallocate(fileno(out->file), FALLOC_FL_KEEP_SIZE, at, end - at + RESERVE) == 0;
    out->reserved = done ? end + RESERVE : INT64_MAX;
}

/* Frees the space that was reserved and not used. */
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

/* Discards what standard output has not taken, so that the failure is reported once only. */
static void forget_output(void)
{
    __fpurge(stdout);
    clearerr(stdout);
}

bool output_commit(output *out)
{
    /* After an earlier failed write of stdio there may be nothing left to flush; errno then still
     * holds the reason. */
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
