/* SPDX-License-Identifier: Apache-2.0 */
#include "positions.h"

#include <contract/intern.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 40 };

#define TEXT(member)                                                                               \
    {                                                                                              \
        offsetof(queue_position, member), sizeof(((queue_position *)0)->member)                    \
    }

/* The strings of a line, in this order. A tab precedes each. */
static const struct {
    size_t at, size;
} texts[] = {
    TEXT(jvm.version),          TEXT(jvm.vendor),         TEXT(jvm.main_class),
    TEXT(jvm.container_id),     TEXT(jvm.pod_uid),        TEXT(labels.namespace_name),
    TEXT(labels.workload_kind), TEXT(labels.workload),    TEXT(labels.pod),
    TEXT(labels.container),     TEXT(labels.app_version), TEXT(labels.image),
    TEXT(labels.service),
};

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

/* Replaces control bytes, which would end the string. */
static void write_text(FILE *lines, const char *text)
{
    (void)fputc('\t', lines);
    for (; *text != '\0'; text++)
        (void)fputc((unsigned char)*text < ' ' ? '?' : *text, lines);
}

static void write_line(FILE *lines, const queue_position *one)
{
    const local_jvm *jvm = &one->jvm;
    (void)fprintf(lines,
                  "%s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                  " %" PRIu32 " %" PRIu64,
                  jvm->id.boot_id, jvm->id.host_pid, jvm->id.start_ticks, one->session_ms,
                  one->offset, one->told_ms, jvm->start_ms, jvm->ns_pid, one->threads_ms);
    for (unsigned event = 0; event < EVENTS; event++)
        (void)fprintf(lines, " %" PRIu64, one->events.of[event]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        write_text(lines, (const char *)one + texts[i].at);
    (void)fputc('\n', lines);
}

/* Returns false if the line is malformed. Changes the line. */
static bool read_line(char *line, queue_position *out)
{
    int used = 0;
    *out = (queue_position){0};
    local_jvm *jvm = &out->jvm;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line,
               "%39s %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu32 " %" SCNu64 "%n",
               jvm->id.boot_id, &jvm->id.host_pid, &jvm->id.start_ticks, &out->session_ms,
               &out->offset, &out->told_ms, &jvm->start_ms, &jvm->ns_pid, &out->threads_ms,
               &used) != 9)
        return false;
    char *rest = line + used;
    for (unsigned event = 0; event < EVENTS; event++)
        out->events.of[event] = strtoull(rest, &rest, 10);
    if (*rest++ != '\t')
        return false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = strsep(&rest, "\t");
        if (text == NULL)
            return false;
        (void)snprintf((char *)out + texts[i].at, texts[i].size, "%s", text);
    }
    return true;
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
    for (size_t i = 0; i < positions->count; i++)
        write_line(lines, &positions->all[i]);
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
    char *line = NULL;
    size_t line_size = 0, room = 0;
    queue_position one;
    int rc = array_reserve((void **)out, &room, 0, sizeof(one));
    while (rc == 0 && getline(&line, &line_size, lines) > 0 && read_line(line, &one)) {
        rc = array_reserve((void **)out, &room, *count, sizeof(one));
        if (rc == 0)
            (*out)[(*count)++] = one;
    }
    free(line);
    (void)fclose(lines);
    return rc;
}
