/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, each stored once, with a number per distinct string; number 0 is the empty one. */
#ifndef STACKAGG_NAMES_H
#define STACKAGG_NAMES_H

#include "aggregate/index_impl.h"

typedef struct sagg__name {
    uint32_t start;
    uint32_t size;
} sagg__name;

typedef struct sagg__names {
    sagg__array bytes; /* char */
    uint32_t size;     /* bytes used */
    sagg__array names; /* sagg__name */
    uint32_t count;
    sagg__index index;
} sagg__names;

int sagg__names_init(sagg__mem *mem, sagg__names *names);
void sagg__names_free(sagg__mem *mem, sagg__names *names);

/* Returns 0 and the number of the string, SAGG_ERR_LIMIT or SAGG_ERR_NOMEM. */
int sagg__name_add(sagg__mem *mem, sagg__names *names, sagg_str text, uint32_t *number);

/* Returns the string, valid until the next sagg__name_add. Its data is never NULL. */
sagg_str sagg__name_get(const sagg__names *names, uint32_t number);
bool sagg__name_is(const sagg__names *names, uint32_t number, sagg_str text);

/* Drops the strings that are not marked in `keep` (a byte each; number 0 stays) and moves the
 * others together. `moved` receives the new number of each that stays. */
void sagg__names_compact(sagg__names *names, const uint8_t *keep, uint32_t *moved);

#endif
