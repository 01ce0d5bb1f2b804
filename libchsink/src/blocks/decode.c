/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes column data of the Native format into plain arrays. */
#include <inttypes.h>
#include <string.h>

#include "blocks/column_impl.h"
#include "blocks/result_impl.h"

/* Makes room for extra more bytes in one of the column's buffers, counted against the block's
 * limit. */
static int make_room(chs__input *input, chs_result *result, const chs__values *column,
                     chs__buffer *buffer, uint64_t extra)
{
    int rc;

    if (extra > result->max_bytes - result->bytes)
        return CHS__INPUT_FAIL(input, CHS_ERR_LIMIT,
                               "Column %s takes the block past the limit of %" PRIu64
                               " bytes of decoded memory",
                               column->name, result->max_bytes);
    result->bytes += extra;
    rc = chs__buffer_reserve(buffer, (size_t)extra);
    return rc ? CHS__INPUT_FAIL(input, CHS_ERR_NO_MEMORY, "No memory for column %s", column->name)
              : 0;
}

static uint64_t read_le(const unsigned char *at, size_t width)
{
    uint64_t value = 0;
    size_t i;

    for (i = 0; i < width; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static double read_float(const unsigned char *at, size_t width)
{
    double value;
    float narrow;

    if (width == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&value, at, sizeof value);
    return value;
}

/* Widens count items at the cursor and appends them to values, which has room for them. */
static void widen(const chs__input *input, chs__values *column, size_t count)
{
    unsigned char *out = column->values.data + column->values.length;
    size_t width = column->type.width, i;

    for (i = 0; i < count; i++) {
        const unsigned char *at = input->at + i * width;

        if (column->type.family == CHS__FLOATS) {
            double value = read_float(at, width);

            memcpy(out + i * 8, &value, 8);
        } else {
            uint64_t value = read_le(at, width);
            unsigned shift = (64 - 8 * (unsigned)width) % 64;

            if (column->type.family == CHS__INTS)
                value = (uint64_t)((int64_t)(value << shift) >> shift);
            memcpy(out + i * 8, &value, 8);
        }
    }
    column->values.length += count * 8;
}

static int decode_numbers(chs__input *input, chs_result *result, chs__values *column)
{
    uint64_t left = column->count;

    while (left) {
        size_t ready;
        int rc = chs__input_items(input, column->type.width, left, &ready);

        if (!rc)
            rc = make_room(input, result, column, &column->values, (uint64_t)ready * 8);
        if (rc)
            return rc;
        widen(input, column, ready);
        chs__input_skip(input, ready * column->type.width);
        left -= ready;
    }
    return 0;
}

/* Appends length bytes to the column's text as they arrive. */
static int take_text(chs__input *input, chs_result *result, chs__values *column, uint64_t length)
{
    while (length) {
        size_t ready;
        int rc = chs__input_items(input, 1, length, &ready);

        if (!rc)
            rc = make_room(input, result, column, &column->text, ready);
        if (rc)
            return rc;
        memcpy(column->text.data + column->text.length, input->at, ready);
        column->text.length += ready;
        chs__input_skip(input, ready);
        length -= ready;
    }
    return 0;
}

/* Adds an entry to values or keys. Its data pointer is set when the text no longer grows. */
static int add_entry(chs__input *input, chs_result *result, chs__values *column, chs__buffer *to,
                     uint64_t length)
{
    chs_bytes entry = {NULL, (size_t)length};
    int rc = make_room(input, result, column, to, sizeof entry);

    if (rc)
        return rc;
    memcpy(to->data + to->length, &entry, sizeof entry);
    to->length += sizeof entry;
    return 0;
}

/*
 * Decodes count strings into entries: of a fixed width, or each after its length when width is 0.
 */
static int decode_strings(chs__input *input, chs_result *result, chs__values *column,
                          chs__buffer *entries, uint64_t count, uint64_t width)
{
    uint64_t i;

    for (i = 0; i < count; i++) {
        uint64_t length = width;
        int rc = width ? 0 : chs__input_varint(input, &length);

        if (!rc)
            rc = take_text(input, result, column, length);
        if (!rc)
            rc = add_entry(input, result, column, entries, length);
        if (rc)
            return rc;
    }
    return 0;
}

/* Points the entries to successive parts of the text. */
static void point_into_text(chs__buffer *entries, const chs__buffer *text)
{
    chs_bytes *entry = (chs_bytes *)(void *)entries->data;
    size_t count = entries->length / sizeof *entry, offset = 0, i;

    for (i = 0; i < count; i++) {
        entry[i].data = entry[i].length ? (const char *)text->data + offset : "";
        offset += entry[i].length;
    }
}

/* Decodes one segment's indexes. For now each value stores its key's number among all keys as its
 * length. */
static int decode_indexes(chs__input *input, chs_result *result, chs__values *column, size_t width,
                          uint64_t count, uint64_t first_key)
{
    uint64_t keys = column->keys.length / sizeof(chs_bytes) - first_key;

    while (count) {
        size_t ready, i;
        int rc = chs__input_items(input, width, count, &ready);

        for (i = 0; i < ready && !rc; i++) {
            uint64_t index = read_le(input->at, width);

            if (index >= keys)
                return CHS__INPUT_FAIL(input, CHS_ERR_FORMAT,
                                       "Column %s uses key %" PRIu64 " of a dictionary of %" PRIu64,
                                       column->name, index, keys);
            chs__input_skip(input, width);
            rc = add_entry(input, result, column, &column->values, first_key + index);
        }
        if (rc)
            return rc;
        count -= ready;
    }
    return 0;
}

/* Decodes flags, keys and indexes of one segment; *left values are still to come. */
static int decode_segment(chs__input *input, chs_result *result, chs__values *column,
                          uint64_t *left)
{
    uint64_t flags, keys, count, first_key = column->keys.length / sizeof(chs_bytes);
    int rc = chs__input_le64(input, &flags);

    if (rc)
        return rc;
    if ((flags & 0xff) > 3 || (flags & CHS__DICTIONARY_GLOBAL) ||
        !(flags & CHS__DICTIONARY_HAS_KEYS) || flags >> 11)
        return CHS__INPUT_FAIL(input, CHS_ERR_FORMAT,
                               "Column %s has a dictionary of an unknown form (flags 0x%" PRIx64
                               ")",
                               column->name, flags);
    rc = chs__input_le64(input, &keys);
    if (!rc)
        rc = decode_strings(input, result, column, &column->keys, keys, 0);
    if (!rc)
        rc = chs__input_le64(input, &count);
    if (rc)
        return rc;
    if (!count || count > *left)
        return CHS__INPUT_FAIL(input, CHS_ERR_FORMAT,
                               "Column %s has %" PRIu64 " dictionary indexes where %" PRIu64
                               " values are left",
                               column->name, count, *left);
    *left -= count;
    return decode_indexes(input, result, column, (size_t)1 << (flags & 0xff), count, first_key);
}

static int decode_dictionary(chs__input *input, chs_result *result, chs__values *column)
{
    chs_bytes *value;
    const chs_bytes *key;
    uint64_t left = column->count, i;

    while (left) {
        int rc = decode_segment(input, result, column, &left);

        if (rc)
            return rc;
    }
    point_into_text(&column->keys, &column->text);
    value = (chs_bytes *)(void *)column->values.data;
    key = (const chs_bytes *)(const void *)column->keys.data;
    for (i = 0; i < column->count; i++)
        value[i] = key[value[i].length];
    return 0;
}

/* Decodes array ends, which only grow; the last is the number of values. */
static int decode_ends(chs__input *input, chs_result *result, chs__values *column)
{
    uint64_t row, last = 0;

    for (row = 0; row < result->rows; row++) {
        uint64_t end;
        int rc = chs__input_le64(input, &end);

        if (!rc)
            rc = make_room(input, result, column, &column->ends, sizeof end);
        if (rc)
            return rc;
        if (end < last)
            return CHS__INPUT_FAIL(input, CHS_ERR_FORMAT,
                                   "Column %s has an array that ends before it starts",
                                   column->name);
        last = end;
        memcpy(column->ends.data + column->ends.length, &end, sizeof end);
        column->ends.length += sizeof end;
    }
    column->count = last;
    return 0;
}

static int check_dictionary_version(chs__input *input, const chs__values *column)
{
    uint64_t version;
    int rc = chs__input_le64(input, &version);

    if (!rc && version != CHS__DICTIONARY_VERSION)
        return CHS__INPUT_FAIL(input, CHS_ERR_FORMAT,
                               "Column %s has a dictionary of unknown version %" PRIu64,
                               column->name, version);
    return rc;
}

int chs__decode_column(chs__input *input, chs_result *result, chs__values *column)
{
    const chs__type *type = &column->type;
    int rc = 0;

    column->count = result->rows;
    if (type->layout == CHS__DICTIONARY)
        rc = check_dictionary_version(input, column);
    if (!rc && type->is_array)
        rc = decode_ends(input, result, column);
    if (rc)
        return rc;
    if (type->layout == CHS__DICTIONARY)
        return decode_dictionary(input, result, column);
    if (type->family != CHS__STRINGS)
        return decode_numbers(input, result, column);
    rc = decode_strings(input, result, column, &column->values, column->count, type->width);
    if (!rc)
        point_into_text(&column->values, &column->text);
    return rc;
}
