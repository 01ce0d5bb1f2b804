/* SPDX-License-Identifier: Apache-2.0 */
/* chsink/bytes.h: a borrowed run of bytes. */
#ifndef CHSINK_BYTES_H
#define CHSINK_BYTES_H

#include <stddef.h>

/* Any bytes, not NUL-terminated. data may be NULL when length is 0. Never owned by this struct. */
typedef struct chs_bytes {
    const char *data;
    size_t length;
} chs_bytes;

#endif
