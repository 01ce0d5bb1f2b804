/* SPDX-License-Identifier: Apache-2.0 */
/* The name that was meant by one that does not exist: a typo is answered with the nearest name. */
#ifndef BASE_NEAR_MISS_H
#define BASE_NEAR_MISS_H

#include <stddef.h>

enum { NEAR_MISS_LENGTH = 128 }; /* longer names are near to nothing */

typedef struct near_miss {
    char typed[NEAR_MISS_LENGTH];
    char name[NEAR_MISS_LENGTH]; /* the nearest one so far; empty = none is near */
    unsigned distance;           /* of `name`; of none, the greatest that counts as near */
} near_miss;

/* Begins a search for what was meant by `typed`, `length` bytes. */
void near_miss_begin(near_miss *near, const char *typed, size_t length);
/* Offers a name that exists; of equally near ones the first counts. Case does not. */
void near_miss_try(near_miss *near, const char *name, size_t length);

/* "; did you mean 'convert'?", or nothing. Returns `out`. */
const char *near_miss_hint(const near_miss *near, char out[NEAR_MISS_LENGTH + 32]);

#endif
