/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

static int append(lines *self, const char *bytes, size_t length)
{
    enum { FIRST_ROOM = 4096 };
    if (length > self->max - self->length)
        return LINES_ERR_LIMIT;
    size_t room = self->room;
    while (room < self->length + length)
        room = room == 0 ? FIRST_ROOM : room * 2;
    if (room > self->room) {
        char *grown = realloc(self->bytes, room);
        if (grown == NULL)
            return LINES_ERR_NO_MEMORY;
        self->bytes = grown;
        self->room = room;
    }
    memcpy(self->bytes + self->length, bytes, length);
    self->length += length;
    return 0;
}

int lines_add(lines *self, const char *bytes, size_t length,
              int (*take)(void *context, const char *line, size_t length), void *context)
{
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t part = end != NULL ? (size_t)(end - bytes) : length;
        int rc = part > 0 ? append(self, bytes, part) : 0;
        if (rc != 0)
            return rc;
        if (end == NULL)
            return 0;
        size_t whole = self->length;
        self->length = 0;
        if (whole > 0 && take(context, self->bytes, whole) != 0)
            return LINES_ERR_STOPPED;
        bytes += part + 1;
        length -= part + 1;
    }
    return 0;
}

void lines_clear(lines *self)
{
    free(self->bytes);
    *self = (lines){.max = self->max};
}
