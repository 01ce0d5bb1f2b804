/* SPDX-License-Identifier: Apache-2.0 */
#include "positions.h"

#include <contract/intern.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { NAME_SIZE = 40 };

static void name_of(char out[NAME_SIZE], uint64_t sequence)
{
    (void)snprintf(out, NAME_SIZE, "%016" PRIx64 POSITIONS_SUFFIX, sequence);
}

int positions_prove(int directory, uint64_t sequence)
{
    char name[NAME_SIZE];
    name_of(name, sequence);
    return renameat(directory, name, directory, POSITIONS_FILE);
}

int positions_forget(int directory, uint64_t sequence)
{
    char name[NAME_SIZE];
    name_of(name, sequence);
    return unlinkat(directory, name, 0);
}

int positions_write(int directory, uint64_t sequence, const queue_positions *positions)
{
    char name[NAME_SIZE];
    name_of(name, sequence);
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *lines = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (lines == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
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

int positions_read(int directory, queue_position **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    int fd = openat(directory, POSITIONS_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    FILE *lines = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (lines == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return errno == ENOENT ? 0 : -1;
    }
    size_t room = 0;
    queue_position one = {0};
    int rc = 0;
    while (rc == 0 &&
           fscanf(lines, "%39s %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 "\n", one.jvm.boot_id,
                  &one.jvm.host_pid, &one.jvm.start_ticks, &one.session_ms, &one.offset) == 5) {
        rc = array_reserve((void **)out, &room, *count, sizeof(one));
        if (rc == 0)
            (*out)[(*count)++] = one;
    }
    (void)fclose(lines);
    return rc;
}
