/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

/* The bits of 0.1f, -2.5, 0.5f and 0.25. */
#define FLOAT_TENTH   0x3DCCCCCDu
#define DOUBLE_NEG    UINT64_C(0xC004000000000000)
#define FLOAT_HALF    0x3F000000u
#define DOUBLE_FOURTH UINT64_C(0x3FD0000000000000)

static void put_short(writer *w, uint64_t value)
{
    if (w->plain)
        put_be(w, value & 0xFFFF, 2);
    else
        put_varint(w, value);
}

void put_anything(writer *w, uint64_t time, uint64_t duration)
{
    size_t event = begin_event(w, T_ANYTHING);
    put_long(w, time);
    put_long(w, duration);
    put_u8(w, 1);
    put_u8(w, 0xFE);
    put_short(w, 'x');
    put_long(w, 1000);
    put_be(w, FLOAT_TENTH, 4);
    put_be(w, DOUBLE_NEG, 8);
    put_text(w, "hi");
    put_text(w, NULL);
    put_u8(w, 2); /* in the pool */
    put_long(w, 40);
    put_long(w, 1);
    put_long(w, 70);
    put_long(w, 7);
    put_long(w, 3);
    put_int(w, 3);
    for (uint64_t i = 1; i <= 3; i++)
        put_int(w, i);
    put_int(w, 2);
    put_text(w, "a");
    put_text(w, "b");
    put_int(w, 5);
    end_event(w, event);
}

static void put_weird(writer *w)
{
    put_long(w, 3);
    put_short(w, 'c');
    put_short(w, w->plain ? 0xFFFF : (uint64_t)-1);
    put_be(w, FLOAT_HALF, 4);
    put_be(w, DOUBLE_FOURTH, 8);
    put_long(w, 1); /* inner: class, name, descriptor, hidden */
    put_long(w, 2);
    put_long(w, 3);
    put_u8(w, 1);
    put_int(w, 2);
    put_text(w, "x");
    put_text(w, NULL);
    put_int(w, 2);
    put_u8(w, 9);
    put_u8(w, 8);
    put_int(w, 1);
    put_long(w, 1); /* frame: method, line, bytecode index, type */
    put_int(w, 11);
    put_int(w, 0);
    put_long(w, 1);
}

void put_anything_pool(writer *w)
{
    size_t checkpoint = begin_checkpoint(w);
    begin_pool(w, T_WEIRD, 1);
    put_weird(w);
    begin_pool(w, T_STRING, 2);
    put_long(w, 40);
    put_text(w, "pooled");
    put_long(w, 41);
    put_u8(w, 5); /* Latin-1 */
    put_int(w, 1);
    put_u8(w, 0xE4);
    end_checkpoint(w, checkpoint);
}
