/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks recordings that are packed with gzip, to keep them in memory. Needs no GIL. */
#ifndef HOTSTACK_UNPACK_H
#define HOTSTACK_UNPACK_H

#include "tables/arrow.h"

/* Unpacks all of the input. Returns false with an empty `out` when the input is not packed, is
 * damaged, cannot be read, or has more than `max` bytes unpacked. */
bool unpack(bytes *out, const void *data, size_t size, size_t max);
bool unpack_file(bytes *out, const char *path, size_t max);

#endif
