/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/httpapi/inflate.h: unpacks one zstd frame up to a limit. */
#ifndef BACKEND_INFLATE_H
#define BACKEND_INFLATE_H

#include <stddef.h>

#include <contract/verdict.h>

/* Returns the most bytes that a frame may unpack to: the size in its header, or the limit if the
 * header has none or a larger one. */
size_t inflate_size(const void *data, size_t length, size_t limit);

/*
 * Unpacks the frame in data, which must be the only one. *out: malloc'd, *out_length bytes. Memory
 * grows with the bytes that were really unpacked and stays below twice the limit plus 8 MiB of
 * window. Returns 0, or -1 with the verdict filled: payload_too_large, bad_compression.
 */
int inflate_zstd(char **out, size_t *out_length, const void *data, size_t length, size_t limit,
                 verdict *v);

#endif
