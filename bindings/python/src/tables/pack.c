/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the codes of text columns while they are still in the cache. */
#include "arrow.h"

enum { PIECE = 1024 };

/* Returns the width of codes in pandas, which leaves the highest number of each width unused. */
static size_t width_for(uint32_t words)
{
    return words < INT8_MAX ? 1 : words < INT16_MAX ? 2 : 4;
}

static void mark_nulls(int32_t *codes, const column *c, int64_t from, size_t count)
{
    for (size_t i = 0; c->nulls > 0 && i < count; i++) {
        int64_t row = from + (int64_t)i;
        unsigned char eight = c->validity.data[row / 8];
        if (eight == 0xFF && row % 8 == 0)
            i += 7;
        else if ((eight >> (row % 8) & 1) == 0)
            codes[i] = -1;
    }
}

/* Writes the first `count` of `codes`, which has PIECE numbers, with `width` bytes each. */
static void narrow(const int32_t *codes, unsigned char *to, size_t width, size_t count)
{
    int8_t small[PIECE];
    int16_t medium[PIECE];
    if (width == sizeof(*small)) {
        for (size_t i = 0; i < PIECE; i++)
            small[i] = (int8_t)codes[i];
        memcpy(to, small, count * width);
    } else if (width == sizeof(*medium)) {
        for (size_t i = 0; i < PIECE; i++)
            medium[i] = (int16_t)codes[i];
        memcpy(to, medium, count * width);
    } else {
        memcpy(to, codes, count * width);
    }
}

static int32_t packed_at(const column *c, int64_t row)
{
    const unsigned char *at = c->packed.data + (size_t)row * c->width;
    int16_t medium;
    if (c->width == 1)
        return (int8_t)*at;
    memcpy(&medium, at, sizeof(medium));
    return medium;
}

/* Widens the codes from the last to the first, so that none is overwritten before it is read. */
static bool widen(column *c, size_t width)
{
    size_t rows = (size_t)c->packed_rows;
    if (!bytes_reserve(&c->packed, rows * (width - c->width)))
        return false;
    for (int64_t row = c->packed_rows - 1; row >= 0; row--) {
        int32_t code = packed_at(c, row);
        int16_t medium = (int16_t)code;
        memcpy(c->packed.data + (size_t)row * width,
               width == sizeof(code) ? (const void *)&code : (const void *)&medium, width);
    }
    c->width = width;
    c->packed.size = rows * width;
    return true;
}

bool column_pack(column *c)
{
    int32_t piece[PIECE] = {0};
    size_t width = width_for(c->words);
    size_t rows = (size_t)(c->rows - c->packed_rows);
    if (c->width != width && !widen(c, width))
        return false;
    if (!bytes_reserve(&c->packed, rows * width))
        return false;
    for (size_t at = 0; at < rows; at += PIECE) {
        size_t count = rows - at < PIECE ? rows - at : PIECE;
        memcpy(piece, c->values.data + at * sizeof(*piece), count * sizeof(*piece));
        mark_nulls(piece, c, c->packed_rows + (int64_t)at, count);
        narrow(piece, c->packed.data + c->packed.size, width, count);
        c->packed.size += count * width;
    }
    c->packed_rows = c->rows;
    c->values.size = 0;
    return true;
}
