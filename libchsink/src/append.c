/* Values into columns. Every failure is kept by the block, so that a caller may check once. */
#include <inttypes.h>
#include <string.h>

#include "column.h"

/* Keeps the first failure of the block. */
#define KEEP(column, code, ...) CHS__FAIL(&(column)->block->failure, (code), __VA_ARGS__)

static int keep_memory(chs_column *column, int code)
{
    return KEEP(column, code, "Column %s: %s", column->name,
                code == CHS_ERR_LIMIT ? "its data passes what one block can hold"
                                      : "no memory for its data");
}

/* May one more row of count elements of this family be appended, as an array or not? */
static int begin_row(chs_column *column, chs__family family, bool as_array, size_t count)
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
    if (column->rows == block->options.max_rows)
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

static int add_fixed(chs_column *column, uint64_t bits)
{
    int rc = take_bytes(column, column->type.width);

    if (!rc) {
        rc = chs__buffer_le(&column->data, bits, column->type.width);
        if (rc)
            return keep_memory(column, rc);
        column->values++;
    }
    return rc;
}

static int add_uint(chs_column *column, uint64_t value)
{
    unsigned bits = column->type.width * 8;

    if ((bits < 64 && value >> bits) || (column->type.is_bool && value > 1))
        return KEEP(column, CHS_ERR_FORMAT, "Column %s: %" PRIu64 " does not fit %s", column->name,
                    value, column->type.text);
    return add_fixed(column, value);
}

static bool is_enum_value(const chs__type *type, int64_t value)
{
    size_t i;

    for (i = 0; i < type->value_count; i++)
        if (type->values[i].value == value)
            return true;
    return false;
}

static int add_int(chs_column *column, int64_t value)
{
    unsigned bits = column->type.width * 8;
    int64_t top = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;

    if (value > top || value < -top - 1 ||
        (column->type.values && !is_enum_value(&column->type, value)))
        return KEEP(column, CHS_ERR_FORMAT, "Column %s: %" PRId64 " does not fit %s", column->name,
                    value, column->type.text);
    return add_fixed(column, (uint64_t)value);
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
    return add_fixed(column, bits);
}

static int add_enum_name(chs_column *column, const void *data, size_t length)
{
    size_t i;

    for (i = 0; i < column->type.value_count; i++) {
        const chs__enum_value *value = &column->type.values[i];

        if (value->length == length && (!length || memcmp(value->name, data, length) == 0))
            return add_fixed(column, (uint64_t)(int64_t)value->value);
    }
    return KEEP(column, CHS_ERR_FORMAT, "Column %s: '%.*s' is not a value of %s", column->name,
                (int)(length > 64 ? 64 : length), length ? (const char *)data : "",
                column->type.text);
}

static int add_key(chs_column *column, const void *data, size_t length)
{
    uint32_t number, before = column->dictionary.count;
    int rc = chs__dictionary_number(&column->dictionary, data, length, &number);

    if (!rc)
        rc = chs__buffer_add(&column->data, &number, sizeof number);
    if (rc)
        return keep_memory(column, rc);
    column->values++;
    return take_bytes(column, sizeof number + (before < column->dictionary.count ? length + 1 : 0));
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

/* Strings go where strings are taken: also by name into an Enum8. */
static chs__family string_family(const chs_column *column)
{
    return column->type.values ? CHS__INTS : CHS__STRINGS;
}

/* Closes a row: of an array, with the end of its elements. */
static int end_row(chs_column *column)
{
    if (column->type.is_array) {
        int rc = take_bytes(column, sizeof(uint64_t));

        if (rc)
            return rc;
        rc = chs__buffer_le(&column->ends, column->values, sizeof(uint64_t));
        if (rc)
            return keep_memory(column, rc);
    }
    column->rows++;
    return 0;
}

int chs_append_uint(chs_column *column, uint64_t value)
{
    int rc = begin_row(column, CHS__UINTS, false, 1);

    if (!rc)
        rc = add_uint(column, value);
    return rc ? rc : end_row(column);
}

int chs_append_int(chs_column *column, int64_t value)
{
    int rc = begin_row(column, CHS__INTS, false, 1);

    if (!rc)
        rc = add_int(column, value);
    return rc ? rc : end_row(column);
}

int chs_append_float(chs_column *column, double value)
{
    int rc = begin_row(column, CHS__FLOATS, false, 1);

    if (!rc)
        rc = add_float(column, value);
    return rc ? rc : end_row(column);
}

int chs_append_bytes(chs_column *column, const void *data, size_t length)
{
    int rc = begin_row(column, string_family(column), false, 1);

    if (!rc)
        rc = add_string(column, data, length);
    return rc ? rc : end_row(column);
}

int chs_append_uint_array(chs_column *column, const uint64_t *values, size_t count)
{
    int rc = begin_row(column, CHS__UINTS, true, count);
    size_t i;

    for (i = 0; i < count && !rc; i++)
        rc = add_uint(column, values[i]);
    return rc ? rc : end_row(column);
}

int chs_append_int_array(chs_column *column, const int64_t *values, size_t count)
{
    int rc = begin_row(column, CHS__INTS, true, count);
    size_t i;

    for (i = 0; i < count && !rc; i++)
        rc = add_int(column, values[i]);
    return rc ? rc : end_row(column);
}

int chs_append_float_array(chs_column *column, const double *values, size_t count)
{
    int rc = begin_row(column, CHS__FLOATS, true, count);
    size_t i;

    for (i = 0; i < count && !rc; i++)
        rc = add_float(column, values[i]);
    return rc ? rc : end_row(column);
}

int chs_append_bytes_array(chs_column *column, const chs_bytes *values, size_t count)
{
    int rc = begin_row(column, string_family(column), true, count);
    size_t i;

    for (i = 0; i < count && !rc; i++)
        rc = add_string(column, values[i].data, values[i].length);
    return rc ? rc : end_row(column);
}
