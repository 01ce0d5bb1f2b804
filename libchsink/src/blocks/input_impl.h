/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's cursor. Every byte of an answer is read, counted and checked through it. */
#ifndef CHSINK_SRC_INPUT_H
#define CHSINK_SRC_INPUT_H

#include <chsink/reader.h>

#include "blocks/buffer_impl.h"

enum { CHS__INPUT_WINDOW = 64 * 1024 };

typedef struct chs__input {
    const unsigned char *at; /* unread bytes of the window */
    const unsigned char *end;
    chs_read_fn read; /* NULL: the window has all bytes */
    void *context;
    unsigned char *window; /* owned, with read */
    uint64_t offset;       /* of at in the stream */
    uint64_t max_bytes;    /* of the stream */
    chs_error *err;        /* receives failures of the current call; may be NULL */
} chs__input;

/*
 * All functions below return 0 or a negative code with input->err filled: CHS_ERR_FORMAT when the
 * stream ends too early, CHS_ERR_LIMIT past max_bytes, or the source's own.
 */

/* Makes at least one byte available; *more is false at the stream's end. */
int chs__input_more(chs__input *input, bool *more);

int chs__input_varint(chs__input *input, uint64_t *value);
int chs__input_le64(chs__input *input, uint64_t *value);

/* Copies length bytes. */
int chs__input_bytes(chs__input *input, void *out, size_t length);

/* Makes 1..count whole items of width bytes (1..16) available at input->at and sets *ready to their
 * number. The caller then moves on with chs__input_skip. */
int chs__input_items(chs__input *input, size_t width, uint64_t count, size_t *ready);

static inline void chs__input_skip(chs__input *input, size_t length)
{
    input->at += length;
    input->offset += length;
}

static inline size_t chs__input_ready(const chs__input *input)
{
    return (size_t)(input->end - input->at);
}

/* Does CHS__FAIL and adds the current offset in the stream. code is evaluated twice. */
#define CHS__INPUT_FAIL(input, code, ...)                                                          \
    (chs__describe((input)->err, (code), __VA_ARGS__), chs__input_mark(input), (code))
void chs__input_mark(const chs__input *input);

#endif
