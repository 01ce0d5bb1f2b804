/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of what a read hands out only for the call; freed together. Zero it to begin. */
#ifndef BACKEND_COPIES_H
#define BACKEND_COPIES_H

#include <contract/text.h>

typedef struct copies {
    void **blocks;
    size_t count, room;
} copies;

/* `bytes` zeroed bytes; NULL: no memory. */
void *copies_take(copies *c, size_t bytes);
/* Replaces a text by a copy, NUL-terminated. 0, or -1: no memory. */
int copies_keep(copies *c, text *value);
void copies_free(copies *c);

#endif
