/* SPDX-License-Identifier: Apache-2.0 */
/* Writes bytes and integers. This is a file of its own, because an analyser that follows each of
 * the many calls in writer.c takes minutes. */
#include "writer.h"

#include <stdlib.h>
#include <string.h>

void put_bytes(writer *w, const void *bytes, size_t len)
{
    if (w->len + len > w->cap) {
        w->cap = (w->len + len) * 2;
        w->data = realloc(w->data, w->cap);
        if (w->data == NULL)
            abort();
    }
    if (len > 0)
        memcpy(w->data + w->len, bytes, len);
    w->len += len;
}

void writer_free(writer *w)
{
    free(w->data);
    *w = (writer){.data = NULL};
}

void put_u8(writer *w, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    put_bytes(w, &byte, 1);
}

void store_be(uint8_t *out, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        out[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
}

void put_be(writer *w, uint64_t value, unsigned width)
{
    uint8_t bytes[8];
    store_be(bytes, value, width);
    put_bytes(w, bytes, width);
}

void put_varint(writer *w, uint64_t value)
{
    for (int i = 0; i < 8 && value >= 0x80; i++) {
        put_u8(w, (unsigned)(value & 0x7F) | 0x80);
        value >>= 7;
    }
    put_u8(w, (unsigned)value);
}

void store_padded(uint8_t *out, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, value >>= 7)
        out[i] = (uint8_t)((value & 0x7F) | (i + 1 < width ? 0x80 : 0));
}

void put_padded(writer *w, uint64_t value, unsigned width)
{
    uint8_t bytes[9];
    store_padded(bytes, value, width);
    put_bytes(w, bytes, width);
}

void put_long(writer *w, uint64_t value)
{
    if (w->plain)
        put_be(w, value, 8);
    else
        put_varint(w, value);
}

void put_int(writer *w, uint64_t value)
{
    if (w->plain)
        put_be(w, value, 4);
    else
        put_varint(w, value);
}

void put_text(writer *w, const char *text)
{
    put_u8(w, text == NULL ? 0 : 3);
    if (text == NULL)
        return;
    put_int(w, strlen(text));
    put_bytes(w, text, strlen(text));
}
