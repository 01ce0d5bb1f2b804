/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_SKIM_H
#define JFR_SRC_SKIM_H

#include "read/reader_impl.h"

/* A walk over a chunk's events that looks at those of a few types. */
typedef struct jfr__skim {
    bool *wanted;          /* by type: whether its next event must be looked at; in the arena */
    uint32_t near;         /* types below it have a place there; of others all are looked at */
    const uint8_t *middle; /* an event that halves the chunk, if events before it end there */
    const uint8_t *far;    /* no event from there to here is wanted */
} jfr__skim;

/* Begins with no type that is wanted. Returns 0, JFR_ERR_LIMIT or JFR_ERR_NOMEM. */
int jfr__skim_begin(jfr__skim *s, jfr_chunk *chunk, jfr_error *err);

/* Once an event was read over, no type begins to be wanted: others were looked at by then. */
static inline void jfr__skim_want(jfr__skim *s, uint64_t type, bool wanted)
{
    if (type < s->near)
        s->wanted[type] = wanted;
}

/* Reads over events of types that are not wanted, as far as their heads are plain. */
void jfr__skim_over(jfr__skim *s, jfr__cursor *c);

#endif
