/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool input_is_plain(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

const char *input_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int grow(bytes *out, size_t *room, size_t limit)
{
    if (out->size < *room)
        return 0;
    if (*room > limit)
        return EFBIG;
    size_t next = *room == 0 ? 65536 : *room * 2;
    /* One byte more than the limit, to see whether there is more. */
    next = next > limit + 1 ? limit + 1 : next;
    char *data = realloc(out->data, next);
    if (data == NULL)
        return ENOMEM;
    out->data = data;
    *room = next;
    return 0;
}

static int read_fd(bytes *out, int fd, size_t limit)
{
    size_t room = 0;
    for (;;) {
        int error = grow(out, &room, limit);
        if (error != 0)
            return error;
        ssize_t got = read(fd, out->data + out->size, room - out->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            return out->size > limit ? EFBIG : 0;
        out->size += (size_t)got;
    }
}

int read_all(bytes *out, const char *path, size_t limit)
{
    *out = (bytes){0};
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = read_fd(out, fd, limit);
    if (!is_stdin)
        (void)close(fd);
    if (error != 0) {
        free(out->data);
        *out = (bytes){0};
    }
    return error;
}

/* Maps a regular file that is not empty; false = the caller must read it. */
static bool map_fd(bytes *out, int fd, size_t limit)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
        (uint64_t)st.st_size > limit)
        return false;
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return false;
    (void)madvise(data, (size_t)st.st_size, MADV_SEQUENTIAL);
    *out = (bytes){data, (size_t)st.st_size};
    return true;
}

int map_all(bytes *out, bool *mapped, const char *path, size_t limit)
{
    *mapped = false;
    /* A pipe is not opened here: closing it again would end its writer. */
    int fd = input_is_plain(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        *mapped = map_fd(out, fd, limit);
        (void)close(fd);
    }
    return *mapped ? 0 : read_all(out, path, limit);
}

void unmap_all(bytes *input, bool mapped)
{
    if (mapped)
        (void)munmap(input->data, input->size);
    else
        free(input->data);
    *input = (bytes){0};
}

int read_head(bytes *out, const char *path, size_t room)
{
    out->size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t got = pread(fd, out->data, room, 0);
    int error = got < 0 ? errno : 0;
    out->size = got > 0 ? (size_t)got : 0;
    (void)close(fd);
    return error;
}
