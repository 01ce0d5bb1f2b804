/* SPDX-License-Identifier: Apache-2.0 */
#include "file_queue.h"

#include <base/clock.h>
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
#include <unistd.h>

typedef struct entry {
    uint64_t sequence;
    uint64_t size;
    uint64_t added_ms; /* Unix */
    queue_kind kind;
} entry;

typedef struct file_queue {
    queue port;
    pthread_mutex_t lock;
    int directory;
    int lock_file;
    uint64_t max_bytes;
    uint64_t max_entries;
    entry *entries; /* oldest first, from `first` on */
    size_t first;
    size_t count;
    size_t room;
    uint64_t next_sequence;
    queue_stats stats;
    uint64_t unproven; /* positions in a file of that entry's name; 0 = there are none */
    queue_position *positions;
    size_t position_count;
} file_queue;

enum { NAME_SIZE = 40 };

/* Positions that are in force exactly when the entry of their number is in the queue bear its
 * name; they take this name before anybody sees that entry. */
#define POSITIONS          "positions"
#define UNPROVEN_POSITIONS ".positions"

static const char *const suffixes[QUEUE_KINDS_END] = {[QUEUE_PROFILES] = ".profiles"};

static void name_of(char out[NAME_SIZE], uint64_t sequence, const char *suffix)
{
    (void)snprintf(out, NAME_SIZE, "%016" PRIx64 "%s", sequence, suffix);
}

static int oldest_first(const void *left, const void *right)
{
    const entry *a = left;
    const entry *b = right;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static int note_entry(file_queue *self, const entry *one)
{
    if (array_reserve((void **)&self->entries, &self->room, self->count, sizeof(entry)) != 0)
        return -1;
    self->entries[self->count++] = *one;
    self->stats.bytes += one->size;
    self->stats.entries++;
    if (one->sequence >= self->next_sequence)
        self->next_sequence = one->sequence + 1;
    self->stats.newest = self->next_sequence - 1;
    return 0;
}

static queue_kind kind_of(const char *suffix)
{
    for (queue_kind kind = QUEUE_PROFILES; kind < QUEUE_KINDS_END; kind++)
        if (strcmp(suffix, suffixes[kind]) == 0)
            return kind;
    return QUEUE_KINDS_END;
}

/* One name of the directory: an entry is noted, what a crash left half-written is removed. */
static int note_file(file_queue *self, const char *name)
{
    char *end = NULL;
    uint64_t sequence = strtoull(name, &end, 16);
    struct stat at;
    if (end != name + 16)
        return 0;
    if (strcmp(end, ".tmp") == 0)
        return unlinkat(self->directory, name, 0);
    if (strcmp(end, UNPROVEN_POSITIONS) == 0) {
        self->unproven = sequence;
        return 0;
    }
    queue_kind kind = kind_of(end);
    if (kind == QUEUE_KINDS_END || fstatat(self->directory, name, &at, 0) != 0)
        return 0;
    const entry found = {.sequence = sequence,
                         .size = (uint64_t)at.st_size,
                         .added_ms = (uint64_t)at.st_mtim.tv_sec * 1000 +
                                     (uint64_t)at.st_mtim.tv_nsec / 1000000,
                         .kind = kind};
    return note_entry(self, &found);
}

static bool has_entry(const file_queue *self, uint64_t sequence)
{
    for (size_t i = self->first; i < self->count; i++) {
        if (self->entries[i].sequence == sequence)
            return true;
    }
    return false;
}

static int prove_positions(const file_queue *self, uint64_t sequence)
{
    char name[NAME_SIZE];
    name_of(name, sequence, UNPROVEN_POSITIONS);
    return renameat(self->directory, name, self->directory, POSITIONS);
}

static int forget_positions(const file_queue *self, uint64_t sequence)
{
    char name[NAME_SIZE];
    name_of(name, sequence, UNPROVEN_POSITIONS);
    return unlinkat(self->directory, name, 0);
}

/* A line a position, up to the first that is none. */
static int read_positions(file_queue *self)
{
    int fd = openat(self->directory, POSITIONS, O_RDONLY | O_CLOEXEC);
    FILE *lines = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (lines == NULL)
        return errno == ENOENT ? 0 : -1;
    size_t room = 0;
    queue_position one = {0};
    int rc = 0;
    while (rc == 0 &&
           fscanf(lines, "%39s %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 "\n", one.jvm.boot_id,
                  &one.jvm.host_pid, &one.jvm.start_ticks, &one.session_ms, &one.offset) == 5) {
        rc = array_reserve((void **)&self->positions, &room, self->position_count, sizeof(one));
        if (rc == 0)
            self->positions[self->position_count++] = one;
    }
    (void)fclose(lines);
    return rc;
}

static int open_positions(file_queue *self)
{
    int rc = 0;
    if (self->unproven != 0)
        rc = has_entry(self, self->unproven) ? prove_positions(self, self->unproven)
                                             : forget_positions(self, self->unproven);
    return rc == 0 ? read_positions(self) : rc;
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
        qsort(self->entries, self->count, sizeof(entry), oldest_first);
    return rc == 0 ? open_positions(self) : rc;
}

static int open_directory(file_queue *self, const char *directory)
{
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return -1;
    self->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->directory < 0)
        return -1;
    self->lock_file = openat(self->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return self->lock_file;
}

static void forget(file_queue *self, size_t index)
{
    char name[NAME_SIZE];
    name_of(name, self->entries[index].sequence, suffixes[self->entries[index].kind]);
    (void)unlinkat(self->directory, name, 0);
    self->stats.bytes -= self->entries[index].size;
    self->stats.entries--;
    if (index == self->first) {
        self->first++;
    } else {
        memmove(&self->entries[index], &self->entries[index + 1],
                (self->count - index - 1) * sizeof(entry));
        self->count--;
    }
    if (self->first == self->count)
        self->first = self->count = 0;
}

static void count_drop(file_queue *self, enum drop_cause cause, uint64_t added_ms)
{
    queue_drops *drops = &self->stats.drops[cause];
    drops->entries++;
    if (drops->oldest_ms == 0 || added_ms < drops->oldest_ms)
        drops->oldest_ms = added_ms;
    if (added_ms > drops->newest_ms)
        drops->newest_ms = added_ms;
}

static void drop(file_queue *self, size_t index, enum drop_cause cause)
{
    count_drop(self, cause, self->entries[index].added_ms);
    forget(self, index);
}

static bool drop_oldest(file_queue *self, enum drop_cause cause)
{
    if (self->first == self->count)
        return false;
    drop(self, self->first, cause);
    return true;
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

static int write_file(const file_queue *self, const entry *one, const uint8_t *bytes)
{
    size_t length = one->size;
    char temporary[NAME_SIZE];
    char name[NAME_SIZE];
    name_of(temporary, one->sequence, ".tmp");
    name_of(name, one->sequence, suffixes[one->kind]);
    int fd = openat(self->directory, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    int rc = write_all(fd, bytes, length);
    if (close(fd) != 0)
        rc = -1;
    if (rc == 0)
        rc = renameat(self->directory, temporary, self->directory, name);
    if (rc == 0)
        return fsync(self->directory);
    int saved = errno;
    (void)unlinkat(self->directory, temporary, 0);
    errno = saved;
    return -1;
}

static int write_positions(const file_queue *self, uint64_t sequence,
                           const queue_positions *positions)
{
    char name[NAME_SIZE];
    name_of(name, sequence, UNPROVEN_POSITIONS);
    int fd = openat(self->directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *lines = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (lines == NULL)
        return -1;
    for (size_t i = 0; i < positions->count; i++) {
        const queue_position *one = &positions->all[i];
        (void)fprintf(lines, "%s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                      one->jvm.boot_id, one->jvm.host_pid, one->jvm.start_ticks, one->session_ms,
                      one->offset);
    }
    int rc = fflush(lines) == 0 ? fsync(fd) : -1;
    int saved = errno;
    (void)fclose(lines);
    errno = saved;
    return rc;
}

/* The entry, with the positions that go with it. */
static int write_entry(const file_queue *self, const entry *one, const uint8_t *bytes,
                       const queue_positions *positions)
{
    int rc = positions != NULL ? write_positions(self, one->sequence, positions) : 0;
    if (rc == 0)
        rc = write_file(self, one, bytes);
    if (rc == 0 && positions != NULL)
        rc = prove_positions(self, one->sequence);
    int saved = errno;
    if (rc != 0 && positions != NULL)
        (void)forget_positions(self, one->sequence);
    errno = saved;
    return rc;
}

/* Entries taken from the front leave holes in the array; close them before it grows. */
static void compact(file_queue *self)
{
    if (self->first == 0)
        return;
    memmove(self->entries, self->entries + self->first,
            (self->count - self->first) * sizeof(entry));
    self->count -= self->first;
    self->first = 0;
}

static bool has_room(const file_queue *self, uint64_t size)
{
    return self->stats.entries + 1 <= self->max_entries &&
           self->stats.bytes + size <= self->max_bytes;
}

static int push(queue *port, queue_kind kind, const uint8_t *bytes, size_t length,
                const queue_positions *positions)
{
    file_queue *self = (file_queue *)port;
    entry one = {.size = length, .added_ms = clock_unix_ms(NULL), .kind = kind};
    pthread_mutex_lock(&self->lock);
    compact(self);
    one.sequence = self->next_sequence;
    bool fits = length <= self->max_bytes;
    while (fits && !has_room(self, length) && drop_oldest(self, DROP_QUEUE_FULL))
        continue;
    int rc = fits ? write_entry(self, &one, bytes, positions) : -1;
    while (fits && rc != 0 && (errno == ENOSPC || errno == EDQUOT) && drop_oldest(self, DROP_DISK))
        rc = write_entry(self, &one, bytes, positions);
    if (rc == 0)
        rc = note_entry(self, &one);
    if (rc == 0)
        self->stats.pushed++;
    else
        count_drop(self, fits ? DROP_DISK : DROP_QUEUE_FULL, one.added_ms);
    pthread_mutex_unlock(&self->lock);
    return rc;
}

static uint8_t *read_file(const file_queue *self, const entry *one)
{
    char name[NAME_SIZE];
    name_of(name, one->sequence, suffixes[one->kind]);
    int fd = openat(self->directory, name, O_RDONLY | O_CLOEXEC);
    uint8_t *bytes = malloc(one->size + 1);
    size_t used = 0;
    ssize_t got = fd >= 0 && bytes != NULL ? 1 : -1;
    while (got > 0 && used < one->size) {
        got = read(fd, bytes + used, one->size - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    if (used == one->size && got >= 0)
        return bytes;
    free(bytes);
    return NULL;
}

static bool peek(queue *port, queue_entry *out)
{
    file_queue *self = (file_queue *)port;
    *out = (queue_entry){0};
    pthread_mutex_lock(&self->lock);
    while (out->bytes == NULL && self->first < self->count) {
        const entry *one = &self->entries[self->first];
        out->bytes = read_file(self, one);
        if (out->bytes != NULL) {
            out->sequence = one->sequence;
            out->kind = one->kind;
            out->length = one->size;
        } else {
            drop(self, self->first, DROP_DAMAGED);
        }
    }
    pthread_mutex_unlock(&self->lock);
    return out->bytes != NULL;
}

static void remove_entry(queue *port, uint64_t sequence, enum drop_cause cause)
{
    file_queue *self = (file_queue *)port;
    pthread_mutex_lock(&self->lock);
    for (size_t i = self->first; i < self->count; i++) {
        if (self->entries[i].sequence != sequence)
            continue;
        if (cause != DROP_NONE)
            drop(self, i, cause);
        else
            forget(self, i);
        break;
    }
    pthread_mutex_unlock(&self->lock);
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

static void forget_drops(queue *port, const queue_stats *told)
{
    file_queue *self = (file_queue *)port;
    pthread_mutex_lock(&self->lock);
    for (unsigned cause = 0; cause < DROP_END; cause++) {
        queue_drops *drops = &self->stats.drops[cause];
        if (drops->entries == told->drops[cause].entries) /* none has come since */
            drops->oldest_ms = drops->newest_ms = 0;
    }
    pthread_mutex_unlock(&self->lock);
}

static queue_positions get_positions(queue *port)
{
    const file_queue *self = (file_queue *)port;
    return (queue_positions){self->positions, self->position_count};
}

static const queue_ops ops = {push, get_positions, peek, remove_entry, get_stats, forget_drops};

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
    pthread_mutex_destroy(&self->lock);
    free(self);
}

int file_queue_open(queue **out, const char *directory, uint64_t max_bytes, uint64_t max_entries,
                    char *message, size_t size)
{
    *out = NULL;
    file_queue *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        (void)snprintf(message, size, "out of memory");
        return -1;
    }
    self->port.ops = &ops;
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
    if (*out == NULL)
        file_queue_close(&self->port);
    return *out != NULL ? 0 : -1;
}
