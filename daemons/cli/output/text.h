/* SPDX-License-Identifier: Apache-2.0 */
/* Text for standard output: a buffer that is written in large pieces, and how values look in it. */
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
    int fd;    /* where text_flush writes */
    int error; /* errno of what failed first: memory or a write; then everything is dropped */
} text;

/* What is written once it is this long. */
enum { TEXT_PIECE = 1 << 18 };

/* Makes room for `more` bytes. Returns false, with `error` set, without memory. */
bool text_reserve(text *t, size_t more);
/* Writes what is there. */
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

/* As Java's Float.toString and Double.toString: the shortest digits that read back the same. */
void text_float(text *t, float value);
void text_double(text *t, double value);

/* ISO 8601 as Java's OffsetDateTime.toString: "2026-11-21T11:55:29.673703580Z". */
void text_time(text *t, int64_t seconds, uint32_t nanos, int32_t utc_offset_s);
/* ISO 8601 as Java's Duration.toString: "PT1M0.5S". `nanos` counts up from `seconds`, also below 0.
 */
void text_duration(text *t, int64_t seconds, uint32_t nanos);

/* How strings are escaped for JSON. */
typedef enum json_style {
    JSON_UTF8,  /* what must be escaped, no more */
    JSON_ASCII, /* as the JDK's jfr tool: also '/', and what is not ASCII as UTF-16 */
} json_style;
/* A JSON string, with its quotes. `s` is valid UTF-8. */
void text_json(text *t, const char *s, size_t len, json_style style);

#endif
