/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table's deduplication log, as ClickHouse writes it
 * (src/Storages/MergeTree/MergeTreeDeduplicationLog.cpp): files deduplication_log_<number>.txt,
 * one record per line, "operation TAB part TAB block id", operation 1 = recorded, 2 = withdrawn.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded/tokens_impl.h"

#define LOGS     "deduplication_logs"
#define LOG_NAME "deduplication_log_"

enum {
    NAME_SIZE = sizeof LOG_NAME + 32,
    TAIL_SIZE = 65536, /* bytes read of a log's end: an insert leaves a record of 100 bytes */
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* A part's partition and the range of blocks from which its rows came. */
typedef struct part_range {
    const char *name;
    size_t partition_length;
    uint64_t first;
    uint64_t last;
} part_range;

/* One table's log: the end of its last file that is not empty. */
typedef struct log_tail {
    int table;  /* the table's directory, borrowed */
    int newest; /* the file that records are added to */
    char *text; /* whole records */
    size_t length;
} log_tail;

/* Parses "PARTITION_FIRST_LAST_LEVEL", optionally with "_MUTATION"; a partition's id has no
 * underscore. */
static bool parse_part(part_range *out, const char *name)
{
    const char *mark = strchr(name, '_');
    int length = 0;

    if (!mark || mark == name)
        return false;
    out->name = name;
    out->partition_length = (size_t)(mark - name);
    return sscanf(mark, "_%20" SCNu64 "_%20" SCNu64 "_%n", &out->first, &out->last, &length) == 2 &&
           length > 0;
}

static bool covers(const part_range *whole, const part_range *part)
{
    return whole->partition_length == part->partition_length &&
           memcmp(whole->name, part->name, part->partition_length) == 0 &&
           whole->first <= part->first && whole->last >= part->last;
}

/* Opens a stream over the directory `name` in `parent`; NULL with errno. */
static DIR *open_directory(int parent, const char *name)
{
    int fd = openat(parent, name, OPEN_DIRECTORY);
    DIR *out = fd >= 0 ? fdopendir(fd) : NULL;

    if (fd >= 0 && !out)
        (void)close(fd);
    return out;
}

/* Returns 1 if the part, or one into which it was merged, is in the table's directory; 0 if not; -1
 * on an error. */
static int has_part(int table, const char *name)
{
    part_range wanted, found;
    bool there = false;
    struct dirent *entry;
    DIR *parts;

    if (!parse_part(&wanted, name))
        return 1; /* an unknown form of name counts as present */
    parts = open_directory(table, ".");
    if (!parts)
        return -1;
    while (!there && (entry = readdir(parts)))
        there = parse_part(&found, entry->d_name) && covers(&found, &wanted);
    (void)closedir(parts);
    return there;
}

/* Returns the highest number below `bound` of a log file, 0 if there is none. */
static uint64_t newest_log(DIR *logs, uint64_t bound)
{
    uint64_t newest = 0;
    struct dirent *entry;

    rewinddir(logs);
    while ((entry = readdir(logs))) {
        uint64_t number = 0;

        if (sscanf(entry->d_name, LOG_NAME "%20" SCNu64 ".txt", &number) == 1 && number < bound &&
            number > newest)
            newest = number;
    }
    return newest;
}

static int open_log(DIR *logs, uint64_t number)
{
    char name[NAME_SIZE];

    (void)snprintf(name, sizeof name, LOG_NAME "%" PRIu64 ".txt", number);
    return openat(dirfd(logs), name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
}

/* Reads the end of a file into text, whole records only; truncates the file before a torn last
 * record. */
static int read_tail(log_tail *out, int fd, off_t size)
{
    off_t from = size > TAIL_SIZE ? size - TAIL_SIZE : 0;
    ssize_t got = pread(fd, out->text, TAIL_SIZE, from);
    char *start = out->text;
    char *end;

    out->length = 0;
    if (got < 0)
        return -1;
    end = memrchr(out->text, '\n', (size_t)got);
    if (from > 0)
        start = memchr(out->text, '\n', (size_t)got);
    if (!end) /* an incomplete record, or not a log */
        return from > 0 || got == 0 ? 0 : ftruncate(fd, 0);
    if (from > 0)
        start++;
    end++;
    if (end - out->text < got && ftruncate(fd, from + (end - out->text)) != 0)
        return -1;
    out->length = (size_t)(end - start);
    memmove(out->text, start, out->length);
    return 0;
}

/* Finds the last file that is not empty and reads its end; records go to the newest file. */
static int read_log(log_tail *out, DIR *logs)
{
    uint64_t number = newest_log(logs, UINT64_MAX);
    int rc = 0;

    out->newest = -1;
    out->length = 0;
    for (; number && !rc && !out->length; number = newest_log(logs, number)) {
        int fd = open_log(logs, number);
        struct stat found;

        if (fd < 0)
            return -1;
        rc = fstat(fd, &found) != 0 || read_tail(out, fd, found.st_size) != 0 ? -1 : 0;
        if (out->newest < 0)
            out->newest = fd;
        else
            (void)close(fd);
    }
    return rc;
}

/* Withdraws the record "1 TAB part TAB id" of `length` bytes if its part is missing. Returns 1 if
 * it did. */
static int withdraw(const log_tail *tail, char *record, size_t length)
{
    char *part = record + 2;
    char *mark = length > 2 ? memchr(part, '\t', length - 2) : NULL;
    int there;

    if (!mark || record[0] != '1' || record[1] != '\t')
        return 0;
    *mark = '\0';
    there = has_part(tail->table, part);
    *mark = '\t';
    if (there)
        return there < 0 ? -1 : 0;
    record[0] = '2';
    return write(tail->newest, record, length) == (ssize_t)length ? 1 : -1;
}

/* Withdraws records from the last one backwards, up to the first whose part exists. */
static int withdraw_all(const log_tail *tail)
{
    size_t end = tail->length;
    int rc = 1;

    while (end && rc == 1) {
        const char *before = memrchr(tail->text, '\n', end - 1);
        size_t start = before ? (size_t)(before - tail->text) + 1 : 0;

        rc = withdraw(tail, tail->text + start, end - start);
        end = start;
    }
    return rc < 0 ? -1 : 0;
}

static int settle_table(int parent, const char *name)
{
    int rc = 0;
    DIR *logs = NULL;
    log_tail tail = {.table = openat(parent, name, OPEN_DIRECTORY), .newest = -1};

    if (tail.table < 0)
        return errno == ENOTDIR ? 0 : -1;
    logs = open_directory(tail.table, LOGS);
    if (!logs) {
        rc = errno == ENOENT ? 0 : -1;
        (void)close(tail.table);
        return rc;
    }
    tail.text = malloc(TAIL_SIZE);
    rc = tail.text && read_log(&tail, logs) == 0 ? withdraw_all(&tail) : -1;
    if (tail.newest >= 0)
        (void)close(tail.newest);
    free(tail.text);
    (void)closedir(logs);
    (void)close(tail.table);
    return rc;
}

/* Calls `settle` for each entry of the directory `name` of `parent`. `absent` is the errno that
 * means that there is no such directory. */
static int settle_each(int parent, const char *name, int absent,
                       int (*settle)(int directory, const char *name))
{
    DIR *all = open_directory(parent, name);
    struct dirent *entry;
    int rc = 0;

    if (!all)
        return errno == absent ? 0 : -1;
    while (!rc && (entry = readdir(all)))
        if (entry->d_name[0] != '.')
            rc = settle(dirfd(all), entry->d_name);
    (void)closedir(all);
    return rc;
}

/* Settles the tables of one directory of the store: store/<first letters>/<uuid>. */
static int settle_tables(int store, const char *prefix)
{
    return settle_each(store, prefix, ENOTDIR, settle_table);
}

static int settle_store(int directory)
{
    return settle_each(directory, "store", ENOENT, settle_tables);
}

/* Takes the engine's own lock, a file that the engine removes when it ends in order. Returns -1
 * when there is nothing to do. */
static int hold_status(int directory)
{
    int status = openat(directory, "status", O_RDWR | O_NOFOLLOW | O_CLOEXEC);

    if (status >= 0 && flock(status, LOCK_EX | LOCK_NB) != 0) {
        (void)close(status);
        return -1;
    }
    return status;
}

int chs__tokens_settle(const char *path, chs_error *err)
{
    int directory = open(path, OPEN_DIRECTORY);
    int status = directory >= 0 ? hold_status(directory) : -1;
    int rc = 0;

    if (status >= 0 && settle_store(directory) != 0)
        rc = CHS__FAIL(err, CHS_ERR_UNAVAILABLE,
                       "The deduplication logs in %s/store, whose process was killed, cannot be "
                       "read or written: %s",
                       path, strerror(errno));
    if (status >= 0)
        (void)close(status);
    if (directory >= 0)
        (void)close(directory);
    return rc;
}
