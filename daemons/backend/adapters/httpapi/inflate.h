/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/httpapi/inflate.h: one zstd frame, unpacked no further than a limit. */
#ifndef BACKEND_INFLATE_H
#define BACKEND_INFLATE_H

#include <stddef.h>

#include <contract/verdict.h>

/* The most bytes to unpack from a frame: what it announces, or the limit when it announces nothing
 * or more. */
size_t inflate_size(const void *data, size_t length, size_t limit);

/*
 * Unpacks the one frame that data holds. *out: from malloc, *out_length bytes. Memory grows with
 * what has really been unpacked and stays below twice the limit and 8 MiB of window.
 * 0, or -1 with the verdict filled: payload_too_large, bad_compression.
 */
int inflate_zstd(char **out, size_t *out_length, const void *data, size_t length, size_t limit,
                 verdict *v);

#endif
