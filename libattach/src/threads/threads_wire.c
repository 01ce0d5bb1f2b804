/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/threads_wire_impl.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static void advance(attach__bytes *rest, size_t n)
{
    rest->p += n;
    rest->n -= n;
    rest->at += n;
}

bool attach__pb_varint(attach__bytes *rest, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < rest->n && i < 10; i++) {
        uint64_t bits = rest->p[i] & 0x7F;
        if (i == 9 && bits > 1)
            return false;
        value |= bits << (7 * i);
        if (rest->p[i] < 0x80) {
            advance(rest, i + 1);
            *out = value;
            return true;
        }
    }
    return false;
}

static bool take_bytes(attach__bytes *rest, uint64_t n, attach__bytes *out)
{
    if (n > rest->n)
        return false;
    *out = (attach__bytes){rest->p, (size_t)n, rest->at};
    advance(rest, (size_t)n);
    return true;
}

static bool take_value(attach__bytes *rest, unsigned wire, attach__pb_field *out)
{
    switch (wire) {
    case WIRE_VARINT:
        return attach__pb_varint(rest, &out->value);
    case WIRE_BYTES:
        out->is_bytes = true;
        return attach__pb_varint(rest, &out->value) && take_bytes(rest, out->value, &out->bytes);
    case WIRE_64:
        return take_bytes(rest, 8, &out->bytes);
    case WIRE_32:
        return take_bytes(rest, 4, &out->bytes);
    default:
        return false;
    }
}

int attach__pb_next(attach__bytes *rest, attach__pb_field *out)
{
    uint64_t key = 0;
    while (rest->n > 0) {
        *out = (attach__pb_field){0};
        if (!attach__pb_varint(rest, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX ||
            !take_value(rest, key & 7, out))
            return -1;
        out->number = (uint32_t)(key >> 3);
        if ((key & 7) == WIRE_VARINT || out->is_bytes)
            return 1;
    }
    return 0;
}

size_t attach__pb_count(attach__bytes column)
{
    size_t n = 0;
    for (size_t i = 0; i < column.n; i++)
        n += column.p[i] < 0x80;
    return n;
}

size_t attach__pb_put_varint(uint8_t *p, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        p[n++] = (uint8_t)(value | 0x80);
    p[n++] = (uint8_t)value;
    return n;
}

size_t attach__pb_put_bytes(uint8_t *p, uint32_t number, const uint8_t *bytes, size_t n)
{
    size_t at = attach__pb_put_varint(p, (uint64_t)number << 3 | WIRE_BYTES);
    at += attach__pb_put_varint(p + at, n);
    if (n > 0)
        memcpy(p + at, bytes, n);
    return at + n;
}
