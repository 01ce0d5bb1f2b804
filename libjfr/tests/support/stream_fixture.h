/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_TESTS_STREAM_FIXTURE_H
#define JFR_TESTS_STREAM_FIXTURE_H

/* What the tests of streams share: what fixture.h has written comes in pieces, or as a file. */
#include "fixture.h"

/* What a chunk's header says of it begins here; the writer of the tests leaves it till the end. */
enum { HEADER_SIZE = 68, SIZE_AT = 8 };

extern jfr_stream *stream;
extern int fd; /* of make_file; -1 before */

void stream_setup(void);
void stream_teardown(void);

void begin_stream(uint64_t offset);
void begin_following(void);
void feed(size_t from, size_t to);
void make_file(void);
/* The file then holds the first `len` written bytes. */
void write_file(size_t len);
jfr_loss stream_loss(void);
void expect_nothing(void);
/* The next chunk is there, lies at `offset` and holds the sample of write_simple_chunk. */
void expect_chunk(uint64_t offset);
/* Three chunks with their own type ids and clocks; returns where the second and third begin. */
void write_three(size_t starts[3]);

#endif
