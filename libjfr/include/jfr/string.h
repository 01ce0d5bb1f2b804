/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_STRING_H
#define JFR_STRING_H

#include <stddef.h>

/*
 * A borrowed string: `len` bytes of UTF-8, NOT terminated by a NUL byte (print with "%.*s").
 * `data` is NULL for a null string of the recording, and not NULL with len 0 for an empty one.
 * Whatever encoding the recording used (modified UTF-8 with surrogate pairs, UTF-16, Latin-1) the
 * bytes here are valid UTF-8; what cannot be decoded became U+FFFD.
 */
typedef struct jfr_str {
    const char *data;
    size_t len;
} jfr_str;

#endif
