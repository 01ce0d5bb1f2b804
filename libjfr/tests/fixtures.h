/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_TESTS_FIXTURES_H
#define JFR_TESTS_FIXTURES_H

/* What the recordings of tests/data are written with: one writer, one recording at a time. */
#include "writer.h"

/* Where fields of a chunk's header lie. */
enum {
    HEADER = 68,
    SIZE_AT = 8,
    POOL_AT = 16,
    METADATA_AT = 24,
    FREQUENCY_AT = 56,
    STATE_AT = 64,
    FLAGS_AT = 67,
};

typedef struct fixture {
    const char *name; /* of the file, without .jfr; NULL ends a table */
    void (*write)(void);
} fixture;

extern const fixture ok_fixtures[];    /* odd but right */
extern const fixture bad_fixtures[];   /* unreadable */
extern const fixture maybe_fixtures[]; /* damaged: something is left */

extern writer w;
extern chunk_params params;

/* A chunk that states a period of 10 ms; its end, with the standard pools. */
void begin(void);
void end(void);
/* Both, with one execution sample. */
void simple(void);
void patch(size_t at, const char *bytes, size_t len);

#endif
