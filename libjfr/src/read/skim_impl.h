/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_SKIM_H
#define JFR_SRC_SKIM_H

#include "read/reader_impl.h"

/* A walk over a chunk's events that only stops at events of a few types. */
typedef struct jfr__skim {
    bool *wanted;  /* by type: whether the walk stops at its next event; in the arena */
    uint32_t near; /* `wanted` has entries for types below it; the walk stops at all events of other
                      types */
    const uint8_t
        *middle; /* an event near the middle of the chunk, if the events before it end there */
    const uint8_t *far; /* no event between `middle` and here is wanted */
} jfr__skim;

/* Begins with no wanted type. Returns 0, JFR_ERR_LIMIT or JFR_ERR_NOMEM. */
int jfr__skim_begin(jfr__skim *s, jfr_chunk *chunk, jfr_error *err);

/* Sets whether a type is wanted. After the first skipped event no further type may become wanted,
 * because its earlier events were skipped. */
static inline void jfr__skim_want(jfr__skim *s, uint64_t type, bool wanted)
{
    if (type < s->near)
        s->wanted[type] = wanted;
}

/* Skips events of types that are not wanted, as long as their heads have a common form. */
void jfr__skim_over(jfr__skim *s, jfr__cursor *c);

#endif
