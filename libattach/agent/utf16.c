/* SPDX-License-Identifier: Apache-2.0 */
#include "utf16.h"

#include <stdbool.h>

static bool is_high(uint32_t unit)
{
    return unit >= 0xD800 && unit < 0xDC00;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xDC00 && unit < 0xE000;
}

static size_t put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

size_t text_utf8(char *out, const uint16_t *units, size_t n)
{
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = units[i];
        if (is_high(c) && i + 1 < n && is_low(units[i + 1]))
            c = 0x10000 + ((c - 0xD800) << 10) + (units[++i] - 0xDC00u);
        else if (is_high(c) || is_low(c) || c == 0)
            c = 0xFFFD;
        written += put(out + written, c);
    }
    return written;
}
