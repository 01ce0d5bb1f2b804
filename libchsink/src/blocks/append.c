/* SPDX-License-Identifier: Apache-2.0 */
/* Appends values to columns. The block keeps the first failure, so that a caller may check once. */
#include <inttypes.h>
#include <string.h>

#include "blocks/column_impl.h"

/* Keeps the first failure of the block. */
#define KEEP(column, code, ...) CHS__FAIL(&(column)->block->failure, (code), __VA_ARGS__)

static int keep_memory(chs_column *column, int code)
{
    return KEEP(column, code, "Column %s: %s", column->name,
                code == CHS_ERR_LIMIT ? "its data passes what one block can hold"
                                      : "no memory for its data");
}

/* Checks that `rows` more rows of this family may be appended, as arrays or not. count: their
 * elements. */
static int begin_rows(chs_column *column, chs__family family, bool as_array, size_t count,
                      uint64_t rows)
{
    const chs_block *block = column->block;

    if (block->failure.code)
        return block->failure.code;
    if (column->type.is_array != as_array)
        return KEEP(column, CHS_ERR_USAGE, "Column %s of type %s takes %s", column->name,
                    column->type.text, column->type.is_array ? "arrays" : "single values");
    if (column->type.family != family && !(as_array && !count))
        return KEEP(column, CHS_ERR_USAGE, "Column %s of type %s takes %s values, not %s ones",
                    column->name, column->type.text, chs__family_name(column->type.family),
                    chs__family_name(family));
    if (rows > block->options.max_rows - column->rows)
        return KEEP(column, CHS_ERR_LIMIT,
                    "Column %s has the limit of %" PRIu64 " rows: encode and clear the block",
                    column->name, block->options.max_rows);
    return 0;
}

/* Counts bytes that an append is about to take. */
static int take_bytes(chs_column *column, uint64_t bytes)
{
    chs_block *block = column->block;

    if (bytes > block->options.max_bytes - block->bytes)
        return KEEP(column, CHS_ERR_LIMIT,
                    "Column %s would take the block past its limit of %" PRIu64
                    " bytes: encode and clear the block",
                    column->name, block->options.max_bytes);
    block->bytes += bytes;
    return 0;
}

/* Makes room for count more values of fixed width, and for the eight bytes that the last one
 * writes. */
static int make_room(chs_column *column, size_t count)
{
    size_t width = column->type.width;
    int rc;

    if (count > (SIZE_MAX - sizeof(uint64_t)) / width)
        return keep_memory(column, CHS_ERR_LIMIT);
    rc = take_bytes(column, (uint64_t)count * width);
    if (rc)
        return rc;
    rc = chs__buffer_reserve(&column->data, count * width + sizeof(uint64_t));
    return rc ? keep_memory(column, rc) : 0;
}

/* Appends values from an array, `step` elements apart: 1 for each of them, 0 to repeat the first
 * one. */
static int add_fixed(chs_column *column, const uint64_t *values, size_t count, size_t step)
{
    size_t i, width = column->type.width;
    unsigned char *to;
    int rc = make_room(column, count);

    if (rc)
        return rc;
    to = column->data.data + column->data.length;
    for (i = 0; i < count; i++, values += step, to += width) {
        uint64_t little = htole64(*values);

        memcpy(to, &little, sizeof little); /* the next value overwrites the rest */
    }
    column->data.length += count * width;
    column->values += count;
    return 0;
}

static int add_uints(chs_column *column, const uint64_t *values, size_t count, size_t step)
{
    unsigned bits = column->type.width * 8;
    uint64_t most = column->type.is_bool ? 1 : bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    size_t i;

    for (i = 0; i < count; i++)
        if (values[i * step] > most)
            return KEEP(column, CHS_ERR_FORMAT, "Column %s: %" PRIu64 " does not fit %s",
                        column->name, values[i * step], column->type.text);
    return add_fixed(column, values, count, step);
}

static bool is_enum_value(const chs__type *type, int64_t value)
{
    size_t i;

    for (i = 0; i < type->value_count; i++)
        if (type->values[i].value == value)
            return true;
    return false;
}

static int add_ints(chs_column *column, const int64_t *values, size_t count, size_t step)
{
    unsigned bits = column->type.width * 8;
    int64_t top = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    size_t i;

    for (i = 0; i < count; i++) {
        int64_t value = values[i * step];

        if (value > top || value < -top - 1 ||
            (column->type.values && !is_enum_value(&column->type, value)))
            return KEEP(column, CHS_ERR_FORMAT, "Column %s: %" PRId64 " does not fit %s",
                        column->name, value, column->type.text);
    }
    return add_fixed(column, (const uint64_t *)values, count, step);
}

static int add_float(chs_column *column, double value)
{
    uint64_t bits = 0;

    if (column->type.width == 4) {
        float narrow = (float)value;
        uint32_t narrow_bits;

        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        bits = narrow_bits;
    } else {
        memcpy(&bits, &value, sizeof value);
    }
    return add_fixed(column, &bits, 1, 1);
}

static int add_floats(chs_column *column, const double *values, size_t count, size_t step)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < count && !rc; i++)
        rc = add_float(column, values[i * step]);
    return rc;
}

static int add_enum_name(chs_column *column, const void *data, size_t length)
{
    size_t i;

    for (i = 0; i < column->type.value_count; i++) {
        const chs__enum_value *value = &column->type.values[i];

        if (value->length == length && (!length || memcmp(value->name, data, length) == 0)) {
            uint64_t bits = (uint64_t)(int64_t)value->value;

            return add_fixed(column, &bits, 1, 1);
        }
    }
    return KEEP(column, CHS_ERR_FORMAT, "Column %s: '%.*s' is not a value of %s", column->name,
                (int)(length > 64 ? 64 : length), length ? (const char *)data : "",
                column->type.text);
}

/* Gives the number of a key, which may be new. */
static int find_key(chs_column *column, const void *data, size_t length, uint32_t *key)
{
    uint32_t before = column->dictionary.count;
    int rc = chs__dictionary_number(&column->dictionary, data, length, key);

    if (rc)
        return keep_memory(column, rc);
    return before < column->dictionary.count ? take_bytes(column, (uint64_t)length + 1) : 0;
}

static int add_keys(chs_column *column, const uint32_t *keys, size_t count, size_t step)
{
    size_t i;
    uint32_t *to;
    int rc;

    for (i = 0; i < count; i++)
        if (keys[i * step] >= column->dictionary.count)
            return KEEP(column, CHS_ERR_USAGE, "Column %s has no key of number %" PRIu32,
                        column->name, keys[i * step]);
    if (count > SIZE_MAX / sizeof *keys)
        return keep_memory(column, CHS_ERR_LIMIT);
    rc = take_bytes(column, (uint64_t)count * sizeof *keys);
    if (rc)
        return rc;
    rc = chs__buffer_reserve(&column->data, count * sizeof *keys);
    if (rc)
        return keep_memory(column, rc);
    to = (uint32_t *)(void *)(column->data.data + column->data.length);
    for (i = 0; i < count; i++)
        to[i] = keys[i * step];
    column->data.length += count * sizeof *keys;
    column->values += count;
    return 0;
}

static int add_key(chs_column *column, const void *data, size_t length)
{
    uint32_t key;
    int rc = find_key(column, data, length, &key);

    return rc ? rc : add_keys(column, &key, 1, 1);
}

static int add_string(chs_column *column, const void *data, size_t length)
{
    int rc;

    if (column->type.values)
        return add_enum_name(column, data, length);
    if (column->type.layout == CHS__DICTIONARY)
        return add_key(column, data, length);
    if (column->type.layout == CHS__FIXED_WIDTH && length != column->type.width)
        return KEEP(column, CHS_ERR_FORMAT, "Column %s: %zu bytes do not fill %s exactly",
                    column->name, length, column->type.text);
    rc = take_bytes(column, (uint64_t)length + 1);
    if (rc)
        return rc;
    if (column->type.layout == CHS__FIXED_WIDTH)
        rc = chs__buffer_add(&column->data, data, length);
    else
        rc = chs__buffer_string(&column->data, data, length);
    if (rc)
        return keep_memory(column, rc);
    column->values++;
    return 0;
}

static int add_strings(chs_column *column, const chs_bytes *values, size_t count)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < count && !rc; i++)
        rc = add_string(column, values[i].data, values[i].length);
    return rc;
}

/* Returns the family of columns that accept strings, which includes names for an Enum8. */
static chs__family string_family(const chs_column *column)
{
    return column->type.values ? CHS__INTS : CHS__STRINGS;
}

static int end_rows(chs_column *column, uint64_t rows)
{
    column->rows += rows;
    return 0;
}

/* Closes a row that is an array with the end of its elements. */
static int end_array(chs_column *column)
{
    int rc = take_bytes(column, sizeof(uint64_t));

    if (rc)
        return rc;
    rc = chs__buffer_le(&column->ends, column->values, sizeof(uint64_t));
    if (rc)
        return keep_memory(column, rc);
    return end_rows(column, 1);
}

/* ---- rows ---- */

static int append_uints(chs_column *column, const uint64_t *values, size_t count, size_t step)
{
    int rc = begin_rows(column, CHS__UINTS, false, count, count);

    if (!rc)
        rc = add_uints(column, values, count, step);
    return rc ? rc : end_rows(column, count);
}

static int append_ints(chs_column *column, const int64_t *values, size_t count, size_t step)
{
    int rc = begin_rows(column, CHS__INTS, false, count, count);

    if (!rc)
        rc = add_ints(column, values, count, step);
    return rc ? rc : end_rows(column, count);
}

static int append_floats(chs_column *column, const double *values, size_t count, size_t step)
{
    int rc = begin_rows(column, CHS__FLOATS, false, count, count);

    if (!rc)
        rc = add_floats(column, values, count, step);
    return rc ? rc : end_rows(column, count);
}

int chs_append_uint(chs_column *column, uint64_t value)
{
    return append_uints(column, &value, 1, 1);
}

int chs_append_int(chs_column *column, int64_t value)
{
    return append_ints(column, &value, 1, 1);
}

int chs_append_float(chs_column *column, double value)
{
    return append_floats(column, &value, 1, 1);
}

int chs_append_bytes(chs_column *column, const void *data, size_t length)
{
    int rc = begin_rows(column, string_family(column), false, 1, 1);

    if (!rc)
        rc = add_string(column, data, length);
    return rc ? rc : end_rows(column, 1);
}

int chs_append_uint_rows(chs_column *column, const uint64_t *values, size_t count)
{
    return append_uints(column, values, count, 1);
}

int chs_append_int_rows(chs_column *column, const int64_t *values, size_t count)
{
    return append_ints(column, values, count, 1);
}

int chs_append_float_rows(chs_column *column, const double *values, size_t count)
{
    return append_floats(column, values, count, 1);
}

int chs_append_bytes_rows(chs_column *column, const chs_bytes *values, size_t count)
{
    int rc = begin_rows(column, string_family(column), false, count, count);

    if (!rc)
        rc = add_strings(column, values, count);
    return rc ? rc : end_rows(column, count);
}

int chs_append_uint_times(chs_column *column, uint64_t value, size_t count)
{
    return append_uints(column, &value, count, 0);
}

int chs_append_int_times(chs_column *column, int64_t value, size_t count)
{
    return append_ints(column, &value, count, 0);
}

int chs_append_float_times(chs_column *column, double value, size_t count)
{
    return append_floats(column, &value, count, 0);
}

int chs_append_bytes_times(chs_column *column, const void *data, size_t length, size_t count)
{
    int rc = begin_rows(column, string_family(column), false, count, count);
    size_t i;

    if (!rc && count && column->type.layout == CHS__DICTIONARY) {
        uint32_t key;

        rc = find_key(column, data, length, &key);
        if (!rc)
            rc = add_keys(column, &key, count, 0);
    } else {
        for (i = 0; i < count && !rc; i++)
            rc = add_string(column, data, length);
    }
    return rc ? rc : end_rows(column, count);
}

/* ---- rows of arrays ---- */

int chs_append_uint_array(chs_column *column, const uint64_t *values, size_t count)
{
    int rc = begin_rows(column, CHS__UINTS, true, count, 1);

    if (!rc && count)
        rc = add_uints(column, values, count, 1);
    return rc ? rc : end_array(column);
}

int chs_append_int_array(chs_column *column, const int64_t *values, size_t count)
{
    int rc = begin_rows(column, CHS__INTS, true, count, 1);

    if (!rc && count)
        rc = add_ints(column, values, count, 1);
    return rc ? rc : end_array(column);
}

int chs_append_float_array(chs_column *column, const double *values, size_t count)
{
    int rc = begin_rows(column, CHS__FLOATS, true, count, 1);

    if (!rc)
        rc = add_floats(column, values, count, 1);
    return rc ? rc : end_array(column);
}

int chs_append_bytes_array(chs_column *column, const chs_bytes *values, size_t count)
{
    int rc = begin_rows(column, string_family(column), true, count, 1);

    if (!rc)
        rc = add_strings(column, values, count);
    return rc ? rc : end_array(column);
}

/* ---- keys ---- */

static int check_keyed(chs_column *column)
{
    if (column->block->failure.code)
        return column->block->failure.code;
    return column->type.layout == CHS__DICTIONARY
               ? 0
               : KEEP(column, CHS_ERR_USAGE, "Column %s of type %s has no keys", column->name,
                      column->type.text);
}

int chs_column_key(chs_column *column, const void *data, size_t length, uint32_t *key)
{
    int rc = check_keyed(column);

    *key = 0;
    return rc ? rc : find_key(column, data, length, key);
}

int chs_append_key_rows(chs_column *column, const uint32_t *keys, size_t count)
{
    int rc = check_keyed(column);

    if (!rc)
        rc = begin_rows(column, CHS__STRINGS, false, count, count);
    if (!rc)
        rc = add_keys(column, keys, count, 1);
    return rc ? rc : end_rows(column, count);
}

int chs_append_key_array(chs_column *column, const uint32_t *keys, size_t count)
{
    int rc = check_keyed(column);

    if (!rc)
        rc = begin_rows(column, CHS__STRINGS, true, count, 1);
    if (!rc)
        rc = add_keys(column, keys, count, 1);
    return rc ? rc : end_array(column);
}
