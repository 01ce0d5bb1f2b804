/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_TESTS_FIXTURE_H
#define JFR_TESTS_FIXTURE_H

/* Helpers for the tests of the public API: one recording is written, then opened and read. */
#include "run_suite.h"
#include "writer.h"

#include <jfr/jfr.h>

extern writer w;            /* the recording */
extern chunk_params params; /* CHUNK_PARAMS_INIT at first */
extern jfr_options options; /* JFR_OPTIONS_INIT at first */
extern jfr_file *file;      /* NULL until open_written */
extern jfr_chunk *chunk;    /* the last chunk of next_chunk */
extern jfr_error err;

void fixture_setup(void);
void fixture_teardown(void);

/* Opens the written recording with `options`; must succeed. */
void open_written(void);
/* Moves to the next chunk, which must exist. */
void next_chunk(void);
/* Calls open_written and next_chunk. */
void open_first_chunk(void);
/* Returns the next sample, which must exist. */
jfr_sample next_sample(void);
/* Checks that the chunk has no further sample. */
void expect_no_sample(void);
/* Checks that the file has no further chunk. */
void expect_end(void);
jfr_chunk_stats stats(void);
jfr_loss loss(void);

/* Opens the written recording with increasing max_decoded_bytes until the first chunk opens. `step`
 * must then fail with JFR_ERR_LIMIT first, and succeed in the end. */
void expect_decoded_limit(int (*step)(void));

/* The state of take_turn, a jfr__next_part that returns every `step`th part. */
typedef struct parts_turn {
    uint32_t next;
    uint32_t step;
} parts_turn;
uint32_t take_turn(void *ctx);

/* Returns an allocator that uses malloc for blocks smaller than *most; `most` is borrowed. */
jfr_allocator small_blocks(size_t *most);

/* Unpacks a recording (gzip); free it. The allocation has exactly its size. */
void *unpack_file(const char *path, size_t *len);

/* Writes a whole chunk with the standard pools and one execution sample (interval 10 ms). */
void write_simple_chunk(void);

#define assert_str(str, text)                                                                      \
    do {                                                                                           \
        jfr_str str_ = (str);                                                                      \
        ck_assert_msg(str_.len == strlen(text) && memcmp(str_.data, text, str_.len) == 0,          \
                      "\"%.*s\" is not \"%s\"", (int)str_.len, str_.data, text);                   \
    } while (0)

#endif
