/* SPDX-License-Identifier: Apache-2.0 */
/* load/tallies.h: the results of a run's calls. */
#ifndef LOAD_TALLIES_H
#define LOAD_TALLIES_H

#include "node.h"

#include <stdio.h>

enum { CODES = 32 };

/* The durations of the calls of one kind, in us. */
typedef struct waits {
    uint64_t *us;
    size_t count, room;
} waits;

typedef struct tallies {
    uint64_t outcomes[CALLS][ANSWERS];
    struct {
        char code[64];
        uint64_t count;
    } codes[CODES]; /* of calls that were rejected or must be retried */
    size_t code_count;
    waits waits[CALLS];
    uint64_t sent_bytes; /* of batches */
    uint64_t late_ms;    /* the longest time from a batch's due time to its acknowledgement */
    uint64_t wall_ms;
} tallies;

/* Counts a call with or without an answer. Returns 0, or -1 (no memory). */
int tallies_add(tallies *t, call made, const answer *a, uint64_t took_us);

/* Prints one line of JSON. */
void tallies_print(tallies *t, FILE *out);
void tallies_clear(tallies *t);

#endif
