/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the existing name that is nearest to a mistyped one, for "did you mean" messages. */
#ifndef BASE_NEAR_MISS_H
#define BASE_NEAR_MISS_H

#include <stddef.h>

enum { NEAR_MISS_LENGTH = 128 }; /* longer names are never near */

typedef struct near_miss {
    char typed[NEAR_MISS_LENGTH];
    char name[NEAR_MISS_LENGTH]; /* the nearest one so far; empty = none is near */
    unsigned
        distance; /* distance of `name`; without one, the largest distance that counts as near */
} near_miss;

/* Begins a search for the name that `typed` (`length` bytes) was meant to be. */
void near_miss_begin(near_miss *near, const char *typed, size_t length);
/* Offers an existing name. Of equally near names the first is kept. Case is ignored. */
void near_miss_try(near_miss *near, const char *name, size_t length);

/* Writes "; did you mean 'convert'?", or nothing. Returns `out`. */
const char *near_miss_hint(const near_miss *near, char out[NEAR_MISS_LENGTH + 32]);

#endif
