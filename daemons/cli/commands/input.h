/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_INPUT_H
#define HOTSTACK_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a file in memory: recordings from standard input, templates. */
typedef struct bytes {
    char *data;
    size_t size;
} bytes;

/* Returns the last part of a path, borrowed. */
const char *input_name(const char *path);

/* Whether `path` is a regular file, which can be mapped. Others are read to their end. */
bool input_is_plain(const char *path);

/*
 * Reads `path` ("-" = standard input) to its end, at most `limit` bytes. Returns 0 or an errno
 * (EFBIG past the limit). Free data with free().
 */
int read_all(bytes *out, const char *path, size_t limit);

/*
 * As read_all, but maps a regular file instead of reading it: no process may shorten the file
 * while it is mapped. Free with unmap_all.
 */
int map_all(bytes *out, bool *mapped, const char *path, size_t limit);
void unmap_all(bytes *input, bool mapped);

/* Reads the first `room` bytes of a regular file into out->data, which the caller owns. Returns 0
 * or an errno. */
int read_head(bytes *out, const char *path, size_t room);

#endif
