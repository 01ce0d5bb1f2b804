/* SPDX-License-Identifier: Apache-2.0 */
#include "read/cursor_impl.h"

#include "pools/frames_impl.h"

/* Below this number, integers are skipped one by one. */
enum { LEAST_SKIP = 8 };

uint64_t jfr__varint_slow(jfr__cursor *c)
{
    const uint8_t *p = c->pos;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 56; shift += 7) {
        if (c->failed || p >= c->end)
            goto fail;
        uint8_t byte = *p++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            c->pos = p;
            return value;
        }
    }
    if (p >= c->end)
        goto fail;
    c->pos = p + 1;
    return value | (uint64_t)*p << 56;
fail:
    c->failed = true;
    c->end = c->pos;
    return 0;
}

static bool require(jfr__cursor *c, uint64_t count)
{
    if (!c->failed && count <= jfr__cursor_left(c))
        return true;
    c->failed = true;
    c->end = c->pos;
    return false;
}

uint64_t jfr__read_be(jfr__cursor *c, size_t width)
{
    if (!require(c, width))
        return 0;
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | c->pos[i];
    c->pos += width;
    return value;
}

uint8_t jfr__read_u8(jfr__cursor *c)
{
    if (!require(c, 1))
        return 0;
    return *c->pos++;
}

void jfr__skip_bytes(jfr__cursor *c, uint64_t count)
{
    if (require(c, count))
        c->pos += count;
}

void jfr__skip_varints(jfr__cursor *c, uint64_t count)
{
    /* Each element takes at least one byte, so this bounds the loop by the file's size, whatever
     * its count says. */
    if (!require(c, count))
        return;
    while (count > 0 && !c->failed) {
        if (count >= LEAST_SKIP && jfr__cursor_left(c) >= JFR__READ_AHEAD)
            c->pos = jfr__skip_loop_best()(c->pos, c->end - JFR__READ_AHEAD, &count);
        if (count == 0)
            return;
        (void)jfr__varint(c);
        count--;
    }
}

uint32_t jfr__read_count(jfr__cursor *c)
{
    uint64_t value = c->compressed ? jfr__varint(c) : jfr__read_be(c, 4);
    if (value <= INT32_MAX)
        return (uint32_t)value;
    c->failed = true;
    c->end = c->pos;
    return 0;
}
