/* SPDX-License-Identifier: Apache-2.0 */
/* A borrowed sequence of bytes, and borrowed columns of numbers. */
#ifndef CONTRACT_TEXT_H
#define CONTRACT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Any bytes; not NUL-terminated. */
typedef struct text {
    const char *data;
    size_t length;
} text;

typedef struct u32s {
    const uint32_t *at;
    size_t count;
} u32s;

typedef struct u64s {
    const uint64_t *at;
    size_t count;
} u64s;

/* Returns the text of a NUL-terminated string. */
text text_of(const char *string);
bool text_equal(text a, text b);

#endif
