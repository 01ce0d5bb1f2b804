/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of texts that a read lends only for a call; they are freed together. Zero it to begin. */
#ifndef BACKEND_COPIES_H
#define BACKEND_COPIES_H

#include <contract/text.h>

typedef struct copies {
    void **blocks;
    size_t count, room;
} copies;

/* Returns `bytes` zeroed bytes; NULL: no memory. */
void *copies_take(copies *c, size_t bytes);
/* Replaces a text by a NUL-terminated copy. Returns 0, or -1: no memory. */
int copies_keep(copies *c, text *value);
void copies_free(copies *c);

#endif
