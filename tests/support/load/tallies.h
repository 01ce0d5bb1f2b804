/* SPDX-License-Identifier: Apache-2.0 */
/* load/tallies.h: what the calls of a run came to. */
#ifndef LOAD_TALLIES_H
#define LOAD_TALLIES_H

#include "node.h"

#include <stdio.h>

enum { CODES = 32 };

/* How long the calls of one kind took, in us. */
typedef struct waits {
    uint64_t *us;
    size_t count, room;
} waits;

typedef struct tallies {
    uint64_t outcomes[CALLS][ANSWERS];
    struct {
        char code[64];
        uint64_t count;
    } codes[CODES]; /* of calls that were rejected or put off */
    size_t code_count;
    waits waits[CALLS];
    uint64_t sent_bytes; /* of batches */
    uint64_t late_ms;    /* the longest time between a batch's due time and its acknowledgement */
    uint64_t wall_ms;
} tallies;

/* Counts an answered, or unanswered, call. 0, or -1 (no memory). */
int tallies_add(tallies *t, call made, const answer *a, uint64_t took_us);

/* Prints one line of JSON. */
void tallies_print(tallies *t, FILE *out);
void tallies_clear(tallies *t);

#endif
