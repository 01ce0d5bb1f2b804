/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a stream of bytes at its newlines, with a limit on the length of a line. */
#ifndef COLLECTOR_KUBERNETES_LINES_H
#define COLLECTOR_KUBERNETES_LINES_H

#include <stddef.h>

typedef struct lines {
    size_t max; /* most bytes of one line */
    char *bytes;
    size_t length;
    size_t room;
} lines;

enum { LINES_ERR_LIMIT = -1, LINES_ERR_NO_MEMORY = -2, LINES_ERR_STOPPED = -3 };

/*
 * Adds bytes and passes each whole line, without its newline, to `take`, until that returns
 * something other than 0. Returns 0 or a LINES_ERR code. Empty lines are skipped.
 */
int lines_add(lines *self, const char *bytes, size_t length,
              int (*take)(void *context, const char *line, size_t length), void *context);

/* Frees the unfinished line; `max` stays. */
void lines_clear(lines *self);

#endif
