#include "cursor.h"

#include "pattern.h"

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

/* Compilers call a function for this where the CPU may not have the instruction. */
static unsigned count_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

void jfr__skip_varints(jfr__cursor *c, uint64_t count)
{
    /* Each takes a byte at least: a count from the file cannot make this loop longer than it. */
    if (!require(c, count))
        return;
    while (count > 0 && !c->failed) {
        if (jfr__cursor_left(c) >= 64) {
            uint64_t continuing = jfr__continuing(c->pos);
            uint64_t ends = ~continuing;
            unsigned whole = count_bits(ends);
            if (whole > 0 && !jfr__has_nine(continuing)) {
                for (; whole > count; whole--) /* the last ones are of what follows */
                    ends &= ~(UINT64_C(1) << (63 - __builtin_clzll(ends)));
                c->pos += 64 - __builtin_clzll(ends);
                count -= whole;
                continue;
            }
        }
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
