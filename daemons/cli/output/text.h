/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer for standard output that is written in large pieces, and functions that add values to
 * it. */
#ifndef HOTSTACK_CLI_TEXT_H
#define HOTSTACK_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct text {
    char *data;
    size_t len;
    size_t cap;
    int fd;    /* the file that text_flush writes */
    int error; /* errno of the first failure, of memory or a write; all later text is dropped */
} text;

/* The buffer is written when it is this long. */
enum { TEXT_PIECE = 1 << 18 };

/* Makes room for `more` bytes. Returns false, with `error` set, without memory. */
bool text_reserve(text *t, size_t more);
/* Writes the buffer. */
void text_flush(text *t);
void text_free(text *t);

static inline void text_bytes(text *t, const void *bytes, size_t len)
{
    if (t->cap - t->len < len && !text_reserve(t, len))
        return;
    memcpy(t->data + t->len, bytes, len);
    t->len += len;
}

static inline void text_char(text *t, char c)
{
    text_bytes(t, &c, 1);
}

static inline void text_string(text *t, const char *s)
{
    text_bytes(t, s, strlen(s));
}

void text_spaces(text *t, size_t count);
void text_i64(text *t, int64_t value);
void text_u64(text *t, uint64_t value);
__attribute__((format(printf, 2, 3))) void text_printf(text *t, const char *format, ...);

/* Write a number like Java's Float.toString and Double.toString: the fewest digits that read back
 * as the same number. */
void text_float(text *t, float value);
void text_double(text *t, double value);

/* Writes ISO 8601 like Java's OffsetDateTime.toString: "2026-11-21T11:55:29.673703580Z". */
void text_time(text *t, int64_t seconds, uint32_t nanos, int32_t utc_offset_s);
/* Writes ISO 8601 like Java's Duration.toString: "PT1M0.5S". `nanos` is added to `seconds`, also
 * below 0. */
void text_duration(text *t, int64_t seconds, uint32_t nanos);

/* The ways to escape strings for JSON. */
typedef enum json_style {
    JSON_UTF8,  /* escapes only what JSON requires */
    JSON_ASCII, /* as the JDK's jfr tool: also '/', and all but ASCII as UTF-16 */
} json_style;
/* Writes a JSON string with its quotes. `s` is valid UTF-8. */
void text_json(text *t, const char *s, size_t len, json_style style);

#endif
