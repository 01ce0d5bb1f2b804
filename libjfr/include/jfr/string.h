/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_STRING_H
#define JFR_STRING_H

#include <stddef.h>

/*
 * A borrowed string: `len` bytes of UTF-8, NOT terminated by a NUL byte (print with "%.*s").
 * For a null string `data` is NULL; for an empty string `data` is not NULL and `len` is 0. The
 * bytes are valid UTF-8, whatever encoding the recording used (modified UTF-8 with surrogate pairs,
 * UTF-16, Latin-1). U+FFFD replaces bytes that cannot be decoded.
 */
typedef struct jfr_str {
    const char *data;
    size_t len;
} jfr_str;

#endif
