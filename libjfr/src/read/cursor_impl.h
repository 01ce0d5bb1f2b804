/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_CURSOR_H
#define JFR_SRC_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * All code reads the bytes of a recording through a cursor. A read beyond `end` sets `failed`,
 * returns 0 and does not move the position. Every later read fails too, so a parser can read a
 * whole record and check `failed` once.
 */
typedef struct jfr__cursor {
    const uint8_t *base; /* the recording's first byte, from which offsets count */
    const uint8_t *pos;
    const uint8_t *end;
    bool compressed; /* short, int, long, char as LEB128, else fixed width big-endian */
    bool failed;
} jfr__cursor;

static inline uint64_t jfr__cursor_offset(const jfr__cursor *c)
{
    return (uint64_t)(c->pos - c->base);
}

static inline size_t jfr__cursor_left(const jfr__cursor *c)
{
    return (size_t)(c->end - c->pos);
}

/* Returns a cursor over bytes [from, to) of the recording of `c`. The caller guarantees that both
 * are in range. */
static inline jfr__cursor jfr__cursor_range(const jfr__cursor *c, uint64_t from, uint64_t to)
{
    return (jfr__cursor){c->base, c->base + from, c->base + to, c->compressed, false};
}

uint64_t jfr__varint_slow(jfr__cursor *c);

/*
 * LEB128 of up to 9 bytes: each byte has seven bits of the value, the ninth has eight (JDK
 * jdk.jfr.internal.consumer.RecordingInput.readLong). Padded forms are legal.
 */
static inline uint64_t jfr__varint(jfr__cursor *c)
{
    if (c->pos < c->end && *c->pos < 0x80)
        return *c->pos++;
    return jfr__varint_slow(c);
}

uint64_t jfr__read_be(jfr__cursor *c, size_t width);
uint8_t jfr__read_u8(jfr__cursor *c);
void jfr__skip_bytes(jfr__cursor *c, uint64_t count);
void jfr__skip_varints(jfr__cursor *c, uint64_t count);

/* Read a Java long, and an int that is a size or a count: a value above INT32_MAX fails. */
static inline uint64_t jfr__read_long(jfr__cursor *c)
{
    return c->compressed ? jfr__varint(c) : jfr__read_be(c, 8);
}

uint32_t jfr__read_count(jfr__cursor *c);

#endif
