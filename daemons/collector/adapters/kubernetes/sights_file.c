/* SPDX-License-Identifier: Apache-2.0 */
#include "sights_file.h"

#include "../../core/pods/first_seen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char name[] = "first-seen";

static int fail(const char *what, const char *path, char *message, size_t size)
{
    (void)snprintf(message, size, "cannot %s %.200s: %s", what, path, strerror(errno));
    return -1;
}

int sights_file_read(const char *directory, char **out, size_t *length, char *message, size_t size)
{
    char path[PATH_MAX];
    *out = NULL;
    *length = 0;
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *from = fopen(path, "re");
    if (from == NULL)
        return errno == ENOENT ? 1 : fail("read", path, message, size);
    char *text = malloc(FIRST_SEEN_FILE_MAX + 1);
    size_t got = text != NULL ? fread(text, 1, FIRST_SEEN_FILE_MAX, from) : 0;
    if (text == NULL || ferror(from) != 0) {
        free(text);
        (void)fclose(from);
        return fail("read", path, message, size);
    }
    (void)fclose(from);
    text[got] = '\0';
    *out = text;
    *length = got;
    return 0;
}

static int write_all(int fd, const char *text, size_t length)
{
    for (size_t used = 0; used < length;) {
        ssize_t wrote = write(fd, text + used, length - used);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return -1;
        used += (size_t)wrote;
    }
    return fsync(fd);
}

static int sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = fsync(fd);
    close(fd);
    return rc;
}

int sights_file_write(const char *directory, const char *text, size_t length, char *message,
                      size_t size)
{
    char path[PATH_MAX];
    char fresh[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    (void)snprintf(fresh, sizeof(fresh), "%s/%s.new", directory, name);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail("write", fresh, message, size);
    int rc = write_all(fd, text, length);
    if (close(fd) != 0 || rc != 0)
        return fail("write", fresh, message, size);
    if (rename(fresh, path) != 0 || sync_directory(directory) != 0)
        return fail("replace", path, message, size);
    return 0;
}
