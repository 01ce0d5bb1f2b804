/* SPDX-License-Identifier: Apache-2.0 */
#include "stock.h"

#include "adapters/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stackagg/stackagg.h>

enum { STACKS_MAX = 20000, THREADS_MAX = 4096, SPAN_MS = 60000 };

static int read_profile(profile *out, const char *path, char *message, size_t size)
{
    reader caps = {.max_stacks = STACKS_MAX, .max_threads = THREADS_MAX, .keep_dir = ""};
    const window_span span = {.length_ms = SPAN_MS};
    const event_intervals events = {0};
    void *memory = NULL;
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = -1;

    if (fd < 0 || fstat(fd, &about) != 0)
        (void)snprintf(message, size, "%s", strerror(errno));
    else
        rc = reader_parse(&caps, &memory, fd, (uint64_t)about.st_size, &span, &events, out, message,
                          size);
    reader_forget(&caps, memory);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Lists the rows by source, without the row for dropped stacks. Returns 0 or -1. */
static int list_rows(stock *to)
{
    const profile *from = &to->read;

    for (uint32_t source = 1; source < PROFILE_SOURCE_END; source++) {
        to->rows[source] = malloc((from->row_count + 1) * sizeof(*to->rows[source]));
        if (to->rows[source] == NULL)
            return -1;
    }
    for (uint32_t i = 0; i < from->row_count; i++) {
        const profile_row *row = &from->rows[i];
        uint32_t source = from->parts[row->part].source;
        if (row->stack != SAGG_DROPPED && row->sum.raw_count > 0)
            to->rows[source][to->counts[source]++] = i;
    }
    for (uint32_t source = 1; source < PROFILE_SOURCE_END; source++)
        to->sources += to->counts[source] > 0;
    return 0;
}

int stock_open(stock *out, const char *path, char *message, size_t size)
{
    *out = (stock){0};
    if (read_profile(&out->read, path, message, size) != 0)
        return -1;
    if (list_rows(out) != 0)
        (void)snprintf(message, size, "out of memory");
    else if (out->sources == 0)
        (void)snprintf(message, size, "the recording has no samples");
    else
        return 0;
    return -1;
}

void stock_close(stock *from)
{
    profile_clear(&from->read);
    for (uint32_t source = 0; source < PROFILE_SOURCE_END; source++)
        free(from->rows[source]);
}
