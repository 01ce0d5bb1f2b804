/* SPDX-License-Identifier: Apache-2.0 */
/* Packed recordings (gzip), to be kept. Needs no GIL. */
#ifndef HOTSTACK_UNPACK_H
#define HOTSTACK_UNPACK_H

#include "tables/arrow.h"

/* Unpacks all of it. False, with nothing in `out`, where it is not packed, is damaged, no file
 * that can be read, or has more than `max` bytes. */
bool unpack(bytes *out, const void *data, size_t size, size_t max);
bool unpack_file(bytes *out, const char *path, size_t max);

#endif
