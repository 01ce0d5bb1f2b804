/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes a block in ClickHouse's Native format at protocol revision 0. */
#include <inttypes.h>
#include <string.h>

#include "blocks/column_impl.h"

/* Appends key numbers, narrowed to the width of their type. */
static int put_indexes(chs__buffer *out, const chs_column *column, size_t width)
{
    const uint32_t *numbers = (const uint32_t *)(const void *)column->data.data;
    int rc = chs__buffer_reserve(out, column->values * width + sizeof *numbers);
    unsigned char *to;
    uint64_t i;

    if (rc)
        return rc;
    to = out->data + out->length;
    for (i = 0; i < column->values; i++, to += width) {
        uint32_t little = htole32(numbers[i]);

        memcpy(to, &little, sizeof little); /* the next value overwrites the rest */
    }
    out->length += column->values * width;
    return 0;
}

/*
 * Appends flags and index type, keys, then one index per value; nothing when there are no values.
 */
static int put_dictionary(chs__buffer *out, const chs_column *column)
{
    const chs__dictionary *dictionary = &column->dictionary;
    unsigned index_type = chs__index_type(dictionary->count);
    int rc;

    if (!column->values)
        return 0;
    rc = chs__buffer_le(out, index_type | CHS__DICTIONARY_HAS_KEYS | CHS__DICTIONARY_UPDATE, 8);
    if (!rc)
        rc = chs__buffer_le(out, dictionary->count, 8);
    if (!rc)
        rc = chs__buffer_add(out, dictionary->keys.data, dictionary->keys.length);
    if (!rc)
        rc = chs__buffer_le(out, column->values, 8);
    return rc ? rc : put_indexes(out, column, (size_t)1 << index_type);
}

static int put_column(chs__buffer *out, const chs_column *column)
{
    int rc = chs__buffer_string(out, column->name, strlen(column->name));

    if (!rc)
        rc = chs__buffer_string(out, column->type.text, strlen(column->type.text));
    if (!rc && column->type.layout == CHS__DICTIONARY)
        rc = chs__buffer_le(out, CHS__DICTIONARY_VERSION, 8);
    if (!rc)
        rc = chs__buffer_add(out, column->ends.data, column->ends.length);
    if (rc)
        return rc;
    if (column->type.layout == CHS__DICTIONARY)
        return put_dictionary(out, column);
    return chs__buffer_add(out, column->data.data, column->data.length);
}

static int check_rows(const chs_block *block, chs_error *err)
{
    uint64_t rows = chs_block_rows(block);
    uint32_t i;

    if (!block->column_count || !rows)
        return CHS__FAIL(err, CHS_ERR_USAGE, "The block has no %s: there is nothing to encode",
                         block->column_count ? "rows" : "columns");
    for (i = 0; i < block->column_count; i++)
        if (block->columns[i]->rows != rows)
            return CHS__FAIL(err, CHS_ERR_USAGE,
                             "Column %s has %" PRIu64 " rows where the block has %" PRIu64,
                             block->columns[i]->name, block->columns[i]->rows, rows);
    return 0;
}

int chs_block_encode(chs_bytes *out, chs_block *block, chs_error *err)
{
    chs__buffer *encoded = &block->encoded;
    uint32_t i;
    int rc;

    out->data = NULL;
    out->length = 0;
    if (block->failure.code) {
        if (err)
            *err = block->failure;
        return block->failure.code;
    }
    rc = check_rows(block, err);
    if (rc)
        return rc;
    encoded->length = 0;
    rc = chs__buffer_reserve(encoded, block->bytes); /* at most the block's limit */
    if (!rc)
        rc = chs__buffer_varint(encoded, block->column_count);
    if (!rc)
        rc = chs__buffer_varint(encoded, chs_block_rows(block));
    for (i = 0; i < block->column_count && !rc; i++)
        rc = put_column(encoded, block->columns[i]);
    if (rc)
        return CHS__FAIL(err, rc, "The encoded block %s",
                         rc == CHS_ERR_LIMIT ? "passes the limit of its options" : "has no memory");
    out->data = (const char *)encoded->data;
    out->length = encoded->length;
    return 0;
}
