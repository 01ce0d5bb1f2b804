/* SPDX-License-Identifier: Apache-2.0 */
#include "file_queue.h"

#include "positions.h"
#include "queue_files.h"

#include <base/clock.h>
#include <base/log.h>
#include <contract/intern.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct file_queue {
    queue port;
    pthread_mutex_t lock;
    char *path; /* of the directory, for the log */
    int directory;
    int lock_file;
    uint64_t max_bytes;
    uint64_t max_entries;
    queue_file *entries; /* oldest first; the queue begins at `first` */
    size_t first;
    size_t count;
    size_t room;
    uint64_t next_sequence;
    unsigned foreign; /* files in the directory that do not belong to the queue */
    queue_stats stats;
    uint64_t unproven; /* entry whose positions are in a file of their own and not yet in force; 0 =
                          none */
    queue_position *positions;
    size_t position_count;
} file_queue;

#define LOCK "lock"

static int oldest_first(const void *left, const void *right)
{
    const queue_file *a = left;
    const queue_file *b = right;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static void note_sequence(file_queue *self, uint64_t sequence)
{
    if (sequence >= self->next_sequence)
        self->next_sequence = sequence + 1;
    self->stats.newest = self->next_sequence - 1;
}

/* Makes room in the table for one more entry. Returns 0 or -1. */
static int reserve_entry(file_queue *self)
{
    return array_reserve((void **)&self->entries, &self->room, self->count, sizeof(queue_file));
}

/* Appends to the table, which must have room. */
static void note_entry(file_queue *self, const queue_file *one)
{
    self->entries[self->count++] = *one;
    self->stats.bytes += one->size;
    self->stats.entries++;
    note_sequence(self, one->sequence);
}

static void count_drop(file_queue *self, enum drop_cause cause, uint64_t added_ms)
{
    queue_drops *drops = &self->stats.drops[cause];
    drops->entries++;
    if (drops->oldest_ms == 0 || added_ms < drops->oldest_ms)
        drops->oldest_ms = added_ms;
    if (added_ms > drops->newest_ms)
        drops->newest_ms = added_ms;
    if (drops->first_ms == 0 || added_ms < drops->first_ms)
        drops->first_ms = added_ms;
}

static int note_foreign(file_queue *self, const char *name)
{
    enum { NAMED_MAX = 8 };
    if (self->foreign++ < NAMED_MAX)
        log_line("queue %s: %s is not a batch of this queue and is left alone", self->path, name);
    return 0;
}

/* Handles one name of the directory: adds an entry, counts a drop that has not been reported, and
 * removes files that a crash left half-written. */
static int note_file(file_queue *self, const char *name)
{
    const char *suffix = NULL;
    struct stat at;
    uint64_t sequence = queue_file_sequence(name, &suffix);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, LOCK) == 0 ||
        strcmp(name, POSITIONS_FILE) == 0)
        return 0;
    if (sequence == 0 || fstatat(self->directory, name, &at, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(at.st_mode))
        return note_foreign(self, name);
    if (strcmp(suffix, QUEUE_TEMPORARY) == 0) {
        log_line("queue %s: %s is removed: the collector ended while it wrote it", self->path,
                 name);
        return unlinkat(self->directory, name, 0);
    }
    if (strcmp(suffix, POSITIONS_SUFFIX) == 0) {
        self->unproven = sequence;
        return 0;
    }
    enum drop_cause cause = queue_file_cause(suffix);
    const queue_file found = {.sequence = sequence,
                              .size = (uint64_t)at.st_size,
                              .added_ms = (uint64_t)at.st_mtim.tv_sec * 1000 +
                                          (uint64_t)at.st_mtim.tv_nsec / 1000000,
                              .kind = queue_file_kind(suffix)};
    if (cause != DROP_NONE) {
        count_drop(self, cause, found.added_ms);
        note_sequence(self, sequence);
        return 0;
    }
    if (found.kind == QUEUE_KINDS_END)
        return note_foreign(self, name);
    if (reserve_entry(self) != 0)
        return -1;
    note_entry(self, &found);
    return 0;
}

static bool has_entry(const file_queue *self, uint64_t sequence)
{
    for (size_t i = self->first; i < self->count; i++) {
        if (self->entries[i].sequence == sequence)
            return true;
    }
    return false;
}

static int open_positions(file_queue *self)
{
    int rc = 0;
    if (self->unproven != 0)
        rc = has_entry(self, self->unproven) ? positions_prove(self->directory, self->unproven)
                                             : positions_forget(self->directory, self->unproven);
    return rc == 0 ? positions_read(self->directory, &self->positions, &self->position_count) : rc;
}

static int read_directory(file_queue *self)
{
    int copy = openat(self->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    if (names == NULL) {
        if (copy >= 0)
            close(copy);
        return -1;
    }
    int rc = 0;
    for (struct dirent *name = readdir(names); name != NULL && rc == 0; name = readdir(names))
        rc = note_file(self, name->d_name);
    closedir(names);
    if (self->count > 0)
        qsort(self->entries, self->count, sizeof(queue_file), oldest_first);
    return rc == 0 ? open_positions(self) : rc;
}

static int open_directory(file_queue *self, const char *directory)
{
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return -1;
    self->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->directory < 0)
        return -1;
    self->lock_file = openat(self->directory, LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return self->lock_file;
}

/* Removes an entry, whose file is already gone or renamed, from the table. */
static void forget(file_queue *self, size_t index)
{
    self->stats.bytes -= self->entries[index].size;
    self->stats.entries--;
    if (index == self->first) {
        self->first++;
    } else {
        memmove(&self->entries[index], &self->entries[index + 1],
                (self->count - index - 1) * sizeof(queue_file));
        self->count--;
    }
    if (self->first == self->count)
        self->first = self->count = 0;
}

static void tell_drop(const file_queue *self, const queue_file *one, enum drop_cause cause)
{
    char name[QUEUE_NAME_SIZE], time[32] = "";
    struct tm parts;
    time_t seconds = (time_t)(one->added_ms / 1000);
    queue_file_name(name, one);
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%SZ", &parts);
    log_line("queue %s: the batch %s of %s is dropped (%s). %s", self->path, name, time,
             drop_cause_get(cause)->name, drop_cause_get(cause)->explanation);
}

/*
 * Drops an entry. Returns false when its file cannot be removed; with `must` the entry leaves the
 * table all the same, as it would block the others.
 */
static bool drop(file_queue *self, size_t index, enum drop_cause cause, bool must)
{
    const queue_file one = self->entries[index];
    bool gone = queue_file_mark_dropped(self->directory, &one, cause) == 0 || errno == ENOENT;
    if (!gone && !must)
        return false;
    if (!gone)
        log_line("queue %s: a dropped batch comes back at the next start, as its file cannot be "
                 "removed: %s",
                 self->path, strerror(errno));
    tell_drop(self, &one, cause);
    count_drop(self, cause, one.added_ms);
    forget(self, index);
    return true;
}

static bool drop_oldest(file_queue *self, enum drop_cause cause)
{
    return self->first < self->count && drop(self, self->first, cause, false);
}

/* An entry that cannot be written is reported as lost, so that it must not be sent after a restart.
 */
static int write_file(const file_queue *self, const queue_file *one, const uint8_t *bytes)
{
    int rc = queue_file_write(self->directory, one, bytes);
    if (rc == 0)
        rc = queue_file_publish(self->directory, one);
    int saved = errno;
    if (rc != 0)
        (void)queue_file_remove(self->directory, one);
    errno = saved;
    return rc;
}

/* Writes the entry's file, and its positions. */
static int write_with_positions(const file_queue *self, const queue_file *one, const uint8_t *bytes,
                                const queue_positions *positions)
{
    if (positions == NULL)
        return write_file(self, one, bytes);
    int rc = positions_write(self->directory, one->sequence, positions);
    if (rc == 0)
        rc = write_file(self, one, bytes);
    if (rc == 0)
        rc = positions_prove(self->directory, one->sequence);
    int saved = errno;
    if (rc != 0) {
        (void)queue_file_remove(self->directory, one);
        (void)positions_forget(self->directory, one->sequence);
    }
    errno = saved;
    return rc;
}

/* Closes the hole that entries removed from the front leave in the array, before the array
 * grows. */
static void compact(file_queue *self)
{
    if (self->first == 0)
        return;
    memmove(self->entries, self->entries + self->first,
            (self->count - self->first) * sizeof(queue_file));
    self->count -= self->first;
    self->first = 0;
}

static bool has_room(const file_queue *self, uint64_t size)
{
    return self->stats.entries + 1 <= self->max_entries &&
           self->stats.bytes + size <= self->max_bytes;
}

/* Writes the entry. On a full disk the oldest entries, of about its size, are dropped for it. */
static int write_entry(file_queue *self, const queue_file *one, const uint8_t *bytes,
                       const queue_positions *positions)
{
    uint64_t before = self->stats.bytes;
    int rc = write_with_positions(self, one, bytes, positions);
    int why = errno;
    while (rc != 0 && (why == ENOSPC || why == EDQUOT) &&
           before - self->stats.bytes < 2 * one->size && drop_oldest(self, DROP_DISK)) {
        rc = write_with_positions(self, one, bytes, positions);
        why = errno;
    }
    errno = why;
    return rc;
}

static int push(queue *port, queue_kind kind, const uint8_t *bytes, size_t length,
                const queue_positions *positions)
{
    file_queue *self = (file_queue *)port;
    queue_file one = {.size = length, .added_ms = clock_unix_ms(NULL), .kind = kind};
    enum drop_cause cause = DROP_DISK;
    pthread_mutex_lock(&self->lock);
    compact(self);
    one.sequence = self->next_sequence;
    while (length <= self->max_bytes && !has_room(self, length) &&
           drop_oldest(self, DROP_QUEUE_FULL))
        continue;
    int rc = -1;
    if (!has_room(self, length)) {
        cause = DROP_QUEUE_FULL;
        log_line("queue %s: a batch of %zu bytes is lost: limits.queue_bytes is too small for it",
                 self->path, length);
    } else if (reserve_entry(self) != 0 || write_entry(self, &one, bytes, positions) != 0) {
        log_line("queue %s: a batch of %zu bytes cannot be written and is lost: %s", self->path,
                 length, strerror(errno));
    } else {
        rc = 0;
    }
    if (rc == 0) {
        note_entry(self, &one);
        self->stats.pushed++;
    } else {
        count_drop(self, cause, one.added_ms);
    }
    pthread_mutex_unlock(&self->lock);
    return rc;
}

/* Whether the error, a lack of memory or descriptors, is not the fault of the file. */
static bool is_passing(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EINTR;
}

static bool peek(queue *port, queue_entry *out)
{
    file_queue *self = (file_queue *)port;
    bool waits = false;
    *out = (queue_entry){0};
    pthread_mutex_lock(&self->lock);
    while (out->bytes == NULL && !waits && self->first < self->count) {
        const queue_file *one = &self->entries[self->first];
        out->bytes = queue_file_read(self->directory, one);
        waits = out->bytes == NULL && is_passing(errno);
        if (out->bytes != NULL) {
            out->sequence = one->sequence;
            out->kind = one->kind;
            out->length = one->size;
        } else if (!waits) {
            (void)drop(self, self->first, DROP_DAMAGED, true);
        }
    }
    pthread_mutex_unlock(&self->lock);
    return out->bytes != NULL;
}

/* Removes an entry that has been delivered. If its file stays, it is sent again after a restart, as
 * a duplicate. */
static void remove_delivered(file_queue *self, size_t index)
{
    char name[QUEUE_NAME_SIZE];
    queue_file_name(name, &self->entries[index]);
    if (queue_file_remove(self->directory, &self->entries[index]) != 0 && errno != ENOENT)
        log_line("queue %s: %s has been delivered and cannot be removed: %s", self->path, name,
                 strerror(errno));
    forget(self, index);
}

static void remove_entry(queue *port, uint64_t sequence, enum drop_cause cause)
{
    file_queue *self = (file_queue *)port;
    pthread_mutex_lock(&self->lock);
    for (size_t i = self->first; i < self->count; i++) {
        if (self->entries[i].sequence != sequence)
            continue;
        if (cause != DROP_NONE)
            (void)drop(self, i, cause, true);
        else
            remove_delivered(self, i);
        break;
    }
    pthread_mutex_unlock(&self->lock);
}

/*
 * Writes the second half before the first half takes the place of the entry: a process that is
 * killed between the two steps leaves the entry and the second half.
 */
static int write_halves(const file_queue *self, const queue_file *first, const queue_file *second,
                        const queue_bytes halves[2])
{
    if (queue_file_write(self->directory, second, halves[1].bytes) != 0)
        return -1;
    if (queue_file_publish(self->directory, second) == 0 &&
        queue_file_write(self->directory, first, halves[0].bytes) == 0 &&
        queue_file_publish(self->directory, first) == 0)
        return 0;
    int saved = errno;
    (void)queue_file_remove(self->directory, second);
    errno = saved;
    return -1;
}

static int replace(queue *port, uint64_t sequence, const queue_bytes halves[2])
{
    file_queue *self = (file_queue *)port;
    int rc = -1;
    pthread_mutex_lock(&self->lock);
    size_t index = self->first;
    while (index < self->count && self->entries[index].sequence != sequence)
        index++;
    if (index < self->count && reserve_entry(self) == 0) {
        queue_file first = self->entries[index], second = first;
        first.size = halves[0].length;
        second.size = halves[1].length;
        second.sequence = self->next_sequence;
        rc = write_halves(self, &first, &second, halves);
        if (rc == 0) {
            self->stats.bytes += first.size - self->entries[index].size;
            self->entries[index] = first;
            note_entry(self, &second);
            self->stats.pushed += 2;
        } else {
            log_line("queue %s: a batch cannot be cut in two: %s", self->path, strerror(errno));
        }
    }
    pthread_mutex_unlock(&self->lock);
    return rc;
}

static queue_stats get_stats(queue *port)
{
    file_queue *self = (file_queue *)port;
    pthread_mutex_lock(&self->lock);
    queue_stats stats = self->stats;
    stats.max_bytes = self->max_bytes;
    stats.oldest_ms = self->first < self->count ? self->entries[self->first].added_ms : 0;
    pthread_mutex_unlock(&self->lock);
    return stats;
}

/* Removes the files that mark drops of a cause, once all of them have been reported. */
static void remove_marks(const file_queue *self, const bool *told)
{
    int copy = openat(self->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    if (names == NULL && copy >= 0)
        close(copy);
    for (struct dirent *name = names != NULL ? readdir(names) : NULL; name != NULL;
         name = readdir(names)) {
        const char *suffix = NULL;
        if (queue_file_sequence(name->d_name, &suffix) != 0 && told[queue_file_cause(suffix)])
            (void)unlinkat(self->directory, name->d_name, 0);
    }
    if (names != NULL)
        closedir(names);
}

static void forget_drops(queue *port, const queue_stats *told)
{
    file_queue *self = (file_queue *)port;
    bool all_told[DROP_END] = {false};
    bool any = false;
    pthread_mutex_lock(&self->lock);
    for (unsigned cause = DROP_NONE + 1; cause < DROP_END; cause++) {
        queue_drops *drops = &self->stats.drops[cause];
        if (drops->oldest_ms == 0 || drops->entries != told->drops[cause].entries)
            continue; /* none to report, or one more since */
        drops->oldest_ms = drops->newest_ms = 0;
        any = all_told[cause] = true;
    }
    if (any)
        remove_marks(self, all_told);
    pthread_mutex_unlock(&self->lock);
}

static queue_positions get_positions(queue *port)
{
    const file_queue *self = (file_queue *)port;
    return (queue_positions){self->positions, self->position_count};
}

static const queue_ops ops = {push,         get_positions, peek,        replace,
                              remove_entry, get_stats,     forget_drops};

void file_queue_close(queue *port)
{
    file_queue *self = (file_queue *)port;
    if (self == NULL)
        return;
    if (self->lock_file >= 0)
        close(self->lock_file);
    if (self->directory >= 0)
        close(self->directory);
    free(self->entries);
    free(self->positions);
    free(self->path);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

int file_queue_open(queue **out, const char *directory, uint64_t max_bytes, uint64_t max_entries,
                    char *message, size_t size)
{
    *out = NULL;
    file_queue *self = calloc(1, sizeof(*self));
    char *path = strdup(directory);
    if (self == NULL || path == NULL) {
        (void)snprintf(message, size, "out of memory");
        free(self);
        free(path);
        return -1;
    }
    self->port.ops = &ops;
    self->path = path;
    pthread_mutex_init(&self->lock, NULL);
    self->directory = self->lock_file = -1;
    self->max_bytes = max_bytes;
    self->max_entries = max_entries;
    self->next_sequence = 1;
    if (open_directory(self, directory) < 0)
        (void)snprintf(message, size, "cannot use the queue's directory %.200s: %s", directory,
                       strerror(errno));
    else if (flock(self->lock_file, LOCK_EX | LOCK_NB) != 0)
        (void)snprintf(message, size, "another collector uses the queue in %.200s", directory);
    else if (read_directory(self) != 0)
        (void)snprintf(message, size, "cannot read the queue in %.200s: %s", directory,
                       strerror(errno));
    else
        *out = &self->port;
    if (self->foreign > 0)
        log_line("queue %s: %u foreign files are left alone", self->path, self->foreign);
    if (*out == NULL)
        file_queue_close(&self->port);
    return *out != NULL ? 0 : -1;
}
