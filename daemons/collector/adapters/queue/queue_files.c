/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const suffixes[QUEUE_KINDS_END] = {[QUEUE_PROFILES] = ".profiles"};

static void name_of(char out[QUEUE_NAME_SIZE], uint64_t sequence, const char *suffix)
{
    (void)snprintf(out, QUEUE_NAME_SIZE, "%016" PRIx64 "%s", sequence, suffix);
}

void queue_file_name(char out[QUEUE_NAME_SIZE], const queue_file *one)
{
    name_of(out, one->sequence, suffixes[one->kind]);
}

uint64_t queue_file_sequence(const char *name, const char **suffix)
{
    *suffix = name + QUEUE_SEQUENCE_DIGITS;
    if (strspn(name, "0123456789abcdef") != QUEUE_SEQUENCE_DIGITS || **suffix != '.')
        return 0;
    uint64_t sequence = strtoull(name, NULL, 16);
    return sequence <= INT64_MAX ? sequence
                                 : 0; /* larger numbers would leave no room for later entries */
}

queue_kind queue_file_kind(const char *suffix)
{
    for (queue_kind kind = QUEUE_PROFILES; kind < QUEUE_KINDS_END; kind++)
        if (strcmp(suffix, suffixes[kind]) == 0)
            return kind;
    return QUEUE_KINDS_END;
}

enum drop_cause queue_file_cause(const char *suffix)
{
    for (unsigned cause = DROP_NONE + 1; cause < DROP_END; cause++)
        if (strcmp(suffix + 1, drop_cause_get(cause)->name) == 0)
            return (enum drop_cause)cause;
    return DROP_NONE;
}

static int write_all(int fd, const uint8_t *bytes, size_t length)
{
    for (size_t used = 0; used < length;) {
        ssize_t wrote = write(fd, bytes + used, length - used);
        if (wrote < 0 && errno != EINTR)
            return -1;
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return fsync(fd);
}

static int forget_temporary(int directory, const char *temporary)
{
    int saved = errno;
    (void)unlinkat(directory, temporary, 0);
    errno = saved;
    return -1;
}

int queue_file_write(int directory, const queue_file *one, const uint8_t *bytes)
{
    char temporary[QUEUE_NAME_SIZE];
    name_of(temporary, one->sequence, QUEUE_TEMPORARY);
    int fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    int rc = write_all(fd, bytes, one->size);
    if (close(fd) != 0)
        rc = -1;
    return rc == 0 ? 0 : forget_temporary(directory, temporary);
}

int queue_file_publish(int directory, const queue_file *one)
{
    char temporary[QUEUE_NAME_SIZE], name[QUEUE_NAME_SIZE];
    name_of(temporary, one->sequence, QUEUE_TEMPORARY);
    queue_file_name(name, one);
    if (renameat(directory, temporary, directory, name) != 0)
        return forget_temporary(directory, temporary);
    return fsync(directory);
}

int queue_file_remove(int directory, const queue_file *one)
{
    char name[QUEUE_NAME_SIZE];
    queue_file_name(name, one);
    return unlinkat(directory, name, 0);
}

/* Empties a file and keeps its time. */
static void empty(int directory, const char *name, uint64_t added_ms)
{
    const struct timespec time = {.tv_sec = (time_t)(added_ms / 1000),
                                  .tv_nsec = (long)(added_ms % 1000) * 1000000};
    const struct timespec times[2] = {time, time};
    int fd = openat(directory, name, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    (void)futimens(fd, times);
    (void)close(fd);
}

int queue_file_mark_dropped(int directory, const queue_file *one, enum drop_cause cause)
{
    char name[QUEUE_NAME_SIZE], mark[QUEUE_NAME_SIZE];
    char suffix[QUEUE_NAME_SIZE - QUEUE_SEQUENCE_DIGITS];
    (void)snprintf(suffix, sizeof(suffix), ".%s", drop_cause_get(cause)->name);
    queue_file_name(name, one);
    name_of(mark, one->sequence, suffix);
    if (renameat(directory, name, directory, mark) != 0)
        return unlinkat(directory, name, 0);
    empty(directory, mark, one->added_ms);
    (void)fsync(directory);
    return 0;
}

uint8_t *queue_file_read(int directory, const queue_file *one)
{
    char name[QUEUE_NAME_SIZE];
    queue_file_name(name, one);
    uint8_t *bytes = malloc(one->size + 1);
    int fd = bytes != NULL ? openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    size_t used = 0;
    ssize_t got = fd >= 0 ? 1 : -1;
    while (got > 0 && used < one->size) {
        got = read(fd, bytes + used, one->size - used);
        used += got > 0 ? (size_t)got : 0;
    }
    int why = got < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (got >= 0 && used == one->size && used > 0)
        return bytes;
    free(bytes);
    errno = why;
    return NULL;
}
