/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_INPUT_H
#define HOTSTACK_CLI_INPUT_H

#include <stddef.h>

/* A file's bytes in memory: recordings from standard input, templates. */
typedef struct bytes {
    char *data;
    size_t size;
} bytes;

/*
 * Reads `path` ("-" = standard input) to its end, at most `limit` bytes. Returns 0 or an errno
 * (EFBIG past the limit). Free data with free().
 */
int read_all(bytes *out, const char *path, size_t limit);

/* The first `room` bytes of a plain file into out->data, which is the caller's. Returns 0, an
 * errno, or ESPIPE where `path` is no plain file. */
int read_head(bytes *out, const char *path, size_t room);

#endif
